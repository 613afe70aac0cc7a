"""How soon programs show themselves, how soon they take a key, and what memory they hold when they have settled.

All run in the same kind of terminal, one after the other in every round.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.figures import MEGABYTE, Figure
from benchmarks.processes import CommandFailed, clean_environment
from benchmarks.screen_floor import TEXT
from benchmarks.screen_pty import Terminal

PAINT_ROUNDS = 9
MEMORY_ROUNDS = 3
KEY = "Z"
LLM_VARIABLE = "HARNESS_INTEROP_LLM"
ELIA_VARIABLE = "HARNESS_INTEROP_ELIA"


@dataclass(frozen=True, slots=True)
class Program:
    """One that is started, and how its first frame is known."""

    name: str
    command: tuple[str, ...]
    shows: str
    """Text of its first frame."""
    takes_keys: bool = True
    """A typed character appears."""


FLOOR = Program("a minimal Textual app", (sys.executable, "-m", "benchmarks.screen_floor"), TEXT, takes_keys=False)
OURS = Program("harness", (sys.executable, "-m", "harness"), "loading")


def peers() -> tuple[list[Program], list[str]]:
    """The programs of others that can be started here, and why the rest cannot."""
    found, missing = [], []
    for name, variable, arguments, shows in (
        ("llm", LLM_VARIABLE, ("chat",), "Chatting with"),
        ("elia", ELIA_VARIABLE, (), "Enter your"),
    ):
        if executable := os.environ.get(variable) or shutil.which(name):
            found.append(Program(" ".join((name, *arguments)), (executable, *arguments), shows))
        else:
            missing.append(f"{name}: skipped, it is not installed; {variable} may name its executable")
    return found, missing


@dataclass(slots=True)
class _Times:
    paint_s: list[float]
    key_s: list[float]


async def first_paint() -> list[Figure | str]:
    """Seconds until the first frame, and until a key that is typed at that moment appears."""
    theirs, said = peers()
    took = {program.name: _Times([], []) for program in (FLOOR, OURS, *theirs)}
    with tempfile.TemporaryDirectory() as place:
        environment = own_environment(Path(place))
        # The first round fills the caches of the disk and of the interpreter; it does not count.
        for number in range(PAINT_ROUNDS + 1):
            for program in (FLOOR, OURS, *theirs):
                times = took[program.name]
                with _running(program, environment, Path(place)) as terminal:
                    painted = terminal.wait_for(program.shows)
                    answered = terminal.press_until_shown(KEY) if program.takes_keys else painted
                if number:
                    times.paint_s.append(painted)
                    times.key_s.append(answered)
    ours = took[OURS.name]
    figures = [
        Figure(
            f"first paint / {name}",
            median(ours.paint_s) * 1000,
            "ms",
            median(times.paint_s) * 1000,
            at_most=1.25 if name == FLOOR.name else None,
            note=_span(ours.paint_s, times.paint_s),
        )
        for name, times in took.items()
        if name != OURS.name
    ]
    figures += [
        Figure(
            f"a typed key is there / {program.name}",
            median(ours.key_s) * 1000,
            "ms",
            median(took[program.name].key_s) * 1000,
            note=_span(ours.key_s, took[program.name].key_s),
        )
        for program in theirs
    ]
    return [*figures, *said]


async def memory() -> list[Figure | str]:
    """Megabytes with a session open and nothing asked yet, and after the first answer of the practice model."""
    theirs, said = peers()
    settled: dict[str, list[tuple[int, int]]] = {program.name: [] for program in (FLOOR, OURS, *theirs)}
    answered: list[tuple[int, int]] = []
    with tempfile.TemporaryDirectory() as place:
        environment = own_environment(Path(place))
        for _ in range(MEMORY_ROUNDS):
            for program in (FLOOR, OURS, *theirs):
                with _running(program, environment, Path(place)) as terminal:
                    terminal.wait_for(program.shows)
                    terminal.settle()
                    settled[program.name].append(terminal.memory)
                    if program is OURS:
                        typed = terminal.type("hello\r")
                        terminal.wait_for("1 request", after=typed)
                        terminal.settle()
                        answered.append(terminal.memory)
    ours, settled_floor = settled.pop(OURS.name), settled[FLOOR.name]
    return [
        *(figure for name, theirs_used in settled.items() for figure in _beside(name, ours, theirs_used)),
        *_after_the_answer(answered, settled_floor),
        *said,
    ]


def _after_the_answer(ours: list[tuple[int, int]], floor: list[tuple[int, int]]) -> list[Figure]:
    return [
        Figure(
            f"after an answer, {name} / {FLOOR.name}", _megabytes(ours, at), "MB", _megabytes(floor, at), at_most=most
        )
        for at, name, most in ((0, "RSS", 2.2), (1, "PSS", None))
    ]


def own_environment(place: Path) -> dict[str, str]:
    """A home folder of its own below `place`, where nothing is set, for every program."""
    return clean_environment(
        HOME=str(place / "home"),
        XDG_CONFIG_HOME=str(place / "config"),
        XDG_DATA_HOME=str(place / "data"),
        HARNESS_STATE_DIR=str(place / "state"),
        LLM_USER_PATH=str(place / "llm"),
        OPENAI_API_KEY="not-a-key",
    )


def _running(program: Program, environment: dict[str, str], place: Path) -> Terminal:
    folder = place / "work"
    folder.mkdir(exist_ok=True)
    (place / "home").mkdir(exist_ok=True)
    try:
        return Terminal(program.command, environment, folder)
    except OSError as error:
        raise CommandFailed(f"{program.name} could not be started: {error}") from error


def _beside(name: str, ours: Sequence[tuple[int, int]], theirs: Sequence[tuple[int, int]]) -> list[Figure]:
    floor = name == FLOOR.name
    return [
        Figure(
            f"settled memory, {kind} / {name}",
            _megabytes(ours, which),
            "MB",
            _megabytes(theirs, which),
            at_most=1.5 if floor else None,
        )
        for which, kind in enumerate(("RSS", "PSS"))
    ]


def _megabytes(used: Sequence[tuple[int, int]], which: int) -> float:
    return median(one[which] for one in used) / MEGABYTE


def _span(ours: Sequence[float], other: Sequence[float]) -> str:
    spans = (f"{min(some) * 1000:.0f}–{max(some) * 1000:.0f}" for some in (ours, other))
    return f"({' / '.join(spans)} ms in {len(ours)} runs)"
