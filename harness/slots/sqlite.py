"""A store in one SQLite file, for all processes of a user on one machine.

SQLite's busy handler sleeps and does not queue, so writers can starve. Each transaction therefore takes the lock of a
second file first, where the system wakes waiters in order. The rollback journal makes a transaction whole or undone if
a process is killed. Nothing is synced to disk: leases need not survive a power cut, and a damaged file is set aside.
"""

import fcntl
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from harness.slots.store import ClaimEntry, ProcessOwner, QueuePosition, SlotClaim, SlotsError, lives
from harness.slots.worker_thread import WorkerThread

APPLICATION = 0x68617267
"""Distinguishes this file from other SQLite files."""
VERSION = 1
"""Of the tables. Other versions leave the file alone."""
BUSY_S = 2.0
"""Only a user's own access to the file can hold it up."""

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
    """One connection to the file, for one thread. Opened on first use, and again after the file was replaced."""

    def __init__(self, path: Path, report: Callable[[str], None]) -> None:
        """Args:
        path: the file; beside it are its lock and, during a transaction, its journal.
        report: called with a sentence for the user when a damaged file was set aside, on the thread of the connection.
        """
        self._path = path
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
        """Run `work` as one transaction; an exception rolls it back. Raises SlotsError."""
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
        """The connection to the current file: a user may remove it, another session may set it aside."""
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
        self._report(f"{self._path} was damaged and is begun afresh; what it held is in {aside.name}.")

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


PATIENCE_S = 5.0
"""Longest time for a step, including the wait for earlier ones; usually about a millisecond."""
LOOK_S = 0.25
"""Interval at which all sessions together check whether owners still run."""

ENTER = """
INSERT INTO claims (id, session, host, pid, born, label, lease_s, most, since, expires)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET most = excluded.most, expires = excluded.expires
RETURNING place, started
"""
ALL = "SELECT id, session, host, pid, born, label, lease_s, most, since, started, expires FROM claims ORDER BY place"


def slots_file(state_folder: Path) -> Path:
    """The file with the slots of all sessions with this state folder."""
    return state_folder / "gate.sqlite"


class SqliteSlotStore:
    """Keeps claims in one SQLite file. Any thread may use it, but no forked process.

    A process that has ended loses its claims within `look_s` of the next request.
    """

    def __init__(
        self,
        path: Path,
        *,
        lives: Callable[[ProcessOwner], bool] = lives,
        report: Callable[[str], None] = lambda _: None,
        look_s: float = LOOK_S,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Args:
        path: the file; created on first use, with its folder.
        lives: whether the process of an owner may still run.
        report: called with a sentence for the user when a damaged file was set aside, on a thread of the store.
        look_s: seconds between two checks of owners; 0: with every request.
        patience_s: time limit of a step, in seconds.
        """
        self._lives = lives
        self._look_s = look_s
        self._worker = WorkerThread(partial(SlotsFile, path, report), name=str(path), patience_s=patience_s)

    def ask(self, claim: SlotClaim, limit: int, now: float) -> QueuePosition:
        owner = claim.owner
        who = (claim.id, owner.session, owner.host, owner.pid, owner.started_at)
        row = (*who, claim.label, claim.lease_s, limit, now, now + claim.lease_s)

        def step(connection: sqlite3.Connection) -> QueuePosition:
            self._forget(connection, now)
            place, started = connection.execute(ENTER, row).fetchone()
            running, before = connection.execute(
                "SELECT count(started), count(*) FILTER (WHERE started IS NULL AND place < ?) FROM claims", (place,)
            ).fetchone()
            if started is None and running + before < limit:
                connection.execute("UPDATE claims SET started = ? WHERE place = ?", (now, place))
                started, running = now, running + 1
            return QueuePosition(started is not None, before, running)

        return self._do(step)

    def renew(self, claim_ids: Sequence[str], now: float) -> tuple[str, ...]:
        question = "UPDATE claims SET expires = ? + lease_s WHERE id = ?"

        def step(connection: sqlite3.Connection) -> tuple[str, ...]:
            return tuple(claim for claim in claim_ids if connection.execute(question, (now, claim)).rowcount)

        return self._do(step)

    def release(self, claim_id: str) -> None:
        self._do(lambda connection: connection.execute("DELETE FROM claims WHERE id = ?", (claim_id,)).rowcount)

    def entries(self, now: float) -> tuple[ClaimEntry, ...]:
        found = self._do(lambda connection: [_entry(*row) for row in connection.execute(ALL)])
        return tuple(entry for entry in found if entry.expires > now and self._lives(entry.claim.owner))

    def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        def step(connection: sqlite3.Connection) -> str | None:
            kept = connection.execute("SELECT text FROM cells WHERE name = ?", (name,)).fetchone()
            text = change(kept and kept[0])
            if text is None:
                connection.execute("DELETE FROM cells WHERE name = ?", (name,))
            else:
                connection.execute("INSERT OR REPLACE INTO cells VALUES (?, ?)", (name, text))
            return text

        return self._do(step)

    def cells(self) -> dict[str, str]:
        return self._do(lambda connection: dict(connection.execute("SELECT name, text FROM cells ORDER BY name")))

    def close(self) -> None:
        """Close the file. It is reopened on the next use."""
        self._worker.close()

    def _do(self, step: Callable[[sqlite3.Connection], T]) -> T:
        return self._worker.do(lambda file: file.transact(step))

    def _forget(self, connection: sqlite3.Connection, now: float) -> None:
        """Remove expired claims and those of ended processes. A clock that was set back makes no lease longer."""
        connection.execute("DELETE FROM claims WHERE expires <= ?", (now,))
        connection.execute("UPDATE claims SET expires = ?1 + lease_s WHERE expires > ?1 + lease_s", (now,))
        (looked,) = connection.execute("SELECT at FROM looked").fetchone()
        if abs(now - looked) < self._look_s:
            return
        connection.execute("UPDATE looked SET at = ?", (now,))
        for row in connection.execute("SELECT DISTINCT session, host, pid, born FROM claims").fetchall():
            if not self._lives(ProcessOwner(*row)):
                connection.execute("DELETE FROM claims WHERE (session, host, pid, born) = (?, ?, ?, ?)", row)


def _entry(
    id: str,
    session: str,
    host: str,
    pid: int,
    started_at: str,
    label: str,
    lease_s: float,
    most: int,
    since: float,
    started: float | None,
    expires: float,
) -> ClaimEntry:
    claim = SlotClaim(id, ProcessOwner(session, host, pid, started_at), label, lease_s)
    return ClaimEntry(claim, most, since, started, expires)
