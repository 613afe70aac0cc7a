"""grep on real trees."""

import asyncio
import os
import re
import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import FailureCategory, ToolOutcome
from harness.processes import ProcessLimits
from harness.tools.grep import WORKER, grep_tool
from harness.tools.tool import ToolContext, ToolResult
from harness.tools.workspace import Workspace
from tests.processes.traces import until
from tests.tools.searching import call, grep, make, withholding

pytestmark = pytest.mark.anyio


async def test_path_and_glob_go_together(context: ToolContext, root: Path) -> None:
    make(root, {"src/a.py": "x", "src/d/b.py": "x", "src/c.md": "x", "e.py": "x"})
    for glob, names in {
        "*.py": "a.py d/b.py",
        "/*.py": "a.py",
        "src/*.py": "a.py",
        "!*.py": "c.md",
        "d/**": "d/b.py",
    }.items():
        result = await grep(context, "x", path="src", glob=glob, files_only=True)
        assert result.content.split() == [f"src/{name}" for name in names.split()], glob


async def test_grep_answers_with_path_line_and_text(context: ToolContext, root: Path) -> None:
    make(root, {"a.py": "import os\nx = 1\n", "d/b.py": "X = 2\r\n", "c.txt": "x = 3\n"})
    result = await grep(context, r"^x = \d", ignore_case=True, glob="**/*.py")
    assert result == ToolResult("a.py:2:x = 1\nd/b.py:1:X = 2", summary="2 matches")
    assert (await grep(context, "x", path="c.txt")).content == "c.txt:1:x = 3"
    assert (await grep(context, "x", files_only=True)).content == "a.py\nc.txt"


async def test_context_lines_surround_a_match(context: ToolContext, root: Path) -> None:
    make(root, {"f": "".join(f"{n}\n" for n in range(1, 21))})
    result = await grep(context, r"^(5|6|15)$", context=1)
    assert result.content.split() == ["f-4-4", "f:5:5", "f:6:6", "f-7-7", "--", "f-14-14", "f:15:15", "f-16-16"]


LINES = st.lists(st.sampled_from(["x", "y", "xy", "", "z"]), min_size=1, max_size=15)


def shown_of(name: str, lines: list[str], context: int) -> list[str]:
    """Output of a naive search for x in a file."""
    hits = [n for n, line in enumerate(lines) if "x" in line]
    near = [n for n in range(len(lines)) if any(abs(n - hit) <= context for hit in hits)]
    marks = [":" if n in hits else "-" for n in near]
    return [f"{name}{mark}{n + 1}{mark}{lines[n]}" for n, mark in zip(near, marks, strict=True)]


@settings(max_examples=8, deadline=None)
@given(files=st.lists(LINES, min_size=1, max_size=5), context=st.integers(0, 3))
def test_grep_shows_each_line_once_as_a_naive_search_would(files: list[list[str]], context: int) -> None:
    named = {f"f{number}": lines for number, lines in enumerate(files)}
    with TemporaryDirectory() as folder:
        root = Path(folder)
        make(root, {name: "\n".join(lines) + "\n" for name, lines in named.items()})
        call = ToolContext(Workspace(root), root / "outputs", "id")
        result = asyncio.run(grep(call, "x", context=context))
    expected = [line for name, lines in named.items() for line in shown_of(name, lines, context)]
    shown = [line for line in result.content.splitlines() if line != "--"]
    assert shown == (expected or [f"No match in {len(files)} file{'s' * (len(files) != 1)}."])


async def test_an_empty_file_has_no_line_and_a_large_one_is_searched_by_pieces(
    context: ToolContext, root: Path
) -> None:
    make(root, {"empty": "", "large": "x" * 2_500_000 + "\nneedle\n", "one": "\n"})
    assert (await grep(context, "^$")).content == "one:1:"
    assert (await grep(context, "^needle$")).content == "large:2:needle"


async def test_binary_files_are_skipped_and_odd_bytes_are_not(context: ToolContext, root: Path) -> None:
    (root / "bin").write_bytes(b"needle\0")
    (root / "latin").write_bytes(b"caf\xe9 needle\n")
    (root / "new\nline").write_text("needle\n")
    result = await grep(context, "needle")
    assert result.content == "latin:1:caf\ufffd needle\nnew\nline:1:needle"


async def test_matches_are_capped_and_long_lines_cut_around_the_match(context: ToolContext, root: Path) -> None:
    make(root, {"f": "x\n" * 50, "long": "a" * 5_000 + "needle" + "b" * 5_000})
    result = await call(grep_tool(most_matches=10), context, {"pattern": "x"})
    assert len(result.content.splitlines()) == 11
    assert "[Stopped at 10 matches" in result.content
    cut = (await grep(context, "needle")).content
    assert "needle" in cut
    assert len(cut) < 500


async def test_a_bad_expression_is_explained(context: ToolContext, root: Path) -> None:
    make(root, {"f": "x"})
    result = await grep(context, "(x")
    assert result.outcome is ToolOutcome.ERROR
    assert "'(x' is not a usable regular expression: missing ), unterminated subpattern" in result.content


async def test_an_expression_that_never_ends_is_ended(context: ToolContext, root: Path, limits: ProcessLimits) -> None:
    make(root, {"a": "needle\n", "b": "a" * 60 + "b\n"})
    started = time.monotonic()
    tool = grep_tool(replace(limits, time_s=1.0))
    result = await call(tool, context, {"pattern": "needle|(a+)+$"})
    assert time.monotonic() - started < 10
    assert result.outcome is ToolOutcome.BROKEN
    assert result.content.startswith("a:1:needle\n[The search took longer than 1 s")


async def test_a_search_whose_process_is_killed_has_failed(
    context: ToolContext, root: Path, limits: ProcessLimits
) -> None:
    make(root, {"b": "a" * 60 + "b\n"})
    search = asyncio.create_task(call(grep_tool(limits), context, {"pattern": "(a+)+$"}))
    await until(lambda: bool(_searching(root)))
    os.kill(_searching(root)[0], signal.SIGKILL)
    result = await search
    assert (result.outcome, result.category) == (ToolOutcome.BROKEN, FailureCategory.KILLED)


def _searching(folder: Path) -> list[int]:
    """The processes that search in this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if os.fsencode(WORKER) in words and (process / "cwd").readlink() == folder:
                found.append(int(process.name))
    return found


async def test_a_search_can_be_cancelled(context: ToolContext, root: Path, limits: ProcessLimits) -> None:
    make(root, {"b": "a" * 60 + "b\n"})
    tool = grep_tool(limits)
    task = asyncio.create_task(call(tool, context, {"pattern": "(a+)+$"}))
    await until(lambda: bool(_searching(root)))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not _searching(root))


async def test_a_search_leaves_no_file_behind_it(context: ToolContext, root: Path) -> None:
    make(root, {"f": "x"})
    await grep(context, "x")
    assert not context.outputs.exists()
    assert re.fullmatch(r"f", ",".join(path.name for path in root.iterdir()))


async def test_grep_leaves_out_what_is_withheld_and_says_so(context: ToolContext, root: Path) -> None:
    make(root, {"a.txt": "TOKEN a", ".env": "TOKEN b", "src/.env": "TOKEN c"})
    (root / "link.txt").symlink_to(".env")
    for input in ({}, {"glob": "**/.env"}, {"path": "src"}):
        result = await grep(withholding(context), "TOKEN", **input)
        assert "TOKEN b" not in result.content
        assert "TOKEN c" not in result.content
        assert "[Not searched, because a rule forbids it or it may hold keys:" in result.content
    named = await grep(withholding(context), "TOKEN", path=".env")
    assert "TOKEN b" in named.content
    assert "Not searched" not in named.content


async def test_grep_is_silent_where_nothing_is_withheld(context: ToolContext, root: Path) -> None:
    make(root, {"a.txt": "TOKEN"})
    assert "Not searched" not in (await grep(withholding(context), "TOKEN")).content
