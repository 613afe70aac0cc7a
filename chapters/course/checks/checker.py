"""Checks a learner's file in a separate process.

The code may be wrong in any way. It runs in temporary folders, without the environment of the user, with a time limit,
and everything it starts is ended by `harness.processes`.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from chapters.course.checks import check_program
from chapters.course.checks.exercises import Check, Exercise
from harness.processes import Processes, ProcessLimits
from harness.processes.outcome import MARK, ProcessResult

PROGRAM = Path(check_program.__file__)
INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", MARK)
"""Environment variables passed on to the process."""
PRINTED_BYTES = 4_000
"""Bytes of the output to keep, from its beginning."""


class Trouble(StrEnum):
    """Why a check failed."""

    ASSERTION = "assertion"
    """The result is wrong; the text shows the case."""
    RAISED = "raised"
    """The code raised an exception: the text."""
    UNFIT = "unfit"
    """The check cannot use its result or signature; the text is the exception."""
    MISSING = "missing"
    """A name is missing: the text."""
    ABSENT = "absent"
    """The file is missing."""
    SYNTAX = "syntax"
    """Syntax error: the text."""
    IMPORT = "import"
    """An import fails: the text."""
    EXIT = "exit"
    """It called sys.exit()."""
    GONE = "gone"
    """The process ended unexpectedly; the text is its exit code."""
    ENDLESS = "endless"
    """It computed without an end; the text is the limit in seconds."""
    STUCK = "stuck"
    """It waited without an end; the text is the limit in seconds."""
    FORK = "fork"
    """It forked."""
    INPUT = "input"
    """It reads from the keyboard."""
    RECURSION = "recursion"
    """Endless recursion."""
    MEMORY = "memory"
    """Out of memory."""
    NOT_RUN = "not-run"
    """The program ended earlier, or the file could not be loaded."""


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """A failure of a check."""

    trouble: Trouble
    line: int | None = None
    """Line of the learner's file."""
    text: str = ""
    """Untrusted; escape it with `visible` before showing it."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of one check."""

    check: Check
    failure: CheckFailure | None

    @property
    def passed(self) -> bool:
        """Whether the check passed."""
        return self.failure is None


@dataclass(frozen=True, slots=True)
class Checked:
    """Results of all checks."""

    exercise: Exercise
    loading: CheckFailure | None
    """Why the file could not be loaded."""
    results: tuple[CheckResult, ...]
    """In the order of the exercise."""
    printed: str
    """Beginning of the output."""
    printed_bytes: int
    """Bytes of the whole output."""
    left: int = 0
    """Number of programs left running, which were ended."""

    @property
    def is_cut(self) -> bool:
        """Whether the output was cut."""
        return self.printed_bytes > PRINTED_BYTES

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return self.loading is None and all(result.passed for result in self.results)


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """Time limits in seconds."""

    check_s: float = 10.0
    """Computing time of each check, and of loading the file. A busy machine does not shorten it."""
    wait_s: float = 30.0
    """The same by the clock."""
    all_s: float = 120.0
    """By the clock."""


async def run_checks(exercise: Exercise, file: Path, limits: CheckLimits | None = None) -> Checked:
    """Run the original checks against a learner's file. Raises OSError if no process can be started."""
    if not file.is_file():
        nothing = tuple(CheckResult(check, CheckFailure(Trouble.NOT_RUN)) for check in exercise.checks)
        return Checked(exercise, CheckFailure(Trouble.ABSENT), nothing, "", 0)
    limits = limits or CheckLimits()
    printed = Printed()
    processes = Processes(ProcessLimits(time_s=limits.all_s, term_grace_s=0.5))
    with TemporaryDirectory(prefix="harness-check-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        order = prepared(exercise, file, folder, limits)
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


def prepared(exercise: Exercise, file: Path, folder: Path, limits: CheckLimits) -> check_program.CheckOrder:
    """The arguments of the check program, which runs in the new folder `work` in `folder`. Raises OSError."""
    (folder / "work").mkdir()
    return check_program.CheckOrder(
        file=str(file.resolve()),
        check=str(exercise.check_file.resolve()),
        names=[check.name for check in exercise.checks],
        report=str(folder / "report"),
        stacks=str(folder / "stacks"),
        check_s=limits.check_s,
        wait_s=limits.wait_s,
    )


def outcome(
    exercise: Exercise, order: check_program.CheckOrder, finished: ProcessResult, printed: "Printed"
) -> Checked:
    """The results, from the report of the program, its end, and its output."""
    report = _ReportReader.read(order, finished)
    return Checked(
        exercise,
        report.failure(""),
        tuple(CheckResult(check, report.failure(check.name)) for check in exercise.checks),
        printed.text,
        printed.count,
        len(finished.left),
    )


def environment(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The environment of the process: search path and language only, with temporary folders."""
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
    """Keeps the beginning of a stream."""

    def __init__(self) -> None:
        self.count = 0
        """Total bytes."""
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        """Add a piece."""
        self.count += len(data)
        self._data += data[: PRINTED_BYTES - len(self._data)]

    @property
    def text(self) -> str:
        """The first `PRINTED_BYTES`."""
        return self._data.decode("utf-8", "replace")


class _ReportReader:
    """The report of the process, completed by how it ended."""

    def __init__(self, states: Mapping[str, CheckFailure | None], began: str | None, ending: CheckFailure) -> None:
        self._states = states
        self._began = began
        self._ending = ending

    @classmethod
    def read(cls, order: check_program.CheckOrder, finished: ProcessResult) -> "_ReportReader":
        states: dict[str, CheckFailure | None] = {}
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
                    states[entry["check"]] = CheckFailure(Trouble(state), entry["line"], entry["text"])
        return cls(states, began, _ending(order, finished))

    def failure(self, check: str) -> CheckFailure | None:
        """The failure of a check, or of loading the file (an empty name)."""
        if check in self._states:
            return self._states[check]
        return self._ending if check == self._began else CheckFailure(Trouble.NOT_RUN)


def _ending(order: check_program.CheckOrder, finished: ProcessResult) -> CheckFailure:
    """Why a started check has no result."""
    stacks = _lines(Path(order.stacks))
    if stacks or finished.timed_out:
        place = f'  File "{order.called}", line '
        lines = [line.removeprefix(place).split(" ")[0] for line in stacks if line.startswith(place)]
        computed = finished.exit_code == -signal.SIGPROF if hasattr(signal, "SIGPROF") else False
        trouble, limit = (Trouble.ENDLESS, order.check_s) if computed else (Trouble.STUCK, order.wait_s)
        return CheckFailure(trouble, int(lines[0]) if lines else None, f"{limit:g}")
    return CheckFailure(Trouble.GONE, None, str(finished.exit_code))


def _lines(file: Path) -> list[str]:
    try:
        text = file.read_text("utf-8", "replace")
    except FileNotFoundError:
        return []
    return text.rpartition("\n")[0].split("\n") if "\n" in text else []
