"""Who holds a slot, and whether that process still runs."""

import os
import platform
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Owner:
    """A session in a process."""

    session: str
    host: str
    """Of processes with the same text here, each can see whether the other runs."""
    pid: int
    born: str
    """When the process started, as its system counts: another process may get the same id later."""


def this_process(session: str) -> Owner:
    """This process as the owner of slots."""
    return Owner(session, _host(), os.getpid(), _born(os.getpid()) or "")


def lives(owner: Owner) -> bool:
    """Whether the process may still run; of other machines and containers only the lease tells."""
    return owner.host != _host() or _born(owner.pid) == owner.born


@cache
def _host() -> str:
    """This machine since it was started, and in Linux the space in which process ids count."""
    if sys.platform != "linux":
        return platform.node()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{platform.node()}/{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"


def _born(pid: int) -> str | None:
    """When a process started; None: it does not run. A zombie has ended and does not run."""
    if sys.platform != "linux":
        return _born_elsewhere(pid)
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, started = fields[0], fields[19]
    return None if state in (b"Z", b"X") else started.decode("ascii")


def _born_elsewhere(pid: int) -> str | None:
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else str(process.create_time())
    except psutil.NoSuchProcess:
        return None
