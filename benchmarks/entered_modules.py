"""Count the modules that one prompt enters: those of harness in which a function is called.

    python -m benchmarks.entered_modules            the number and the list
    python -m benchmarks.entered_modules --calls    with the calls in each

Runs `harness -p "read README.md" --practice --yolo` in this process through the real command line, in a folder of its
own. What runs while a module is imported does not count, nor do comprehensions; lambdas and generators do.
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


def entered(arguments: tuple[str, ...] = ARGUMENTS) -> Counter[str]:
    """The modules with the calls of their functions; the exit code has to be 0."""
    calls: Counter[CodeType] = Counter()
    importing = threading.local()

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code.co_name == "<module>" and event in ("call", "return"):
            importing.depth = getattr(importing, "depth", 0) + (1 if event == "call" else -1)
        elif event == "call" and not getattr(importing, "depth", 0):
            calls[code] += 1

    from harness.cli.main import main

    before = os.getcwd()  # noqa: PTH109
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
        Path(folder, "README.md").write_text("# A project\n\nIts first page.\n", "utf-8")
        os.environ["HARNESS_STATE_DIR"] = str(Path(folder, "state"))
        os.chdir(folder)
        threading.setprofile(profile)
        sys.setprofile(profile)
        try:
            code = main(arguments)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            os.chdir(before)
    if code:
        raise SystemExit(f"The prompt ended with {code}: {printed.getvalue()}")
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
    parser.add_argument("--calls", action="store_true", help="show how often functions of each module were called")
    options = parser.parse_args()
    found = entered()
    for module, times in sorted(found.items()):
        print(f"{times:8,}  {module}" if options.calls else module)
    print(f"{len(found)} modules entered")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
