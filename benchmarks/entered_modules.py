"""Count the modules that one prompt enters: those of harness in which a function is called.

    python -m benchmarks.entered_modules            the numbers and the list
    python -m benchmarks.entered_modules --calls    with the calls in each

Runs `harness -p "read README.md" --practice --yolo` in this process through the real command line, in a folder of its
own. What runs while a module is imported does not count, nor do comprehensions; lambdas and generators do. Modules that
are entered between `Agent.run` and the end of the session are marked, those of front end and practice server left out.
"""

import argparse
import contextlib
import inspect
import io
import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

ARGUMENTS = ("-p", "read README.md", "--practice", "--yolo")
PACKAGE = Path(__file__).parents[1] / "harness"
NOT_FUNCTIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
AROUND = ("harness/practice/", "harness/ui/", "harness/cli/")
"""Folders whose code runs beside a turn and is no part of it."""


class Calls:
    """Counts the calls of functions, those of a turn apart."""

    def __init__(self) -> None:
        self.all: Counter[CodeType] = Counter()
        self.of_turn: Counter[CodeType] = Counter()
        self._turn_runs = False
        self._importing = threading.local()

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        """Receive what `sys.setprofile` reports."""
        code = frame.f_code
        if code.co_name == "<module>" and event in ("call", "return"):
            self._importing.depth = getattr(self._importing, "depth", 0) + (1 if event == "call" else -1)
        elif event == "call" and not getattr(self._importing, "depth", 0):
            if code.co_qualname in ("Agent.run", "Session.aclose"):
                self._turn_runs = code.co_name == "run"
            self.all[code] += 1
            if self._turn_runs:
                self.of_turn[code] += 1


def entered(arguments: tuple[str, ...] = ARGUMENTS) -> tuple[Counter[str], Counter[str]]:
    """The modules with the calls of their functions: of the whole run, and of its turn. The exit code has to be 0."""
    calls = Calls()

    from harness.cli.main import main

    before = os.getcwd()  # noqa: PTH109
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
        Path(folder, "README.md").write_text("# A project\n\nIts first page.\n", "utf-8")
        os.environ["HARNESS_STATE_DIR"] = str(Path(folder, "state"))
        os.chdir(folder)
        threading.setprofile(calls.profile)
        sys.setprofile(calls.profile)
        try:
            code = main(arguments)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            os.chdir(before)
    if code:
        raise SystemExit(f"The prompt ended with {code}: {printed.getvalue()}")
    of_turn = _by_module(calls.of_turn)
    return _by_module(calls.all), Counter({one: of_turn[one] for one in of_turn if not one.startswith(AROUND)})


def _by_module(calls: Counter[CodeType]) -> Counter[str]:
    found: Counter[str] = Counter()
    for called, times in calls.items():
        file = Path(called.co_filename)
        function = called.co_flags & inspect.CO_OPTIMIZED and called.co_name not in NOT_FUNCTIONS
        if function and file.is_relative_to(PACKAGE):
            found[str(file.relative_to(PACKAGE.parent))] += times
    return found


def main() -> int:
    """Print the modules and their numbers; those that the turn enters have an asterisk."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.entered_modules", description=__doc__.splitlines()[0])
    parser.add_argument("--calls", action="store_true", help="show how often functions of each module were called")
    options = parser.parse_args()
    found, of_turn = entered()
    for module, times in sorted(found.items()):
        sign = "*" if module in of_turn else " "
        print(f"{times:8,} {of_turn[module]:8,} {sign} {module}" if options.calls else f"{sign} {module}")
    print(f"{len(found)} modules entered, {len(of_turn)} of them from Agent.run without practice server and front end")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
