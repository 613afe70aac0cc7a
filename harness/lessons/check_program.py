"""Runs the checks of an exercise against a learner's file, as a program of its own.

It imports the standard library only and is started by path: what the checks need they import themselves. Code that is
being learnt may do anything, so every way in which it can fail is written down as it happens.

Argument: one JSON object, the fields of `Order`. Report: lines of JSON `{"check", "state", "line", "text"}` in the
file `report`; `check` is empty while the learner's file is loaded, `state` is "begun", "passed", or a value of
`harness.lessons.checker.Trouble`, `line` is one of the learner's file or null. The last one is "ended". When a check
takes longer than `check_s`, the stacks are written into the file `stacks` and the program ends.
"""

import contextlib
import faulthandler
import gc
import inspect
import json
import linecache
import os
import sys
import types
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn, TextIO

MEMORY_BYTES = 2 * 1024**3
"""Address space of this process, where the system can bound it."""
MESSAGE_CHARACTERS = 2_000
SECOND_LOOK_S = 1.0
"""A check that awaits gets its time limit as an exception, which shows the place; this much later the program ends."""


@dataclass(frozen=True)
class Order:
    """What is to be checked."""

    file: str
    """The learner's file."""
    check: str
    """The file with the checks."""
    names: list[str]
    """Names of the check functions, in their order."""
    report: str
    stacks: str
    check_s: float
    """Time for each check, and for loading, in seconds."""

    @property
    def called(self) -> str:
        """The learner's file in tracebacks: short and without its folder, whose name may hold any characters."""
        return Path(self.file).name


class Report:
    """What happened so far, in a file that outlives this process."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.check = ""
        """What is running."""

    def begin(self, check: str) -> None:
        """This check begins."""
        self.check = check
        self.say("begun")

    def say(self, state: str, line: int | None = None, text: str = "") -> None:
        """How what is running stands."""
        told = {"check": self.check, "state": state, "line": line, "text": text[:MESSAGE_CHARACTERS]}
        self._file.write(json.dumps(told) + "\n")
        self._file.flush()


@dataclass(frozen=True)
class Watchdog:
    """Ends the program when something takes too long, whatever it does."""

    stacks: TextIO
    seconds: float

    @contextlib.contextmanager
    def watching(self, *, awaits: bool) -> Iterator[None]:
        """Watch over a block; one that `awaits` ends by itself where it can."""
        patience = SECOND_LOOK_S if awaits else 0.0
        faulthandler.dump_traceback_later(self.seconds + patience, exit=True, file=self.stacks)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def main(order: Order) -> NoReturn:
    """Load both files, run every check, and end without waiting for what the code left running."""
    with Path(order.report).open("w", encoding="utf-8") as file, Path(order.stacks).open("w") as stacks:
        report, watchdog = Report(file), Watchdog(stacks, order.check_s)
        os.register_at_fork(before=lambda: _refuse_to_fork(order.called, report))
        _bound_memory()
        report.begin("")
        work = _tried(partial(_loaded, order.file, order.called, "work"), order, report, watchdog)
        if isinstance(work, types.ModuleType):
            checks = _loaded_at_once(order.check)
            for name in order.names:
                report.begin(name)
                awaits = inspect.iscoroutinefunction(getattr(checks, name))
                _tried(partial(_run, checks, name, work, order.check_s), order, report, watchdog, awaits=awaits)
        report.check = ""
        report.say("ended")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _tried(
    action: Callable[[], object], order: Order, report: Report, watchdog: Watchdog, *, awaits: bool = False
) -> object:
    """What the action returns; its failure is reported."""
    try:
        with watchdog.watching(awaits=awaits):
            result = action()
    except BaseException as error:  # noqa: BLE001 (the border: whatever a learner's code raises is explained)
        state, line, text = _explained(error, order)
        report.say(state, line, text)
        return None
    report.say("passed")
    return result


def _loaded(path: str, called: str, name: str) -> types.ModuleType:
    """A module made of a file, whose code says in tracebacks that it is `called` so."""
    source = Path(path).read_bytes()
    if b"\0" in source:  # which Python says in one way or another, by its version
        raise SyntaxError("a null byte is in it", (called, None, None, None))
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    text = source.decode("utf-8", "replace")
    linecache.cache[called] = (len(text), None, text.splitlines(keepends=True), called)
    exec(compile(source, called, "exec"), vars(module))
    return module


def _loaded_at_once(check: str) -> types.ModuleType:
    """The module of the checks. What it imports stays, so the collector does not look through it again and again."""
    gc.disable()
    try:
        return _loaded(check, check, "check")
    finally:
        gc.freeze()
        gc.enable()


def _run(checks: types.ModuleType, name: str, work: types.ModuleType, seconds: float) -> None:
    check = getattr(checks, name)
    if inspect.iscoroutinefunction(check):
        import asyncio  # it takes as long as all else that is imported here, and few checks need it

        asyncio.run(_within(check(work), seconds))
    else:
        check(work)


async def _within(check: Awaitable[None], seconds: float) -> None:
    from asyncio import timeout

    async with timeout(seconds):
        await check


def _explained(error: BaseException, order: Order) -> tuple[str, int | None, str]:
    """The state, the line of the learner's file, and a text."""
    line = _line_in(error, order.called)
    last = _places(error)[-1:]
    text = _words(error)
    match error:
        case SyntaxError(filename=order.called):
            return "syntax", error.lineno, str(error.msg)
        case AssertionError() if last and last[0][0] == order.check:
            return "assertion", line, str(error) or linecache.getline(*last[0]).strip()
        case SystemExit():
            return "exit", line, ""
        case TimeoutError(__cause__=BaseException() as cause) if type(cause).__name__ == "CancelledError":
            line = _line_in(cause, order.called) or _line_in_a_thread(order.called)
            return "endless", line, f"{order.check_s:g}"
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


def _words(error: BaseException) -> str:
    """Type and text. An error of the SDK repeats the whole body of the answer, and what it says in it is enough."""
    match getattr(error, "body", None):
        case {"error": {"message": str(message)}}:
            return f"{type(error).__name__}: {message}"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _places(error: BaseException) -> list[tuple[str, int]]:
    """File and line of every call on the way to where the error was raised."""
    places, at = [], error.__traceback__
    while at is not None:
        places.append((at.tb_frame.f_code.co_filename, at.tb_lineno))
        at = at.tb_next
    return places


def _line_in(error: BaseException, file: str) -> int | None:
    """The innermost line of a file on the way to where the error was raised."""
    return next((line for name, line in reversed(_places(error)) if name == file), None)


def _line_in_a_thread(file: str) -> int | None:
    """The line of a file that some thread is in at this moment."""
    for innermost in sys._current_frames().values():
        frame: types.FrameType | None = innermost
        while frame is not None:
            if frame.f_code.co_filename == file:
                return frame.f_lineno
            frame = frame.f_back
    return None


def _refuse_to_fork(called: str, report: Report) -> None:
    """A copy of this process would run the checks a second time; a loop of copies would bring the machine down.

    Starting another program makes no such copy and goes on as ever.
    """
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == called:
            report.say("fork", frame.f_lineno)
            os._exit(1)
        frame = frame.f_back


def _bound_memory() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):  # the system has no such bound, or a lower one
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    main(Order(**json.loads(sys.argv[1])))
