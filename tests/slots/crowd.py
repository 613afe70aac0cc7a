"""Many processes that share slots: run as a program, which forks them, and read by tests and by the benchmark.

python -m tests.slots.crowd FILE LOG PROCESSES LIMIT SECONDS HOLD LEASE

Each process takes a slot, holds it for HOLD seconds, gives it back and begins again, until SECONDS are over. What it
does it says in LOG: one line, appended in one write, from after it has got a slot until before it gives it back. So
the log alone shows how many ran at each moment.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.clock import SystemClock
from harness.slots.client import SharedSlots
from harness.slots.store import SqliteSlotStore

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that happened."""

    at: float
    """By the monotonic clock, which all processes share."""
    pid: int
    what: str
    """"started", "ended", "lost", or what a test did to the process: "killed", "stopped"."""


class Log:
    """Events in their order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def say(self, what: str, pid: int | None = None) -> None:
        """Append one line, about this process unless another is named."""
        os.write(self._file, f"{time.monotonic()} {pid or os.getpid()} {what}\n".encode())

    def lines(self) -> list[Line]:
        """All of them."""
        read = (line.split() for line in self._path.read_text(encoding="ascii").splitlines())
        return [Line(float(at), int(pid), what) for at, pid, what in read]


@dataclass
class Moments:
    """The content of a log."""

    most: int = 0
    """Processes that ran at the same time."""
    turns: dict[int, int] = field(default_factory=dict)
    """How often each process ran."""
    running: list[tuple[float, frozenset[int]]] = field(default_factory=list)
    """Who ran from when on."""


def moments_of(lines: list[Line]) -> Moments:
    """Replay a log. Lines of a process after its death are ignored."""
    found, running, dead = Moments(), set[int](), set[int]()
    for line in lines:
        if line.pid in dead:
            continue
        match line.what:
            case "started":
                running.add(line.pid)
                found.turns[line.pid] = found.turns.get(line.pid, 0) + 1
            case "killed":
                running.discard(line.pid)
                dead.add(line.pid)
            case "ended":
                running.remove(line.pid)
        found.most = max(found.most, len(running))
        found.running.append((line.at, frozenset(running)))
    return found


@contextmanager
def crowd(
    folder: Path, processes: int, limit: int, seconds: float, hold_s: float, lease_s: float = 10.0
) -> Iterator[tuple[list[int], Log]]:
    """A crowd that runs: the ids of its processes, and its log. In the end all have ended.

    Raises RuntimeError when one of them failed.
    """
    log = Log(folder / "log")
    numbers = (processes, limit, seconds, hold_s, lease_s)
    command: list[str | Path] = [
        sys.executable,
        "-m",
        __name__,
        folder / "slots.sqlite",
        folder / "log",
        *map(str, numbers),
    ]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        yield [int(program.stdout.readline()) for _ in range(processes)], log
        if program.wait(seconds + 30):
            raise RuntimeError("a process of the crowd failed")


def kill(pid: int, log: Log) -> None:
    """Kill a process, and note it in the log while it is stopped."""
    os.kill(pid, signal.SIGSTOP)
    log.say("killed", pid)
    os.kill(pid, signal.SIGKILL)


async def member(file: Path, log: Log, limit: int, until: float, hold_s: float, lease_s: float) -> None:
    """What one process does."""
    store = SqliteSlotStore(file)
    slots = SharedSlots(
        store, owner=f"s{os.getpid()}", clock=SystemClock(), lease_s=lease_s, lost=lambda _: log.say("lost")
    )
    while time.monotonic() < until:
        claim = await slots.acquire("agent", limit)
        log.say("started")
        await asyncio.sleep(hold_s)
        log.say("ended")
        await slots.release(claim)
    await slots.aclose()


def main(file: str, path: str, *numbers: str) -> int:
    """Fork the processes, name them, and wait for all; 1 when one failed. Those that were killed did not."""
    processes, limit = map(int, numbers[:2])
    seconds, hold_s, lease_s = map(float, numbers[2:])
    until = time.monotonic() + seconds
    for _ in range(processes):
        if pid := os.fork():
            print(pid, flush=True)
            continue
        asyncio.run(member(Path(file), Log(Path(path)), limit, until, hold_s, lease_s))
        os._exit(0)
    ended = [os.wait()[1] for _ in range(processes)]
    return int(any(status not in (0, signal.SIGKILL) for status in ended))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
