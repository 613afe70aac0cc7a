"""Time to the first screen and to the echo of a key, and memory when idle.

All run in the same kind of terminal, one after the other in every round.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.figures import MEGABYTE, Figure
from benchmarks.long_journal import MESSAGES_PER_TURN, SAID, write_journal
from benchmarks.processes import CommandFailed, clean_environment
from benchmarks.screen_floor import TEXT
from benchmarks.screen_pty import Terminal
from benchmarks.screen_stream import prose
from harness.settings.fields import PRACTICE_MODEL

PAINT_ROUNDS = 9
MEMORY_ROUNDS = 3
RESUME_ROUNDS = 3
LONGEST_RESUME_S = 120.0
RESUMED = 10_000
"""Messages of the session that is resumed."""
KEYS = "".join(map(chr, (*range(0x410, 0x450), *range(0x391, 0x3A2), *range(0x3B1, 0x3C9))))
"""Letters that nothing else writes. Each is typed once, because the prompt is written again with those before."""
KEYS_APART_S = 0.12
STREAMED_WORDS = 8_000


def streamed_script() -> str:
    """A script with a reply that outlasts the typing and does not repeat itself."""
    text = prose(STREAMED_WORDS)
    return f"[[reply]]\ntext = {json.dumps(text)}\nchunk = 12\nevent_delay = 0.015\ntimes = 'forever'\n"


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
FLOOR_WITH_SDK = Program("that with the SDK", (*FLOOR.command, "sdk"), TEXT, takes_keys=False)
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
    answer_s: list[float]
    """Until a key that is typed at that moment is there, or the end of a session."""


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
                    times.answer_s.append(answered)
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
            median(ours.answer_s) * 1000,
            "ms",
            median(took[program.name].answer_s) * 1000,
            note=_span(ours.answer_s, took[program.name].answer_s),
        )
        for program in theirs
    ]
    return [*figures, *said]


async def memory() -> list[Figure | str]:
    """Megabytes with a session open and nothing asked yet, and after the first answer of the practice model."""
    theirs, said = peers()
    programs = (FLOOR, FLOOR_WITH_SDK, OURS, *theirs)
    settled: dict[str, list[tuple[int, int]]] = {program.name: [] for program in programs}
    answered: list[tuple[int, int]] = []
    with tempfile.TemporaryDirectory() as place:
        environment = own_environment(Path(place))
        for _ in range(MEMORY_ROUNDS):
            for program in programs:
                with _running(program, environment, Path(place)) as terminal:
                    terminal.wait_for(program.shows)
                    terminal.settle()
                    settled[program.name].append(terminal.memory)
                    if program is OURS:
                        typed = terminal.type("hello\r")
                        terminal.wait_for("1 request", after=typed)
                        terminal.settle()
                        answered.append(terminal.memory)
    ours, with_sdk = settled.pop(OURS.name), settled.pop(FLOOR_WITH_SDK.name)
    return [
        *(figure for name, theirs_used in settled.items() for figure in _beside(name, ours, theirs_used)),
        *_after_the_answer(FLOOR.name, answered, settled[FLOOR.name], 2.2),
        *_after_the_answer(FLOOR_WITH_SDK.name, answered, with_sdk, None),
        *said,
    ]


def _after_the_answer(
    name: str, ours: list[tuple[int, int]], floor: list[tuple[int, int]], at_most: float | None
) -> list[Figure]:
    return [
        Figure(f"after an answer, {kind} / {name}", _megabytes(ours, at), "MB", _megabytes(floor, at), at_most=most)
        for at, kind, most in ((0, "RSS", at_most), (1, "PSS", None))
    ]


async def keys() -> list[Figure | str]:
    """Milliseconds from a key to its letter on the screen: at rest, and while a reply streams."""
    with tempfile.TemporaryDirectory() as place:
        environment, script = own_environment(Path(place)), Path(place) / "script.toml"
        script.write_text(streamed_script(), encoding="ascii")
        with _running(FLOOR, environment, Path(place)) as terminal:
            terminal.wait_for(FLOOR.shows)
            terminal.settle()
            floor = echoes(terminal)
        ours = Program(OURS.name, (*OURS.command, "--practice", str(script)), OURS.shows)
        with _running(ours, environment, Path(place)) as terminal:
            terminal.wait_for(ours.shows)
            terminal.settle()
            at_rest = echoes(terminal)
        with _running(ours, environment, Path(place)) as terminal:
            terminal.wait_for(ours.shows)
            terminal.settle()
            began = terminal.type("hello\r")
            terminal.wait_for("prose", after=began)
            streaming = echoes(terminal)
            before = terminal.bytes_written
            terminal.wait_for("prose", after=before)  # it still streams
    return [
        Figure(f"{when}: {name} / {FLOOR.name}", share_of(typed, share), "ms", share_of(floor, share), limit=limit)
        for when, typed in (("at rest", at_rest), ("streaming", streaming))
        for name, share, limit in (("median", 0.5, None), ("99th percentile", 0.99, 22))
    ]


def echoes(terminal: Terminal) -> list[float]:
    """Milliseconds from each of `KEYS` to its letter on the screen, shortest first."""
    took = []
    for key in KEYS:
        began = time.monotonic()
        typed = terminal.type(key)
        terminal.wait_for(key, after=typed)
        took.append((time.monotonic() - began) * 1000)
        terminal.pass_time(KEYS_APART_S)
    return sorted(took)


def share_of(ordered: Sequence[float], share: float) -> float:
    """The value at a share of ordered ones, such as 0.99 for the 99th percentile."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


async def resume() -> list[Figure | str]:
    """Seconds from the start to the first frame and to the last answer, of a long session and of one with one turn."""
    took = {messages: _Times([], []) for messages in (RESUMED, MESSAGES_PER_TURN)}
    with tempfile.TemporaryDirectory() as place:
        environment, work = own_environment(Path(place)), (Path(place) / "work").resolve()
        for messages, times in took.items():
            path = write_journal(work, Path(environment["HARNESS_STATE_DIR"]), messages, PRACTICE_MODEL)
            program = Program(OURS.name, (*OURS.command, "--resume", path.stem), OURS.shows)
            for number in range(RESUME_ROUNDS + 1):
                with _running(program, environment, Path(place)) as terminal:
                    painted = terminal.wait_for(program.shows)
                    answered = terminal.wait_for(SAID[:30], timeout_s=LONGEST_RESUME_S)
                if number:
                    times.paint_s.append(painted)
                    times.answer_s.append(answered)
    long, short = took[RESUMED], took[MESSAGES_PER_TURN]
    return [
        Figure(f"{name} of {RESUMED:,} / of {MESSAGES_PER_TURN}", median(ours), "s", median(other), limit=1)
        for name, ours, other in (
            ("first frame", long.paint_s, short.paint_s),
            ("the conversation", long.answer_s, short.answer_s),
        )
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
