"""One SQLite file that all processes of a user on one machine share, one whole transaction at a time.

SQLite's busy handler sleeps and does not queue, so writers can starve. Each transaction therefore takes the lock of a
second file first, where the system wakes waiters in order. The rollback journal makes a transaction whole or undone if
a process is killed. A connection belongs to one thread and must not be used or closed in a forked process; see
`WorkerThread`.
"""

import fcntl
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from harness.base.errors import HarnessError
from harness.base.external_text import counted
from harness.base.files import set_aside
from harness.base.sqlite_salvage import is_sound, is_whole, salvage
from harness.base.transactions import SharedPlace, Transactions

BUSY_S = 2.0
"""Only a user's own access to the file can hold it up."""
FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
"""A link in the place of the file may lead anywhere, so it is not followed."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SqliteSchema:
    """What a file holds, and what to do when it cannot be used."""

    application: int
    """Distinguishes this file from other SQLite files."""
    version: int
    """Of the tables. Other versions leave the file alone."""
    tables: str
    """SQL that creates them."""
    error: type[HarnessError]
    """Raised when the file cannot be used."""
    durable: bool = True
    """Whether a transaction survives a power cut, at the cost of a flush for each."""
    advice: str = "free some space or make it writable, and try again."
    """What the user can do then: the end of the sentence."""


def tables_at(
    place: Path | SharedPlace, schema: SqliteSchema, report: Callable[[str], None], former: Path | None = None
) -> Callable[[], AbstractContextManager[Transactions]]:
    """Opens the tables of a store in a file, see `SqliteFile`, or in a database that machines share."""
    if isinstance(place, Path):
        return partial(SqliteFile, place, schema, report, former)
    return partial(place.open, schema.error, durable=schema.durable)


class SqliteFile:
    """One connection to the file, for one thread. Opened on first use, and again after the file was replaced."""

    def __init__(
        self, path: Path, schema: SqliteSchema, report: Callable[[str], None], former: Path | None = None
    ) -> None:
        """Args:
        path: the file; beside it are its lock and, during a transaction, its journal.
        schema: what it holds.
        report: called with a sentence for the user when a damaged file was set aside, on the thread of the connection.
        former: where versions before kept the file; renamed to `path` unless that exists.
        """
        self._path = path
        self._former = former
        self._schema = schema
        self._report = report
        self._lock: int | None = None
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None
        """Device and inode of the connected file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._disconnect()
        self._close_lock()

    def transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` as one transaction; an exception rolls it back. Raises the error of the schema."""
        try:
            self._take_lock()
            try:
                return self._attempt(work)
            except (sqlite3.DatabaseError, TypeError, ValueError, LookupError) as error:
                if not self._is_damage(error):
                    raise
                self._begin_again()
                return self._attempt(work)
            finally:
                self._give_lock_back()
        except (OSError, sqlite3.Error) as error:
            self._disconnect()
            raise self._schema.error(
                f"{self._path}, which your sessions share, cannot be used ({error}); {self._schema.advice}"
            ) from error

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._current()
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = work(connection)
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # the first error says more; an open transaction is undone by the next one
                connection.execute("ROLLBACK")
            raise
        return result

    # ── the connection ──────────────────────────────────────────────────────────────────────────

    def _current(self) -> sqlite3.Connection:
        """The connection to the current file: a user may remove it, another session may set it aside."""
        with suppress(FileNotFoundError):
            if self._connection is not None and _identity(self._path) == self._opened:
                return self._connection
        self._disconnect()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if self._former is not None and self._former.exists() and not self._path.exists():
            self._rename_former(self._former)
        emptied = self._path.exists() and not self._path.stat().st_size
        os.close(os.open(self._path, FLAGS, 0o600))
        self._opened = _identity(self._path)
        self._connection = connection = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None)
        self._prepare(connection)
        if emptied:
            self._report(
                f"{self._path} was empty, although it was made before; what it held is lost, and it begins anew."
            )
        return connection

    def _rename_former(self, former: Path) -> None:
        """Take over the file of a version before, between its transactions: a program of that version that still runs
        makes a new one under the former name. A file that cannot be read stays where it is."""
        lock = os.open(former.with_name(f"{former.name}.lock"), FLAGS, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if stat.S_ISREG(former.lstat().st_mode):
                    with closing(sqlite3.connect(former, timeout=BUSY_S)) as connection:
                        _number(connection, "schema_version")  # undoes what a killed program left in the journal
                    former.rename(self._path)
                    former.with_name(f"{former.name}-journal").unlink(missing_ok=True)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise self._schema.error(f"{former} is held by another program; {self._schema.advice}") from error
            self._report(f"{former} cannot be read ({error}) and stays where it is; {self._path} begins anew.")
        finally:
            os.close(lock)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA synchronous = {'FULL' if self._schema.durable else 'OFF'}")
        connection.execute("PRAGMA journal_mode = TRUNCATE")
        application, version = _number(connection, "application_id"), _number(connection, "user_version")
        if (application, version) == (0, 0) and not _number(connection, "schema_version"):
            marks = f"PRAGMA application_id = {self._schema.application}; PRAGMA user_version = {self._schema.version};"
            connection.executescript(f"BEGIN IMMEDIATE; {self._schema.tables} {marks} COMMIT;")
        elif application != self._schema.application:
            raise _NotOurs("it is another program's file")
        elif version != self._schema.version:
            self._disconnect()
            raise self._schema.error(
                f"{self._path} was written by another version of harness; end its sessions and rename it."
            )
        elif self._schema.durable and not is_whole(connection):
            raise _NotOurs("it is damaged")

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _is_damage(self, error: Exception) -> bool:
        """Whether the file is the reason of the error. Values that no version wrote may cause any."""
        if isinstance(error, sqlite3.Error):
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if isinstance(error, _NotOurs) or code in DAMAGE:
                return True
            if code not in MAY_BE_DAMAGE:
                return False
        return self._connection is not None and not is_sound(self._connection, self._schema.tables)

    def _begin_again(self) -> None:
        """Set the file aside, and begin a new one with what can be read of it."""
        self._disconnect()
        aside = set_aside(self._path, "-journal", "-wal", "-shm")
        connection = self._current()
        connection.execute("BEGIN IMMEDIATE")
        kept = salvage(aside.read_bytes(), self._schema.tables, connection)
        connection.execute("COMMIT")
        self._report(
            f"{self._path} was damaged: {counted(kept, 'record')} could be read and {'is' if kept == 1 else 'are'} "
            f"kept; the damaged file is {aside.name}."
        )

    # ── the lock ────────────────────────────────────────────────────────────────────────────────

    def _take_lock(self) -> None:
        path = self._path.with_name(f"{self._path.name}.lock")
        while True:
            if self._lock is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._lock = os.open(path, FLAGS, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._lock), path.stat()):
                    return
            self._close_lock()  # the user has removed the file that it locks

    def _give_lock_back(self) -> None:
        if self._lock is not None:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _close_lock(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)


DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
MAY_BE_DAMAGE = frozenset({0, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH})
"""Error codes; 0: text that is not UTF-8. A missing table is an SQLITE_ERROR."""


class _NotOurs(sqlite3.DatabaseError):
    """An SQLite file, but with other tables, or damaged ones."""


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    (value,) = connection.execute(f"PRAGMA {pragma}").fetchone()
    return int(value)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
