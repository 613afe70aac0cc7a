"""Checks a learner's file in a process of its own, and keeps what came of it.

What the learner wrote may be wrong in any way. It gets a folder, a home and a state folder that are thrown away, none
of the person's variables, a time limit, and `harness.processes`, which ends everything that it starts.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.lessons import check_program
from harness.lessons.exercises import Check, Exercise
from harness.processes import Finished, Limits, Processes
from harness.processes.outcome import MARK

PROGRAM = Path(check_program.__file__)
INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", MARK)
"""Variables that the child gets from us."""
PRINTED_BYTES = 4_000
"""So much of what the code printed is kept, from its beginning."""


class Trouble(StrEnum):
    """Why a check did not pass."""

    ASSERTION = "assertion"
    """The code does something else; the text shows the case."""
    RAISED = "raised"
    """It raised an exception: the text."""
    UNFIT = "unfit"
    """What it returned, or takes, is not what the check needs: the text is the exception."""
    MISSING = "missing"
    """A name is not there: the text."""
    ABSENT = "absent"
    """The file is not there."""
    SYNTAX = "syntax"
    """The file is no Python: the text."""
    IMPORT = "import"
    """It imports what is not there: the text."""
    EXIT = "exit"
    """It ended the program with sys.exit()."""
    GONE = "gone"
    """The process ended without a word: the text is its exit code."""
    ENDLESS = "endless"
    """It took longer than it may, in seconds: the text."""
    FORK = "fork"
    """It made a copy of the process."""
    INPUT = "input"
    """It asks at the keyboard."""
    RECURSION = "recursion"
    """It calls itself without end."""
    MEMORY = "memory"
    """It needed more memory than it may."""
    NOT_RUN = "not-run"
    """Something before it ended the program, or the file could not be loaded."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, and where."""

    trouble: Trouble
    line: int | None = None
    """Of the learner's file."""
    text: str = ""
    """From the learner's code or its check: to be made visible before it is shown."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What came of one check."""

    check: Check
    failure: Failure | None

    @property
    def passed(self) -> bool:
        """Nothing is wrong."""
        return self.failure is None


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of all of them."""

    exercise: Exercise
    loading: Failure | None
    """Why the file could not even be loaded."""
    results: tuple[CheckResult, ...]
    """In the order of the exercise."""
    printed: str
    """The beginning of what the code printed."""
    printed_bytes: int
    """How much it printed in all."""
    left: int = 0
    """Programs that it started and did not end; they are ended."""

    @property
    def is_cut(self) -> bool:
        """It printed more than was kept."""
        return self.printed_bytes > PRINTED_BYTES

    @property
    def passed(self) -> bool:
        """The exercise is done."""
        return self.loading is None and all(result.passed for result in self.results)


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """How long the code may take, in seconds."""

    check_s: float = 10.0
    """Each check, and loading the file."""
    all_s: float = 30.0


async def run_checks(exercise: Exercise, file: Path, limits: CheckLimits | None = None) -> Checked:
    """Run the checks that come with the program against a learner's file.

    Raises OSError when no process or folder can be made.
    """
    if not file.is_file():
        nothing = tuple(CheckResult(check, Failure(Trouble.NOT_RUN)) for check in exercise.checks)
        return Checked(exercise, Failure(Trouble.ABSENT), nothing, "", 0)
    limits = limits or CheckLimits()
    printed = Printed()
    processes = Processes(Limits(time_s=limits.all_s, term_grace_s=0.5))
    with TemporaryDirectory(prefix="harness-check-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        order = prepared(exercise, file, folder, limits.check_s)
        try:
            finished = await processes.run(
                (sys.executable, "-P", str(PROGRAM), json.dumps(asdict(order))),
                cwd=folder / "work",
                environment=environment(os.environ, folder),
                sink=printed.feed,
            )
        finally:
            await processes.aclose()
        return await asyncio.to_thread(outcome, exercise, order, finished, printed)


def prepared(exercise: Exercise, file: Path, folder: Path, check_s: float) -> check_program.Order:
    """What the check program is to do with a learner's file.

    Makes the folder `work` in `folder`, which the program is to run in; what it reports goes to `folder`, too.
    `check_s` is the time of each check in seconds. Raises OSError.
    """
    (folder / "work").mkdir()
    return check_program.Order(
        file=str(file.resolve()),
        check=str(exercise.check_file.resolve()),
        names=[check.name for check in exercise.checks],
        report=str(folder / "report"),
        stacks=str(folder / "stacks"),
        check_s=check_s,
    )


def outcome(exercise: Exercise, order: check_program.Order, finished: Finished, printed: "Printed") -> Checked:
    """What came of the checks, by what the check program reported, how it ended, and what it printed."""
    told = _Told.read(order, finished)
    return Checked(
        exercise,
        told.failure(""),
        tuple(CheckResult(check, told.failure(check.name)) for check in exercise.checks),
        printed.text,
        printed.count,
        len(finished.left),
    )


def environment(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """What the child knows of the person: how to find programs, and the language. No key, no settings, no home."""
    return {
        **{name: environ[name] for name in INHERITED if name in environ},
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "HARNESS_STATE_DIR": str(folder / "state"),
        "PYTHONPATH": os.pathsep.join(str(Path(place).resolve()) for place in sys.path if place),
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        "NO_COLOR": "1",
    }


class Printed:
    """The beginning of a stream."""

    def __init__(self) -> None:
        self.count = 0
        """Bytes in all."""
        self._kept = bytearray()

    def feed(self, data: bytes) -> None:
        """Take the next piece."""
        self.count += len(data)
        self._kept += data[: PRINTED_BYTES - len(self._kept)]

    @property
    def text(self) -> str:
        """What was kept: `PRINTED_BYTES` at most."""
        return self._kept.decode("utf-8", "replace")


class _Told:
    """The report of the child, and what follows from how it ended."""

    def __init__(self, states: Mapping[str, Failure | None], began: str | None, ending: Failure) -> None:
        self._states = states
        self._began = began
        self._ending = ending

    @classmethod
    def read(cls, order: check_program.Order, finished: Finished) -> "_Told":
        """Read what the child left behind, however early it ended."""
        states: dict[str, Failure | None] = {}
        began: str | None = ""
        for line in _lines(Path(order.report)):
            entry = json.loads(line)
            match entry["state"]:
                case "begun":
                    began = entry["check"]
                case "ended":
                    began = None
                case "passed":
                    states[entry["check"]] = None
                case state:
                    states[entry["check"]] = Failure(Trouble(state), entry["line"], entry["text"])
        return cls(states, began, _ending(order, finished))

    def failure(self, check: str) -> Failure | None:
        """What went wrong with a check, or with loading the file (an empty name)."""
        if check in self._states:
            return self._states[check]
        return self._ending if check == self._began else Failure(Trouble.NOT_RUN)


def _ending(order: check_program.Order, finished: Finished) -> Failure:
    """Why a check that began has no result."""
    stacks = _lines(Path(order.stacks))
    if stacks or finished.timed_out:
        place = f'  File "{order.called}", line '
        lines = [line.removeprefix(place).split(" ")[0] for line in stacks if line.startswith(place)]
        return Failure(Trouble.ENDLESS, int(lines[0]) if lines else None, f"{order.check_s:g}")
    return Failure(Trouble.GONE, None, str(finished.exit_code))


def _lines(file: Path) -> list[str]:
    """The whole lines of a file; none where it does not exist."""
    try:
        text = file.read_text("utf-8", "replace")
    except FileNotFoundError:
        return []
    return text.rpartition("\n")[0].split("\n") if "\n" in text else []
