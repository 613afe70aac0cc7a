"""Runs the checks of an exercise against a learner's file, as a separate program.

It is started by path and imports only the standard library; the checks import what they need. The code may fail in any
way, so each result is written as soon as it is known.

Argument: one JSON object, the fields of `CheckOrder`. Report: lines of JSON `{"check", "state", "line", "text"}` in the
file `report`; `check` is empty while the learner's file is loaded, `state` is "begun", "passed", or a value of
`Trouble`, `line` is one of the learner's file or null. The last one is "ended". When a check
computes longer than `check_s` or lasts longer than `wait_s`, the stacks are written into the file `stacks` and the
program ends. Computing time is what counts, because a busy machine stretches the other.
"""

import contextlib
import faulthandler
import gc
import inspect
import json
import linecache
import os
import signal
import sys
import types
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn, TextIO

MEMORY_BYTES = 2 * 1024**3
"""Limit of the address space, if the system supports one."""
MESSAGE_CHARACTERS = 2_000
SECOND_LOOK_S = 1.0
"""An async check times out with an exception, which shows the line; this much later the program is ended."""


@dataclass(frozen=True)
class CheckOrder:
    """The arguments of the program."""

    file: str
    """The learner's file."""
    check: str
    """The file with the checks."""
    names: list[str]
    """Names of the check functions, in their order."""
    report: str
    stacks: str
    check_s: float
    """Computing time for each check, and for loading, in seconds."""
    wait_s: float
    """The same in seconds of the clock, for code that waits."""

    @property
    def called(self) -> str:
        """Name of the learner's file in tracebacks, without its folder."""
        return Path(self.file).name


class CheckReport:
    """Writes results to a file that outlives the process."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.check = ""
        """Name of the running check."""

    def begin(self, check: str) -> None:
        """Start a check."""
        self.check = check
        self.add("begun")

    def add(self, state: str, line: int | None = None, text: str = "") -> None:
        """Write the state of the running check."""
        entry = {"check": self.check, "state": state, "line": line, "text": text[:MESSAGE_CHARACTERS]}
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()


@dataclass(frozen=True)
class CheckWatchdog:
    """Ends the program after a time limit."""

    stacks: TextIO
    order: CheckOrder

    def __post_init__(self) -> None:
        if hasattr(signal, "setitimer"):  # the stacks are written, then the signal ends the program
            faulthandler.register(signal.SIGPROF, file=self.stacks, chain=True)

    @contextlib.contextmanager
    def watching(self, *, awaits: bool) -> Iterator[None]:
        """Limit a block. One that `awaits` gets time to raise its own timeout first."""
        patience = SECOND_LOOK_S if awaits else 0.0
        faulthandler.dump_traceback_later(self.order.wait_s + patience, exit=True, file=self.stacks)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, self.order.check_s)
        try:
            yield
        finally:
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.cancel_dump_traceback_later()


def main(order: CheckOrder) -> NoReturn:
    """Load both files, run the checks, and exit without waiting for threads of the code."""
    with Path(order.report).open("w", encoding="utf-8") as file, Path(order.stacks).open("w") as stacks:
        report, watchdog = CheckReport(file), CheckWatchdog(stacks, order)
        os.register_at_fork(before=lambda: _refuse_to_fork(order.called, report))
        _bound_memory()
        report.begin("")
        work = _tried(partial(_loaded, order.file, order.called, "work"), order, report, watchdog)
        if isinstance(work, types.ModuleType):
            checks = _loaded_at_once(order.check)
            for name in order.names:
                report.begin(name)
                awaits = inspect.iscoroutinefunction(getattr(checks, name))
                _tried(partial(_run, checks, name, work, order.wait_s), order, report, watchdog, awaits=awaits)
        report.check = ""
        report.add("ended")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _tried(
    action: Callable[[], object],
    order: CheckOrder,
    report: CheckReport,
    watchdog: CheckWatchdog,
    *,
    awaits: bool = False,
) -> object:
    try:
        with watchdog.watching(awaits=awaits):
            result = action()
    except BaseException as error:  # noqa: BLE001 (reported to the learner)
        state, line, text = _explained(error, order)
        report.add(state, line, text)
        return None
    report.add("passed")
    return result


def _loaded(path: str, called: str, name: str) -> types.ModuleType:
    """A module made from a file that tracebacks name `called`."""
    source = Path(path).read_bytes()
    if b"\0" in source:  # the message of Python depends on its version
        raise SyntaxError("a null byte is in it", (called, None, None, None))
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    text = source.decode("utf-8", "replace")
    linecache.cache[called] = (len(text), None, text.splitlines(keepends=True), called)
    exec(compile(source, called, "exec"), vars(module))
    return module


def _loaded_at_once(check: str) -> types.ModuleType:
    """The module of the checks, with the garbage collector frozen after its imports."""
    gc.disable()
    try:
        return _loaded(check, check, "check")
    finally:
        gc.freeze()
        gc.enable()


def _run(checks: types.ModuleType, name: str, work: types.ModuleType, seconds: float) -> None:
    check = getattr(checks, name)
    if inspect.iscoroutinefunction(check):
        import asyncio  # slow to import, and rarely needed

        asyncio.run(_within(check(work), seconds))
    else:
        check(work)


async def _within(check: Awaitable[None], seconds: float) -> None:
    from asyncio import timeout

    async with timeout(seconds):
        await check


def _explained(error: BaseException, order: CheckOrder) -> tuple[str, int | None, str]:
    line = _line_in(error, order.called)
    last = _places(error)[-1:]
    text = _message(error)
    match error:
        case SyntaxError(filename=order.called):
            return "syntax", error.lineno, str(error.msg)
        case AssertionError() if last and last[0][0] == order.check:
            return "assertion", line, str(error) or linecache.getline(*last[0]).strip()
        case SystemExit():
            return "exit", line, ""
        case TimeoutError(__cause__=BaseException() as cause) if type(cause).__name__ == "CancelledError":
            line = _line_in(cause, order.called) or _line_in_a_thread(order.called)
            return "stuck", line, f"{order.wait_s:g}"
        case RecursionError():
            return "recursion", line, ""
        case MemoryError():
            return "memory", line, ""
        case EOFError() if line and "input" in linecache.getline(order.called, line):
            return "input", line, ""
        case ImportError() if line:
            return "import", line, str(error)
        case AttributeError() if isinstance(error.obj, types.ModuleType) and error.obj.__name__ == "work":
            return "missing", None, str(error.name)
    if line:
        return "raised", line, text
    return "unfit", None, text


def _message(error: BaseException) -> str:
    match getattr(error, "body", None):
        case {"error": {"message": str(message)}}:
            return f"{type(error).__name__}: {message}"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _places(error: BaseException) -> list[tuple[str, int]]:
    places, at = [], error.__traceback__
    while at is not None:
        places.append((at.tb_frame.f_code.co_filename, at.tb_lineno))
        at = at.tb_next
    return places


def _line_in(error: BaseException, file: str) -> int | None:
    return next((line for name, line in reversed(_places(error)) if name == file), None)


def _line_in_a_thread(file: str) -> int | None:
    """The line of a file that a thread is executing."""
    for innermost in sys._current_frames().values():
        frame: types.FrameType | None = innermost
        while frame is not None:
            if frame.f_code.co_filename == file:
                return frame.f_lineno
            frame = frame.f_back
    return None


def _refuse_to_fork(called: str, report: CheckReport) -> None:
    """Exit instead of forking, which would run the checks twice. Starting other programs still works."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == called:
            report.add("fork", frame.f_lineno)
            os._exit(1)
        frame = frame.f_back


def _bound_memory() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):  # no such limit, or a lower one
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    main(CheckOrder(**json.loads(sys.argv[1])))
