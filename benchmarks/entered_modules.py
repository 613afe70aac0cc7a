"""Count the modules that one prompt enters: the modules of harness with at least one function call.

    python -m benchmarks.entered_modules            the modules of one turn, from `Agent.run` to its last event
    python -m benchmarks.entered_modules --whole    those of a whole run of the program
    python -m benchmarks.entered_modules --calls    with the calls in each

Runs `harness -p "read README.md" --practice --yolo` in this process, in a folder of its own: the turn of a session that
is open, without the practice server, or the whole through the command line. Calls during imports and comprehensions do
not count; lambdas and generators do.
"""

import argparse
import asyncio
import contextlib
import inspect
import io
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

PROMPT = "read README.md"
ARGUMENTS = ("-p", PROMPT, "--practice", "--yolo")
PACKAGE = Path(__file__).parents[1] / "harness"
NOT_FUNCTIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


@contextlib.contextmanager
def _counting(calls: Counter[CodeType]) -> Iterator[None]:
    """Count the calls of functions in all threads."""
    importing = threading.local()

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code.co_name == "<module>" and event in ("call", "return"):
            importing.depth = getattr(importing, "depth", 0) + (1 if event == "call" else -1)
        elif event == "call" and not getattr(importing, "depth", 0):
            calls[code] += 1

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@contextlib.contextmanager
def _folder() -> Iterator[None]:
    before = os.getcwd()  # noqa: PTH109
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "README.md").write_text("# A project\n\nIts first page.\n", "utf-8")
        os.environ["HARNESS_STATE_DIR"] = str(Path(folder, "state"))
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def of_program() -> Counter[str]:
    """The modules of a whole run with the calls of their functions; the exit code has to be 0."""
    from harness.cli.main import main

    calls: Counter[CodeType] = Counter()
    with _folder(), contextlib.redirect_stdout(io.StringIO()) as printed, _counting(calls):
        code = main(ARGUMENTS)
    if code:
        raise SystemExit(f"The prompt ended with {code}: {printed.getvalue()}")
    return _by_module(calls)


async def of_turn() -> Counter[str]:
    """The same from `Agent.run` to the last event of the turn, without the practice server."""
    from harness.session import open_session

    calls: Counter[CodeType] = Counter()
    with _folder():
        async with await open_session(practice=True, permission_mode="yolo") as session:
            with _counting(calls):
                async for _ in session.run(PROMPT):
                    pass
    found = _by_module(calls)
    return Counter({module: found[module] for module in found if not module.startswith("harness/practice/")})


def _by_module(calls: Counter[CodeType]) -> Counter[str]:
    found: Counter[str] = Counter()
    for called, times in calls.items():
        file = Path(called.co_filename)
        function = called.co_flags & inspect.CO_OPTIMIZED and called.co_name not in NOT_FUNCTIONS
        if function and file.is_relative_to(PACKAGE):
            found[str(file.relative_to(PACKAGE.parent))] += times
    return found


def main() -> int:
    """Print the number of modules and their names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.entered_modules", description=__doc__.splitlines()[0])
    parser.add_argument("--whole", action="store_true", help="the whole program, not only its turn")
    parser.add_argument("--calls", action="store_true", help="show how often functions of each module were called")
    options = parser.parse_args()
    found = of_program() if options.whole else asyncio.run(of_turn())
    for module, times in sorted(found.items()):
        print(f"{times:8,}  {module}" if options.calls else module)
    print(f"{len(found)} modules entered")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
