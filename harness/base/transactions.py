"""What a store of tables needs of its database: one whole transaction at a time. `SqliteFile` serves one machine, the
tables of a fleet in Postgres serve all (docs/fleet.md). The SQL of the stores is what both understand.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from harness.base.errors import HarnessError

T = TypeVar("T")


class SqlCursor(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """Rows written by INSERT, UPDATE or DELETE."""
        ...

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class SqlConnection(Protocol):
    """A connection within a transaction. Parameters are written `?`."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> SqlCursor: ...
    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Any: ...


class Transactions(Protocol):
    """A connection to the tables of a store, for one thread."""

    def transact(self, work: Callable[[SqlConnection], T]) -> T:
        """Run `work` as one transaction, alone among all users of these tables; an exception rolls it back. `work` may
        run again after a failed attempt. Raises the error of the store."""
        ...


class StorePlace(Protocol):
    """Where a store keeps its tables, as text for the user; a path is one, too."""

    @property
    def stem(self) -> str:
        """The name of the place, as an event names it."""
        ...

    def exists(self) -> bool:
        """Whether the store may hold anything."""
        ...


class SharedPlace(StorePlace, Protocol):
    """Tables in a database that machines share."""

    def corrected(self, at: float) -> float:
        """A moment of this machine's clock as the database counts it, by which leases of all machines end. Called
        within a transaction."""
        ...

    def open(self, error: type[HarnessError], *, durable: bool) -> AbstractContextManager[Transactions]:
        """A connection for the thread that enters it.

        Args:
            error: raised when the database cannot be used.
            durable: whether a transaction has to survive a crash of the database.
        """
        ...
