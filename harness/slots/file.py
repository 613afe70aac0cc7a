"""The file that all sessions of a person share: opened, locked, judged and, when it is damaged, begun afresh.

SQLite alone lets writers starve: its busy handler sleeps and does not queue. So each transaction takes the lock of a
second file first, where the system wakes those who wait one after the other. The rollback journal makes a transaction
whole or undone when a process is killed. Nothing is synced to the disk: leases need not outlive a power cut, and what
it may leave behind is found damaged and set aside.
"""

import fcntl
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from harness.slots.store import SlotsError

APPLICATION = 0x68617267
"""Tells this file from other SQLite files."""
VERSION = 1
"""Of the tables. Who meets another version leaves the file alone."""
BUSY_S = 2.0
"""Only a person's own look into the file can be in the way."""

TABLES = """
CREATE TABLE claims (
    place INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL,
    label TEXT NOT NULL, lease_s REAL NOT NULL, most INTEGER NOT NULL,
    since REAL NOT NULL, started REAL, expires REAL NOT NULL
);
CREATE TABLE cells (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE looked (at REAL NOT NULL);
INSERT INTO looked VALUES (0);
"""

T = TypeVar("T")


class SlotsFile:
    """One connection to the file, for one thread. Opened when it is first needed, and again when it was replaced."""

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        """
        Args:
            path: the file; beside it are its lock and, during a transaction, its journal.
            tell: gets a sentence for the person when a damaged file was set aside, on the thread that uses this.
        """
        self._path = path
        self._tell = tell
        self._lock: int | None = None
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None
        """Device and number of the file that the connection is for."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._disconnect()
        self._close_lock()

    def transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` as one transaction of its own. What it raises undoes it. Raises SlotsError."""
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
            raise SlotsError(
                f"{self._path}, which your sessions share, cannot be used ({error}); "
                "HARNESS_SHARED_GATE=off lets each session count for itself."
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
        """The connection to the file that is there now: a person may remove it, another session set it aside."""
        with suppress(FileNotFoundError):
            if self._connection is not None and _identity(self._path) == self._opened:
                return self._connection
        self._disconnect()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._opened = _identity(self._path)
        self._connection = connection = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None)
        self._prepare(connection)
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = TRUNCATE")
        application, version = _number(connection, "application_id"), _number(connection, "user_version")
        if (application, version) == (0, 0) and not _number(connection, "schema_version"):
            marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
            connection.executescript(f"BEGIN IMMEDIATE; {TABLES} {marks} COMMIT;")
        elif application != APPLICATION:
            raise _NotOurs("it is another program's file")
        elif version != VERSION:
            self._disconnect()
            raise SlotsError(f"{self._path} was written by another version of harness; end its sessions and remove it.")

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
        self._tell(f"{self._path} was damaged and is begun afresh; what it held is in {aside.name}.")

    # ── the lock ────────────────────────────────────────────────────────────────────────────────

    def _take_lock(self) -> None:
        path = self._path.with_name(f"{self._path.name}.lock")
        while True:
            if self._lock is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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
