"""Mutation testing by sample: how many small changes of a package its tests notice.

    python -m benchmarks.mutation_sample                        40 in each package of TESTS; takes hours
    python -m benchmarks.mutation_sample harness/ui/panel -n 10
    python -m benchmarks.mutation_sample harness/ui/panel -n 10 --mirror

First runs the tests of a package once and notes which test calls which function. Then changes one place at a time in a
copy of the tree and runs tests that call the changed function. Prints the unnoticed changes. With `--mirror` only the
tests count that mirror the changed file: a fault there is to be found where a reader looks for it.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pytest

from benchmarks.mutation import ROOT, copied

TESTS: Mapping[str, tuple[str, ...]] = {
    "harness/engine": ("tests/engine", "tests/agent", "tests/session"),
    "harness/session": (
        *("tests/session", "tests/agent", "tests/ui/plain", "tests/ui/commands"),
        *("tests/ui/test_breakers.py", "tests/ui/plain/test_headless_json_answers.py"),
    ),
    "harness/ui/panel": ("tests/ui/panel",),
    "harness/ui/app": ("tests/ui/app",),
    "harness/ui/plain": ("tests/ui/plain",),
}
"""The tests of packages; those of any other are where its name says."""
MOST_TESTS = 40
"""Tests that are run first for one change: half of them the quickest that call its function, half those that call the
fewest functions beside it. If these do not notice it, all tests of the package are run."""
TIME_S = 300
ALL_S = 1_200
LEAST_SHARE = 0.85
CALLS_FILE = "HARNESS_CALLS_FILE"
COMPARISONS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file."""

    file: str
    function: int
    """Line on which the function begins, decorators included."""
    line: int
    start: int
    """Offset in bytes; so is `end`."""
    end: int
    before: str
    after: str

    def applied(self, source: bytes) -> bytes:
        """The changed source."""
        return source[: self.start] + self.after.encode() + source[self.end :]


# ── which test calls which function ─────────────────────────────────────────────────────────────


class Calls:
    """A plugin of pytest that notes the functions that each test calls, and its seconds."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._called: set[tuple[str, int]] = set()

    def _profile(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._called.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Profile one test with its fixtures."""
        self._called.clear()
        began = time.monotonic()
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        yield
        sys.setprofile(None)
        threading.setprofile(None)
        package = str(Path.cwd() / "harness")
        called = sorted({f"{file}:{line}" for file, line in self._called if file.startswith(package)})
        with self._file.open("a", encoding="utf-8") as notes:
            notes.write(json.dumps([item.nodeid, time.monotonic() - began, called]) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    """Where this module is loaded as a plugin."""
    config.pluginmanager.register(Calls(Path(os.environ[CALLS_FILE])))


def tests_of_functions(copy: Path, tests: tuple[str, ...]) -> dict[str, list[str]]:
    """The tests to run for a change of each function ("file:line")."""
    notes = copy / "calls.jsonl"
    if not _pytest(copy, "-p", "benchmarks.mutation_sample", *tests, time_s=None, **{CALLS_FILE: str(notes)}):
        print(f"Some of {', '.join(tests)} fail in the unchanged copy.")
    if not notes.exists():
        raise SystemExit("No test ran.")
    found: dict[str, list[tuple[float, int, str]]] = {}
    for test, seconds, called in map(json.loads, notes.read_text("utf-8").splitlines()):
        for function in called:
            found.setdefault(str(Path(function).relative_to(copy)), []).append((seconds, len(called), test))
    return {function: _chosen(calling) for function, calling in found.items()}


def _chosen(calling: list[tuple[float, int, str]]) -> list[str]:
    quickest = sorted(calling)[: MOST_TESTS // 2]
    narrowest = sorted(set(calling) - set(quickest), key=lambda one: one[1:])[: MOST_TESTS // 2]
    return [test for _, _, test in (*quickest, *narrowest)]


# ── changes ─────────────────────────────────────────────────────────────────────────────────────


def mutants_of(root: Path, package: str) -> Iterator[Mutant]:
    """Every change of the package: comparisons, and/or, not, constants, and calls that are left out."""
    for path in sorted((root / package).rglob("*.py")):
        source = path.read_bytes()
        offsets = [0]
        for line in source.splitlines(keepends=True):
            offsets.append(offsets[-1] + len(line))
        for function in ast.walk(ast.parse(source)):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
            for node in _inside(function):
                if (after := _changed(node)) is not None and node.end_lineno and node.end_col_offset:
                    start = offsets[node.lineno - 1] + node.col_offset
                    end = offsets[node.end_lineno - 1] + node.end_col_offset
                    place = (str(path.relative_to(root)), first, node.lineno, start, end)
                    yield Mutant(*place, source[start:end].decode(), after)


def _inside(function: ast.AST) -> Iterator[Any]:
    """The nodes of a function, without those of functions in it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.arguments):
            yield child
            yield from _inside(child)


def _changed(node: ast.AST) -> str | None:
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in COMPARISONS:
            return f"({ast.unparse(ast.Compare(left, [COMPARISONS[type(operator)]()], [right]))})"
        case ast.BoolOp(operator, values):
            return f"({ast.unparse(ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values))})"
        case ast.UnaryOp(ast.Not(), operand):
            return f"({ast.unparse(operand)})"
        case ast.Constant(bool(value)):
            return str(not value)
        case ast.Constant(int(value)):
            return str(value + 1)
        case ast.Expr(ast.Call() | ast.Await()):
            return "pass"
        case _:
            return None


# ── runs ────────────────────────────────────────────────────────────────────────────────────────


def _pytest(copy: Path, *arguments: str, time_s: float | None, **environment: str) -> bool:
    """Run tests in the copy; True when all of them passed."""
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "--tb=no", "-p", "no:cacheprovider", *arguments]
    try:
        given = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"} | environment
        done = subprocess.run(command, cwd=copy, env=given, stdout=subprocess.DEVNULL, timeout=time_s, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def mirrors_of(root: Path, file: str) -> tuple[str, ...]:
    """The tests that mirror a file: those with its name, or else those of its folder."""
    path = Path(file.removeprefix("harness/"))
    folders = [root / "tests" / path.parent, root / "tests" / path.with_suffix("")]
    found = [
        test
        for folder in folders
        for test in sorted({*folder.glob(f"test_{path.stem}.py"), *folder.glob(f"test_{path.stem}_*.py")})
    ]
    if not found:
        folder = next(one for one in (folders[0], *folders[0].parents) if one.is_dir())
        found = sorted(folder.glob("test_*.py"))
    return tuple(str(test.relative_to(root)) for test in found)


def survivors_of(copy: Path, package: str, number: int, seed: int, *, mirror: bool = False) -> tuple[int, list[Mutant]]:
    """How many changes were tried, and those that no test noticed."""
    if mirror:
        return _survivors(
            copy,
            package,
            number,
            seed,
            lambda mutant: _pytest(copy, "-x", *mirrors_of(copy, mutant.file), time_s=TIME_S),
        )
    named = TESTS.get(package) or (f"tests/{package.removeprefix('harness/')}",)
    there = tuple(test for test in named if (copy / test).exists())
    tests = tests_of_functions(copy, there)

    def unnoticed(mutant: Mutant) -> bool:
        covering = tests.get(f"{mutant.file}:{mutant.function}", [])
        # A function that only other processes enter has no covering tests, but may be pinned all the same.
        passed = not covering or _pytest(copy, "-x", *covering, time_s=TIME_S)
        return passed and _pytest(copy, "-x", "-n2", *there, time_s=ALL_S)

    return _survivors(copy, package, number, seed, unnoticed)


def _survivors(
    copy: Path, package: str, number: int, seed: int, unnoticed: Callable[[Mutant], bool]
) -> tuple[int, list[Mutant]]:
    every = list(mutants_of(copy, package))
    chosen = Random(seed).sample(every, min(number, len(every)))
    survivors = []
    for count, mutant in enumerate(chosen, 1):
        file = copy / mutant.file
        source = file.read_bytes()
        file.write_bytes(mutant.applied(source))
        try:
            survived = unnoticed(mutant)
        finally:
            file.write_bytes(source)
        if survived:
            survivors.append(mutant)
        print(f"\r{package}: {count - len(survivors)} of {count} noticed", end="", flush=True)
    print()
    return len(chosen), survivors


def main() -> int:
    """Print each package's share and the unnoticed changes; exit code 1 below 85 %."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation_sample", description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", default=list(TESTS), metavar="PACKAGE", help="such as harness/tools")
    parser.add_argument("-n", "--number", type=int, default=40, help="changes in each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mirror", action="store_true", help="run only the tests that mirror the changed file")
    options = parser.parse_args()
    if unknown := [package for package in options.packages if not (ROOT / package).is_dir()]:
        parser.error(f"there is no package {', '.join(unknown)}")
    low = False
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(ROOT, Path(folder) / "tree")
        for package in options.packages:
            tried, survivors = survivors_of(copy, package, options.number, options.seed, mirror=options.mirror)
            share = 1 - len(survivors) / max(1, tried)
            low = low or share < LEAST_SHARE
            print(f"{package:<20} {share:.0%} of {tried}")
            for mutant in survivors:
                before, after = (" ".join(text.split())[:80] for text in (mutant.before, mutant.after))
                print(f"  {mutant.file}:{mutant.line}  {before}  ->  {after}")
    return int(low)


if __name__ == "__main__":
    sys.exit(main())
