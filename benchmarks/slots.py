"""Measure slots that all sessions share: steps a second beside plain SQLite, and how soon a dead one's slots are free.

python -m benchmarks.slots               everything (about a minute)
python -m benchmarks.slots rate          parts whose name holds one of these words

A step is one transaction that every process makes on the same file: taking a slot, or giving it back. Plain SQLite does
the same with its own busy handler in place of a lock that queues. Figures of one run can be compared with each other,
not with those of another machine or day.
"""

import asyncio
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.parts import Parts, run_parts
from harness.slots.store import SlotClaim, SqliteSlotStore, this_process
from tests.slots.crowd import crowd, kill, moments_of

SECONDS = 4.0
PROCESSES = (1, 8, 64)
BUSY_S = 5.0
PLENTY = 1_000
"""A limit at which everybody gets a slot at once."""

Step = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Tally:
    """What one process did."""

    steps: int
    errors: int
    longest: float
    """Seconds of the step that took longest."""


def shared_slots(file: Path) -> Iterator[None]:
    """Ours: takes a slot and gives it back, a step each."""
    store, owner, number = SqliteSlotStore(file), this_process("benchmark"), 0
    while True:
        number += 1
        claim = SlotClaim(f"{os.getpid()}-{number}", owner, "agent")
        store.ask(claim, PLENTY, time.time())
        yield
        store.release(claim.id)
        yield


def plain_sqlite(file: Path) -> Iterator[None]:
    """The same rows in the same kind of journal, with nothing but a busy handler; raises sqlite3.OperationalError."""
    connection, number = sqlite3.connect(file, timeout=BUSY_S, isolation_level=None), 0
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA journal_mode = TRUNCATE")
    connection.execute("CREATE TABLE IF NOT EXISTS claims (place INTEGER PRIMARY KEY, id TEXT UNIQUE, expires REAL)")
    while True:
        number += 1
        name = f"{os.getpid()}-{number}"
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DELETE FROM claims WHERE expires <= ?", (time.time(),))
        connection.execute("INSERT INTO claims (id, expires) VALUES (?, ?)", (name, time.time() + 10))
        connection.execute("SELECT count(*) FROM claims").fetchone()
        connection.execute("COMMIT")
        yield
        connection.execute("DELETE FROM claims WHERE id = ?", (name,))
        yield


def tallies(steps: Callable[[Path], Iterator[None]], processes: int) -> list[Tally]:
    """Fork so many processes that take steps as fast as they can, for some seconds."""
    with tempfile.TemporaryDirectory() as place:
        next(steps(Path(place) / "slots.sqlite"))  # the file is there before the race begins
        begins = time.monotonic() + 0.5
        children = [_forked(steps, Path(place), begins) for _ in range(processes)]
        for child in children:
            os.waitpid(child, 0)
        return [Tally(**json.loads((Path(place) / str(child)).read_text())) for child in children]


def _forked(steps: Callable[[Path], Iterator[None]], place: Path, begins: float) -> int:
    if child := os.fork():
        return child
    tally = _raced(partial(steps, place / "slots.sqlite"), begins)
    (place / str(os.getpid())).write_text(json.dumps(asdict(tally)))
    os._exit(0)


def _raced(make: Callable[[], Iterator[None]], begins: float) -> Tally:
    time.sleep(max(0.0, begins - time.monotonic()))
    steps, done, errors, longest = make(), 0, 0, 0.0
    while (began := time.monotonic()) < begins + SECONDS:
        try:
            next(steps)
            done += 1
        except sqlite3.OperationalError:
            steps, errors = make(), errors + 1
        longest = max(longest, time.monotonic() - began)
    return Tally(done, errors, longest)


async def rates() -> list[Figure | str]:
    """Steps a second of all processes together, and how the one fared that got least."""
    found: list[Figure | str] = []
    for processes in PROCESSES:
        ours, plain = tallies(shared_slots, processes), tallies(plain_sqlite, processes)
        rate, other = (sum(tally.steps for tally in every) / SECONDS for every in (ours, plain))
        longest, longest_other = (max(tally.longest for tally in every) for every in (ours, plain))
        found.append(Figure(f"{processes} processes: steps a second", rate, "/s", other))
        found.append(Figure("  the longest step", longest, "s", longest_other))
        for name, every in (("ours", ours), ("plain", plain)):
            steps, errors = sorted(tally.steps for tally in every), sum(tally.errors for tally in every)
            found.append(f"    {name}: {steps[0]} to {steps[-1]} steps a process, {errors} times locked out")
    return found


async def killed() -> list[Figure | str]:
    """64 sessions share 5 slots; a third is killed, those that hold a slot first."""
    until_one, until_all, most = [], [], 0
    for _ in range(3):
        with tempfile.TemporaryDirectory() as place:
            with crowd(Path(place), 64, 5, 9.0, hold_s=0.25) as (pids, log):
                await asyncio.sleep(4.0)
                holding = moments_of(log.lines()).running[-1][1]
                for pid in sorted(pids, key=lambda pid: pid not in holding)[:21]:
                    kill(pid, log)
            lines = log.lines()
            died = max(line.at for line in lines if line.what == "killed")
            found = moments_of(lines)
            most = max(most, found.most)
            until_one.append(next(at for at, running in found.running if at > died and running) - died)
            until_all.append(next(at for at, running in found.running if at > died and len(running) == 5) - died)
    return [
        Figure("until the first slot is taken again", median(until_one), "s", limit=10.0),
        Figure("until all five are", median(until_all), "s", limit=10.0, note=f"(slowest {max(until_all):.2f} s)"),
        f"most that ran at the same time by the processes' own log: {most} of 5",
    ]


PARTS: Parts = {
    "rate": ("Steps on one file, all processes at once", rates),
    "killed": ("Sessions killed while they hold slots", killed),
}


def main() -> int:
    """Print the tables; exit code 1 when a part could not be measured."""
    return run_parts("benchmarks.slots", __doc__, PARTS)


if __name__ == "__main__":
    sys.exit(main())
