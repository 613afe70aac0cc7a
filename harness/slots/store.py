"""Shared slots: claims, their owners, the promises of every store, and the store in one SQLite file
(docs/design/admission.md#shared-slots).

A store may be a table in memory, a file or a server. Each method is one atomic step across all processes. No method
waits for a slot: a waiter asks again. The file is for all processes of a user on one machine. Leases need not survive
a power cut, so nothing is synced to disk.
"""

import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

from harness.base.concurrency import WorkerThread
from harness.base.errors import HarnessError
from harness.base.sqlite_file import SqliteSchema, tables_at
from harness.base.transactions import SharedPlace, SqlConnection


@dataclass(frozen=True, slots=True)
class ProcessOwner:
    """A session in a process."""

    session: str
    host: str
    """Processes with the same text can see whether the other runs."""
    pid: int
    started_at: str
    """Start time of the process as its system counts it, because ids are reused."""


def this_process(session: str) -> ProcessOwner:
    return ProcessOwner(session, _host(), os.getpid(), _started_at(os.getpid()) or "")


def lives(owner: ProcessOwner) -> bool:
    """Whether the process may still run; for other machines and containers only the lease decides."""
    return owner.host != _host() or _started_at(owner.pid) == owner.started_at


@cache
def _host() -> str:
    """This machine since its start, and on Linux the namespace of process ids."""
    if sys.platform != "linux":
        return platform.node()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{platform.node()}/{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"


def _started_at(pid: int) -> str | None:
    """Start time of a process; None: it does not run. A zombie does not run."""
    if sys.platform != "linux":
        return _started_at_by_ps(pid)
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, started = fields[0], fields[19]
    return None if state in (b"Z", b"X") else started.decode("ascii")


def _started_at_by_ps(pid: int) -> str | None:
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else str(process.create_time())
    except psutil.NoSuchProcess:
        return None


class SlotsError(HarnessError):
    """The shared slots cannot be used now. The caller may continue without sharing."""


@dataclass(frozen=True, slots=True)
class SlotClaim:
    """A request for a slot, or a held slot."""

    id: str
    """Unique on this machine."""
    owner: ProcessOwner
    label: str
    """The purpose of the slot, for display."""
    lease_s: float = 10.0
    """Seconds without renewal after which the claim is gone."""


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """The position of a claim."""

    started: bool
    """It holds a slot."""
    before: int
    """Live waiting claims before it."""
    running: int
    """Live claims that hold a slot, including this one."""


@dataclass(frozen=True, slots=True)
class ClaimEntry:
    """A claim for display. Moments are Unix seconds."""

    claim: SlotClaim
    limit: int
    """The limit of its session."""
    since: float
    """Start of its wait."""
    started: float | None
    """When it got its slot; None: it waits."""
    expires: float
    """End of its lease unless it is renewed."""


class SlotStore(Protocol):
    """Keeps the holders of slots and the queue.

    Every method is one atomic step across processes, may block for a short time and raises SlotsError if it fails.
    `now` is Unix time in seconds.

    A claim is gone when it was released, when its lease is over, or when its process has ended. An expired claim may
    still be renewed if no other claim has asked since: after a machine slept, everything is in place.
    """

    def ask(self, claim: SlotClaim, limit: int, now: float) -> QueuePosition:
        """Join the queue with the first call; each further call renews the claim and returns its position.

        It starts when fewer than `limit` live claims hold a slot or are before it. Nobody is overtaken, and several
        free slots are given to several waiters without waiting for those before to ask.
        """
        ...

    def renew(self, claim_ids: Sequence[str], now: float) -> tuple[str, ...]:
        """Renew leases. Returns the claims that still exist; the others are lost."""
        ...

    def release(self, claim_id: str) -> None:
        """Release the slot, or leave the queue. No-op if the claim is gone."""
        ...

    def entries(self, now: float) -> tuple[ClaimEntry, ...]:
        """All live claims in the order of arrival."""
        ...

    def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        """Replace a small text by the result of `change`; None is no text. Returns the new one.

        `change` may be called on another thread and must not use the store. An exception leaves the text unchanged.
        """
        ...

    def cells(self) -> dict[str, str]:
        """All small texts by name."""
        ...

    def close(self) -> None:
        """Release resources. Claims stay."""
        ...


# ── the store in a SQLite file ──────────────────────────────────────────────────────────────────────

APPLICATION = 0x68617267
"""Distinguishes this file from other SQLite files."""

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

SCHEMA = SqliteSchema(
    application=APPLICATION,
    version=1,
    tables=TABLES,
    durable=False,
    error=SlotsError,
    advice="HARNESS_SHARED_ADMISSION=off lets each session count for itself.",
)

T = TypeVar("T")

PATIENCE_S = 5.0
"""Longest time for a step, including the wait for earlier ones; usually about a millisecond."""
LOOK_S = 0.25
"""Interval at which all sessions together check whether owners still run."""

AGAIN = "UPDATE claims SET most = ?, expires = ? WHERE id = ? RETURNING place, started"
ENTER = """
INSERT INTO claims (id, session, host, pid, born, label, lease_s, most, since, expires)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING place, started
"""
ALL = "SELECT id, session, host, pid, born, label, lease_s, most, since, started, expires FROM claims ORDER BY place"


def slots_file(state_folder: Path) -> Path:
    """The file with the slots of all sessions with this state folder."""
    return state_folder / "slots.sqlite"


FORMER_NAME = "gate.sqlite"
"""Name of the file up to version 0.1.0."""


class SqliteSlotStore:
    """Keeps claims in one SQLite file. Any thread may use it, but no forked process.

    A process that has ended loses its claims within `look_s` of the next request.
    """

    def __init__(
        self,
        place: Path | SharedPlace,
        *,
        lives: Callable[[ProcessOwner], bool] = lives,
        report: Callable[[str], None] = lambda _: None,
        look_s: float = LOOK_S,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Args:
        place: the file, created on first use with its folder, or the tables of a fleet.
        lives: whether the process of an owner may still run.
        report: called with a sentence for the user when a damaged file was set aside, on a thread of the store.
        look_s: seconds between two checks of owners; 0: with every request.
        patience_s: time limit of a step, in seconds.
        """
        self._lives = lives
        self._corrected = (lambda at: at) if isinstance(place, Path) else place.corrected
        self._look_s = look_s
        self._worker = WorkerThread(
            tables_at(place, SCHEMA, report, place.with_name(FORMER_NAME) if isinstance(place, Path) else None),
            name=str(place),
            patience_s=patience_s,
            error=SlotsError,
        )

    def ask(self, claim: SlotClaim, limit: int, now: float) -> QueuePosition:
        owner = claim.owner
        who = (claim.id, owner.session, owner.host, owner.pid, owner.started_at)

        def step(connection: SqlConnection) -> QueuePosition:
            at = self._corrected(now)
            row = (*who, claim.label, claim.lease_s, limit, at, at + claim.lease_s)
            self._forget(connection, at)
            there = connection.execute(AGAIN, (limit, at + claim.lease_s, claim.id)).fetchone()
            position, started = there or connection.execute(ENTER, row).fetchone()
            running, before = connection.execute(
                "SELECT count(started), count(*) FILTER (WHERE started IS NULL AND place < ?) FROM claims", (position,)
            ).fetchone()
            if started is None and running + before < limit:
                connection.execute("UPDATE claims SET started = ? WHERE place = ?", (at, position))
                started, running = at, running + 1
            return QueuePosition(started is not None, before, running)

        return self._do(step)

    def renew(self, claim_ids: Sequence[str], now: float) -> tuple[str, ...]:
        question = "UPDATE claims SET expires = ? + lease_s WHERE id = ?"

        def step(connection: SqlConnection) -> tuple[str, ...]:
            at = self._corrected(now)
            return tuple(claim for claim in claim_ids if connection.execute(question, (at, claim)).rowcount)

        return self._do(step)

    def release(self, claim_id: str) -> None:
        self._do(lambda connection: connection.execute("DELETE FROM claims WHERE id = ?", (claim_id,)).rowcount)

    def entries(self, now: float) -> tuple[ClaimEntry, ...]:
        found = self._do(lambda connection: [_entry(*row) for row in connection.execute(ALL)])
        at = self._corrected(now)
        return tuple(entry for entry in found if entry.expires > at and self._lives(entry.claim.owner))

    def change(self, name: str, change: Callable[[str | None], str | None]) -> str | None:
        def step(connection: SqlConnection) -> str | None:
            kept = connection.execute("SELECT text FROM cells WHERE name = ?", (name,)).fetchone()
            text = change(kept and kept[0])
            if text != (kept and kept[0]):
                connection.execute("DELETE FROM cells WHERE name = ?", (name,))
                if text is not None:
                    connection.execute("INSERT INTO cells VALUES (?, ?)", (name, text))
            return text

        return self._do(step)

    def cells(self) -> dict[str, str]:
        return self._do(lambda connection: dict(connection.execute("SELECT name, text FROM cells ORDER BY name")))

    def close(self) -> None:
        """Close the file. It is reopened on the next use."""
        self._worker.close()

    def _do(self, step: Callable[[SqlConnection], T]) -> T:
        return self._worker.do(lambda file: file.transact(step))

    def _forget(self, connection: SqlConnection, now: float) -> None:
        """Remove expired claims and those of ended processes. A clock that was set back makes no lease longer."""
        connection.execute("DELETE FROM claims WHERE expires <= ?", (now,))
        connection.execute("UPDATE claims SET expires = ? + lease_s WHERE expires > ? + lease_s", (now, now))
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
