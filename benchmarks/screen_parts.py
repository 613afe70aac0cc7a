"""A long history, a long answer, a storm and rest: each in a terminal of its own, beside others in the same run."""

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.figures import MEGABYTE, Figure
from benchmarks.processes import CommandFailed
from benchmarks.screen_paint import FLOOR, OURS, echoes, own_environment, share_of
from benchmarks.screen_pty import Terminal
from benchmarks.screen_stream import LENGTHS, LONG, READY

MESSAGES = 5_000
SHORT_MESSAGES = 500
"""One more message to a long conversation costs what it costs here."""
NAIVE_MESSAGES = 1_000
HISTORY_ROUNDS = 3
BUSY_S = 10.0
BUSY_ROUNDS = 3
IDLE_S = 10.0
LONGEST_S = 120.0


@dataclass(frozen=True, slots=True)
class _Reported:
    """What a program of this benchmark wrote down."""

    values: dict[str, float]
    bytes_written: int


async def history() -> list[Figure | str]:
    """5,000 messages through the views of the app, beside one Static for each of 1,000."""
    ours, short, naive = [], [], []
    for _ in range(HISTORY_ROUNDS):
        ours.append(_reported("screen_history", "ours", str(MESSAGES)))
        short.append(_reported("screen_history", "ours", str(SHORT_MESSAGES)))
        naive.append(_reported("screen_history", "naive", str(NAIVE_MESSAGES)))
    beside = f"naive {NAIVE_MESSAGES:,}"
    return [
        Figure(f"{MESSAGES:,} messages / {beside}", _of(ours, "seconds"), "s", _of(naive, "seconds"), limit=10),
        Figure(f"one more message / {beside}", _of(ours, "one_more"), "ms", _of(naive, "one_more"), limit=12),
        Figure(
            f"one more message / at {SHORT_MESSAGES}",
            _of(ours, "one_more_cpu"),
            "ms CPU",
            _of(short, "one_more_cpu"),
            at_most=1.25,
        ),
        Figure(f"memory, RSS / {beside}", _of(ours, "rss") / MEGABYTE, "MB", _of(naive, "rss") / MEGABYTE, limit=80),
    ]


async def stream() -> list[Figure | str]:
    """What a frame costs while an answer grows, and the echo of a key in a long one."""
    grown = [_reported("screen_stream", "frames") for _ in range(HISTORY_ROUNDS)]
    short, *longer = LENGTHS
    with _program("screen_stream", "keys") as (terminal, report):
        terminal.wait_for(READY)
        typed = echoes(terminal)
        processor = _report_of(terminal, report).values["cpu"]
    with tempfile.TemporaryDirectory() as place:
        folder, environment = _places(Path(place))
        with Terminal(FLOOR.command, environment, folder) as terminal:
            terminal.wait_for(FLOOR.shows)
            terminal.settle()
            floor = echoes(terminal)
    return [
        Figure(f"a frame at {short} words", _of(grown, f"frame_{short}"), "ms CPU"),
        *(
            Figure(
                f"a frame at {words:,} words / at {short}",
                _of(grown, f"frame_{words}"),
                "ms CPU",
                _of(grown, f"frame_{short}"),
                at_most=2,
            )
            for words in longer
        ),
        *(
            Figure(
                f"a key, from {LONG:,} words on: {name} / floor",
                share_of(typed, share),
                "ms",
                share_of(floor, share),
                limit=limit,
            )
            for name, share, limit in (("median", 0.5, None), ("99th percentile", 0.99, 22))
        ),
        Figure(f"processor from {LONG:,} words on", processor, "%"),
    ]


async def busy() -> list[Figure | str]:
    """Events and prose for ten seconds, beside an app that touches its widgets for each of them."""
    ours, naive = [], []
    for _ in range(BUSY_ROUNDS):
        ours.append(_reported("screen_busy", "ours", str(BUSY_S)))
        naive.append(_reported("screen_busy", "naive", str(BUSY_S)))
    return [
        Figure("processor / naive", _of(ours, "cpu"), "%", _of(naive, "cpu"), limit=10),
        Figure("a timer is late: median / naive", _of(ours, "p50"), "ms", _of(naive, "p50")),
        Figure("a timer is late: 99th percentile / naive", _of(ours, "p99"), "ms", _of(naive, "p99"), limit=35),
        Figure(
            "written to the terminal / naive",
            median(one.bytes_written for one in ours) / MEGABYTE,
            "MB",
            median(one.bytes_written for one in naive) / MEGABYTE,
        ),
    ]


async def idle() -> list[Figure | str]:
    """Processor time while nothing happens: with a session open, and after a turn."""
    with tempfile.TemporaryDirectory() as place:
        folder, environment = _places(Path(place))
        with Terminal(FLOOR.command, environment, folder) as terminal:
            terminal.wait_for(FLOOR.shows)
            floor = _resting(terminal)
        with Terminal(OURS.command, environment, folder) as terminal:
            terminal.wait_for(OURS.shows)
            before = _resting(terminal)
            typed = terminal.type("hello\r")
            terminal.wait_for("1 request", after=typed)
            after = _resting(terminal)
    return [
        Figure(f"a session is open / {FLOOR.name}", before, "%", floor, limit=0.1, at_most=1.1),
        Figure(f"after a turn / {FLOOR.name}", after, "%", floor, limit=0.1, at_most=1.1),
    ]


def _resting(terminal: Terminal) -> float:
    terminal.settle()
    terminal.pass_time(3.0)  # the temporary status message has gone
    cpu, began = terminal.fine_cpu_s, time.monotonic()
    terminal.pass_time(IDLE_S)
    return (terminal.fine_cpu_s - cpu) / (time.monotonic() - began) * 100


def _reported(program: str, *arguments: str) -> _Reported:
    with _program(program, *arguments) as (terminal, report):
        return _report_of(terminal, report)


@contextmanager
def _program(program: str, *arguments: str) -> Iterator[tuple[Terminal, Path]]:
    """A program of this benchmark, running, and the file of its report."""
    with tempfile.TemporaryDirectory() as place:
        folder, environment = _places(Path(place))
        report = Path(place) / "report.json"
        command = (sys.executable, "-m", f"benchmarks.{program}", *arguments, str(report))
        with Terminal(command, environment, folder) as terminal:
            yield terminal, report


def _report_of(terminal: Terminal, report: Path) -> _Reported:
    terminal.wait_for_end(LONGEST_S)
    if not report.exists():
        raise CommandFailed(f"nothing was reported: {terminal.text.strip()[-300:]}")
    return _Reported(json.loads(report.read_text()), terminal.bytes_written)


def _places(place: Path) -> tuple[Path, dict[str, str]]:
    (place / "work").mkdir()
    (place / "home").mkdir()
    return place / "work", own_environment(place)


def _of(reported: list[_Reported], name: str) -> float:
    return median(one.values[name] for one in reported)
