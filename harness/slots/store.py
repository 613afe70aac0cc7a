"""Shared slots: claims, their owners, and the promises of every store (docs/design/admission.md#shared-slots).

A store may be a table in memory, a file or a server. Each method is one atomic step across all processes. No method
waits for a slot: a waiter asks again.
"""

import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from harness.base.errors import HarnessError


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
    still be renewed if nobody has asked since: after a machine slept, everything is in place.
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
