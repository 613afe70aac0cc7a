"""The database of a fleet: connections, whole transactions of the stores on it, its time, and sentences for its errors.

A transaction waits for the lock of its scope, an advisory lock that ends with it. What fails because the database is
away is tried again within the patience of a step. An answer that was lost at the end of a transaction leaves open
whether it happened; a receipt, written in the same transaction, tells after the next connection.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import parse_qs, urlsplit

from harness.base.errors import HarnessError
from harness.base.external_text import sendable
from harness.base.transactions import SqlConnection
from harness.fleet.schema import FleetError, check, create

VARIABLE = "HARNESS_FLEET_URL"
PATIENCE_S = 4.0
"""Longest time for which a transaction is tried again; less than that of any store."""
PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Between attempts; the last one repeats."""
IDLE_S = 10
"""The database ends a transaction whose process has been stopped for so long, and with it the lock."""
FIRST_ROWS = {
    "slots": "INSERT INTO looked VALUES (0)",
    "board": "INSERT INTO facts VALUES (0, 0, 0)",
    "schedule": "INSERT INTO facts VALUES (0)",
    "mail": "",
    "tasks": "",
}
"""What a new scope of each kind begins with."""
ENTER = """
SELECT set_config('harness.scope', $1, true), set_config('search_path', $2, true),
    set_config('synchronous_commit', $3, true), pg_advisory_xact_lock(hashtextextended($4, 0)),
    extract(epoch FROM clock_timestamp())::float8 AS now
"""

T = TypeVar("T")
Wait = Callable[[Coroutine[Any, Any, Any]], Any]


class FleetClock:
    """The time of the database, by which leases of all machines end: that of this machine, corrected."""

    def __init__(self, machine: Callable[[], float] = time.time) -> None:
        self.machine = machine
        """The clock of this machine."""
        self.ahead = 0.0
        """Seconds by which the database is ahead of this machine."""

    def now(self) -> float:
        return self.machine() + self.ahead

    def corrected(self, at: float) -> float:
        """A moment of this machine's clock, as the database counts it."""
        return at + self.ahead

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class FleetDatabase:
    """A database by its address. Nothing is opened before the first use."""

    url: str = field(repr=False)
    """postgresql://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full, as libpq takes it; several hosts: the one that can
    be written."""
    clock: FleetClock = field(default_factory=FleetClock)
    patience_s: float = PATIENCE_S

    @property
    def where(self) -> str:
        """The database for sentences, without a password."""
        try:
            parts = urlsplit(self.url)
            hosts = parts.netloc.rpartition("@")[2]
        except ValueError:
            return "The fleet's database"
        return f"The fleet's database {hosts or 'on this machine'}{parts.path}"

    async def initialize(self, role: str = "") -> bool:
        """Create the tables, see `schema.create`. Raises FleetError, one sentence."""
        try:
            connection = await self._opened()
            try:
                return await create(connection, self.where, role)
            finally:
                await connection.close()
        except faults() as error:
            raise FleetError(f"{self.where} {sentence(error)[0]}") from error

    async def examine(self) -> str:
        """Whether it can be used, for the user. Raises FleetError, one sentence."""
        try:
            (await self.connect()).terminate()
        except faults() as error:
            raise FleetError(f"{self.where} {sentence(error)[0]}") from error
        return f"{self.where} can be used"

    async def connect(self) -> Any:
        """A new asyncpg connection to a database that can be written and has the tables. Raises FleetError or what
        asyncpg raises."""
        connection = await self._opened()
        try:
            await check(connection, self.where)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _opened(self) -> Any:
        asyncpg = _driver()
        if urlsplit(self.url).scheme not in ("postgresql", "postgres"):
            raise FleetError(f"{VARIABLE} has to begin with postgresql://; correct or unset it.")
        given = "target_session_attrs" in parse_qs(urlsplit(self.url).query)
        return await asyncpg.connect(
            self.url,
            timeout=self.patience_s,
            command_timeout=self.patience_s,
            target_session_attrs=None if given else "read-write",
            server_settings={
                "application_name": "harness",
                "idle_in_transaction_session_timeout": f"{IDLE_S}s",
                "lock_timeout": f"{int(self.patience_s * 1000)}ms",
            },
        )

    def place(self, kind: str, scope: str) -> "FleetPlace":
        """Where a store of this kind keeps its tables: "slots", "board", "mail", "schedule" or "tasks"."""
        return FleetPlace(self, kind, scope)


@dataclass(frozen=True, slots=True)
class FleetPlace:
    """The tables of one store."""

    database: FleetDatabase
    kind: str
    scope: str

    @property
    def stem(self) -> str:
        return self.scope

    def exists(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"the {self.kind} {self.scope!r} of the fleet"

    def corrected(self, at: float) -> float:
        return self.database.clock.corrected(at)

    def open(self, error: type[HarnessError], *, durable: bool) -> "FleetTables":
        return FleetTables(self, error, durable=durable)

    async def enter(self, connection: Any, *, durable: bool) -> float:
        """Take the lock of the scope for the open transaction, and let its SQL see the tables. Returns the time."""
        path = f"harness_{self.kind}, harness, pg_catalog"
        row = await connection.fetchrow(
            ENTER, self.scope, path, "on" if durable else "off", f"harness {self.kind} {self.scope}"
        )
        self.database.clock.ahead = row["now"] - self.database.clock.machine()
        return float(row["now"])

    async def begin_scope(self, connection: Any) -> None:
        """Write what a scope begins with, if it is new."""
        new = "INSERT INTO harness.scopes (kind, scope) VALUES ($1, $2) ON CONFLICT DO NOTHING"
        if (await connection.execute(new, self.kind, self.scope)).endswith(" 1") and FIRST_ROWS[self.kind]:
            await connection.execute(FIRST_ROWS[self.kind])


class FleetTables:
    """A connection to the tables of one store, for one thread; see `Transactions`."""

    def __init__(self, place: FleetPlace, error: type[HarnessError], *, durable: bool) -> None:
        self._place = place
        self._database = place.database
        self._error = error
        self._durable = durable
        self._loop = asyncio.new_event_loop()
        self._connection: Any = None
        self._statements: dict[str, Any] = {}
        self._client = secrets.token_hex(8)
        self._written = 0
        """Transactions of this object that wrote something."""
        self._doubt: tuple[int, Any] | None = None
        """The number and the result of one of which is not known whether it happened."""
        self._away = False
        """The last transaction failed after all attempts; the next one tries once."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._disconnect()
        self._loop.close()

    def transact(self, work: Callable[[SqlConnection], T]) -> T:
        """As `Transactions` says. Raises the error of the store, one sentence."""
        began, pauses = time.monotonic(), iter(PAUSES_S)
        self._doubt = None
        while True:
            try:
                result = self._attempt(work)
            except FleetError as error:
                self._away = True
                raise self._error(str(error)) from error
            except DatabaseFault as fault:
                self._disconnect()
                pause = next(pauses, PAUSES_S[-1])
                late = time.monotonic() + pause - began > self._database.patience_s
                if self._away or late or not fault.passing:
                    self._away = True
                    unknown = " Whether the last change was made is not known." if self._doubt else ""
                    raise self._error(f"{self._database.where} {fault}{unknown}") from fault.__cause__
                time.sleep(pause)
            else:
                self._away = False
                return result

    def _attempt(self, work: Callable[[SqlConnection], T]) -> T:
        fresh = self._connection is None
        if fresh:
            self._connection = self._wait(self._database.connect())
        connection = FleetConnection(self._connection, self._wait, self._statements)
        self._wait(self._connection.execute("BEGIN"))
        try:
            self._wait(self._place.enter(self._connection, durable=self._durable))
            if fresh:
                self._wait(self._place.begin_scope(self._connection))
            if self._doubt is not None and self._happened(self._doubt[0]):
                result: T = self._doubt[1]
                self._wait(self._connection.execute("COMMIT"))
                return result
            self._doubt = None
            result = work(connection)
        except BaseException:
            self._roll_back()
            raise
        if connection.wrote:
            self._written += 1
            self._doubt = self._written, result
        self._wait(self._connection.execute(self._commit(connection.wrote)))
        self._doubt = None
        return result

    def _commit(self, wrote: bool) -> str:
        receipt = (
            f"INSERT INTO harness.receipts VALUES ('{self._client}', {self._written}) ON CONFLICT (client) DO UPDATE "
            f"SET number = excluded.number, at = excluded.at; "
        )
        return f"{receipt if wrote else ''}COMMIT"

    def _happened(self, number: int) -> bool:
        """Whether this transaction was committed; its lock has ended, so that it cannot be any more."""
        question = "SELECT number FROM harness.receipts WHERE client = $1"
        return bool(self._wait(self._connection.fetchval(question, self._client)) == number)

    def _roll_back(self) -> None:
        try:
            self._wait(self._connection.execute("ROLLBACK"))
        except DatabaseFault:  # the first error says more, and the database undoes what is left
            self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        self._statements = {}
        if connection is not None:
            connection.terminate()
            self._loop.run_until_complete(asyncio.sleep(0))  # its socket is closed by the loop

    def _wait(self, step: Coroutine[Any, Any, T]) -> T:
        try:
            return self._loop.run_until_complete(step)
        except FleetError:
            raise
        except faults() as error:
            text, passing = sentence(error)
            raise DatabaseFault(text, passing=passing) from error


class FleetConnection:
    """A connection within a transaction, as the stores use one."""

    def __init__(self, connection: Any, wait: Wait, statements: dict[str, Any] | None = None) -> None:
        """Args:
        connection: of asyncpg.
        wait: returns the result of a coroutine.
        statements: prepared on this connection, by their SQL.
        """
        self._connection = connection
        self._wait = wait
        self._statements = {} if statements is None else statements
        self.wrote = False
        """A statement has changed rows."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> "FleetCursor":
        rows, status = self._wait(self._run(numbered(sql), [_stored(one) for one in parameters]))
        verb, _, count = status.rpartition(" ")
        written = int(count) if verb and not verb.startswith("SELECT") else 0
        self.wrote = self.wrote or bool(written)
        return FleetCursor(rows, written)

    def run(self, step: Callable[[Any], Coroutine[Any, Any, T]]) -> T:
        """What `step` returns, which writes in the same transaction with the connection of asyncpg."""
        self.wrote = True
        result: T = self._wait(step(self._connection))
        return result

    def turned_to(self, place: FleetPlace) -> "FleetConnection":
        """The tables of another store, from here to the end of the transaction."""
        self._wait(place.enter(self._connection, durable=True))
        return FleetConnection(self._connection, self._wait)

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> None:
        rows = [[_stored(one) for one in row] for row in parameters]
        if rows:
            self._wait(self._connection.executemany(numbered(sql), rows))
            self.wrote = True

    async def _run(self, sql: str, values: Sequence[Any]) -> tuple[list[Any], str]:
        statement = self._statements.get(sql)
        if statement is None:
            statement = self._statements[sql] = await self._connection.prepare(sql)
        rows = await statement.fetch(*values)
        return [tuple(row) for row in rows], statement.get_statusmsg()


class FleetCursor:
    """The rows of a statement."""

    def __init__(self, rows: list[Any], rowcount: int) -> None:
        self._rows = iter(rows)
        self.rowcount = rowcount

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows


@cache
def numbered(sql: str) -> str:
    """SQL whose parameters are `$1`, `$2`, … in place of `?`; the SQL of the stores has no other question mark."""
    first, *rest = sql.split("?")
    return first + "".join(f"${number}{part}" for number, part in enumerate(rest, 1))


def _stored(value: Any) -> Any:
    """A text as Postgres can store it: without NUL characters and lone surrogates."""
    return sendable(value).replace("\0", "␀") if isinstance(value, str) else value


# ── errors ──────────────────────────────────────────────────────────────────────────────────────────


class DatabaseFault(Exception):  # noqa: N818  it becomes the error of a store
    """The database cannot be used. The text follows the name of the database."""

    def __init__(self, text: str, *, passing: bool) -> None:
        super().__init__(text)
        self.passing = passing
        """Another attempt may succeed soon."""


def _driver() -> Any:
    """The module asyncpg. Raises FleetError if it is not installed."""
    try:
        import asyncpg
    except ImportError as error:
        raise FleetError(f"{VARIABLE} needs the extra: pip install 'harness-agent[fleet]', or unset it.") from error
    return asyncpg


def faults() -> tuple[type[BaseException], ...]:
    """What a call of asyncpg raises when the database, or the way to it, has failed."""
    asyncpg = _driver()
    internal = asyncpg.exceptions.InternalClientError
    return (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError, internal)


SENTENCES = {
    "28": ("refuses the user or the password; correct HARNESS_FLEET_URL.", False),
    "3D000": ("does not exist; create it, or correct HARNESS_FLEET_URL.", False),
    "42501": ("does not give this role the right ({0}); run `harness fleet init --role ROLE` as its owner.", False),
    "42P01": ("lacks a table ({0}); run `harness fleet init`.", False),
    "3F000": ("lacks a schema ({0}); run `harness fleet init`.", False),
    "53100": ("has no space left on its disk; free some there.", False),
    "53300": ("has no connection free; raise its max_connections or run fewer workers.", True),
    "53": ("is out of resources ({0}).", True),
    "25006": ("is read-only, as a standby is; name the primary in HARNESS_FLEET_URL.", True),
    "55P03": ("is busy: another process holds a lock for long; try again.", True),
    "57P03": ("is starting up or shutting down; try again.", True),
    "57P": ("was stopped or restarted; try again.", True),
    "40": ("undid a transaction ({0}); try again.", True),
    "25P": ("ended a transaction because this process had stopped for long; try again.", True),
    "08": ("cannot be reached ({0}); check that it runs and that this machine may connect.", True),
}
"""What follows the name of the database, and whether another attempt may help, by SQLSTATE or how it begins."""


def sentence(error: BaseException) -> tuple[str, bool]:
    """The end of a sentence about the database, and whether another attempt may succeed soon."""
    import ssl

    asyncpg = _driver()
    said = str(error).partition("\n")[0] or type(error).__name__
    code = getattr(error, "sqlstate", None) or ""
    for length in (5, 3, 2):
        if code and (known := SENTENCES.get(code[:length])):
            return known[0].format(said), known[1]
    if isinstance(error, asyncpg.exceptions.TargetServerAttributeNotMatched):
        return SENTENCES["25006"]
    if isinstance(error, ssl.SSLError) or ("SSL" in said and "error response" not in said):  # it is starting or ending
        again = not isinstance(
            error, ssl.SSLError
        )  # the server may have ended between the attempts with and without TLS
        return f"cannot be reached by TLS ({said}); correct sslmode and its certificates in HARNESS_FLEET_URL.", again
    if isinstance(error, TimeoutError):
        return "does not answer in time; check it and the network.", True
    internal = asyncpg.exceptions.InternalClientError  # of a connection that broke while the driver used it
    if isinstance(error, OSError | asyncpg.InterfaceError | internal) and not isinstance(error, ValueError):
        return SENTENCES["08"][0].format(said), True
    return f"cannot be used ({type(error).__name__}: {said}).", False
