"""One SQLite file that all processes of a user on one machine share, one whole transaction at a time.

SQLite's busy handler sleeps and does not queue, so writers can starve. Each transaction therefore takes the lock of a
second file first, where the system wakes waiters in order. The rollback journal makes a transaction whole or undone if
a process is killed. A connection belongs to one thread and must not be used or closed in a forked process; see
`WorkerThread`.
"""

import fcntl
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from harness.base.errors import HarnessError

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
    durable: bool
    """Whether a transaction survives a power cut, at the cost of a flush for each."""
    error: type[HarnessError]
    """Raised when the file cannot be used."""
    advice: str
    """What the user can do then: the end of the sentence."""


class SqliteFile:
    """One connection to the file, for one thread. Opened on first use, and again after the file was replaced."""

    def __init__(self, path: Path, schema: SqliteSchema, report: Callable[[str], None]) -> None:
        """Args:
        path: the file; beside it are its lock and, during a transaction, its journal.
        schema: what it holds.
        report: called with a sentence for the user when a damaged file was set aside, on the thread of the connection.
        """
        self._path = path
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
            except sqlite3.DatabaseError as error:
                if not _means_damage(error):
                    raise
                self._set_aside()
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
        os.close(os.open(self._path, FLAGS, 0o600))
        self._opened = _identity(self._path)
        self._connection = connection = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None)
        self._prepare(connection)
        return connection

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
                f"{self._path} was written by another version of harness; end its sessions and remove it."
            )

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _set_aside(self) -> None:
        self._disconnect()
        aside = self._path.with_name(f"{self._path.name}.damaged")
        self._path.replace(aside)
        # Undoing what the old file did would damage the new one.
        self._path.with_name(f"{self._path.name}-journal").unlink(missing_ok=True)
        self._report(f"{self._path} was damaged and is begun afresh; what it held is in {aside.name}.")

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
            self._close_lock()  # a person has removed the file that it locks

    def _give_lock_back(self) -> None:
        if self._lock is not None:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _close_lock(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)


class _NotOurs(sqlite3.DatabaseError):
    """An SQLite file, but with other tables."""


def _means_damage(error: sqlite3.DatabaseError) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return isinstance(error, _NotOurs) or code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    (value,) = connection.execute(f"PRAGMA {pragma}").fetchone()
    return int(value)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
