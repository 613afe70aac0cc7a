"""glob and grep on real trees."""

import asyncio
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import FailureCategory, Json, ToolOutcome
from harness.processes import ProcessLimits
from harness.tools.glob import glob_tool
from harness.tools.glob_patterns import compile_glob
from harness.tools.grep import WORKER, grep_tool
from harness.tools.grep_worker import may_match
from harness.tools.ignored_files import walk_files
from harness.tools.read_file import read_file_tool
from harness.tools.tool import Tool, ToolContext, ToolError, ToolResult
from harness.tools.workspace import Workspace

pytestmark = pytest.mark.anyio


async def call(tool: Tool, context: ToolContext, input: Json) -> ToolResult:
    return await tool.run(context, tool.parse(input))


async def glob(context: ToolContext, pattern: str, path: str = ".") -> ToolResult:
    return await call(glob_tool(), context, {"pattern": pattern, "path": path})


async def grep(context: ToolContext, pattern: str, /, **more: object) -> ToolResult:
    return await call(grep_tool(), context, {"pattern": pattern, **more})


def make(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


parts = st.sampled_from(["a", "b", "ab", ".c", "a.py", "b.py", "[x]"])
paths = st.lists(parts, min_size=1, max_size=4).map("/".join)
pattern_parts = st.sampled_from(["**", "*", "a", "?", "*.py", "a*", "[ab]", "[!a]", "[ab].py", ".*", "*b*"])
patterns = st.lists(pattern_parts, min_size=1, max_size=4).map("/".join)


def naive_match(path: list[str], pattern: list[str]) -> bool:
    """The oracle: fnmatch for each name, and `**` tried with every number of folders."""
    match pattern:
        case []:
            return not path
        case ["**"]:
            return bool(path)
        case ["**", *rest]:
            return any(naive_match(path[skip:], rest) for skip in range(len(path)))
        case [first, *rest]:
            return bool(path) and fnmatchcase(path[0], first) and naive_match(path[1:], rest)
    raise AssertionError


@settings(max_examples=60, deadline=None)
@given(tree=st.sets(paths, max_size=10), pattern=patterns)
def test_glob_finds_what_a_naive_search_finds(tree: set[str], pattern: str) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name in tree:
            try:
                make(root, {name: ""})
            except OSError:
                continue  # a file and a folder of one name
        context = ToolContext(Workspace(root), root / "outputs", "id")
        result = asyncio.run(glob(context, pattern))
        found = set(result.content.splitlines()) if result.summary != "no file" else set()
        everything = {
            str((Path(where) / name).relative_to(root)) for where, _, names in os.walk(root) for name in names
        }
    parts = pattern.split("/") if "/" in pattern else ["**", pattern]
    assert found == {name for name in everything if naive_match(name.split("/"), parts)}


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.{py,toml}", ["a.py", "b.toml", "d/a.py"], ["a.txt"]),
        ("/*.py", ["a.py"], ["d/a.py"]),
        ("!*.md", ["a.py", "md"], ["a.md", "d/a.md", "d.md/a.py"]),
        ("!build/", ["build", "a.py"], ["build/a", "d/build/a"]),
        ("app/[id]/page.tsx", ["app/[id]/page.tsx", "app/i/page.tsx"], ["app/id/page.tsx"]),
        ("app/[id]/*.{ts,tsx}", ["app/[id]/page.tsx", "app/d/a.ts"], ["app/[id]/page.js"]),
        ("{{name}}/*.py", ["{{name}}/a.py", "name/a.py"], ["{{name}/a.py"]),
        ("\\[id\\].py", ["[id].py", "d/[id].py"], ["i.py"]),
        ("[[:digit:]]*", ["1a", "d/1"], ["a1"]),
        ("{src,tests/{a,b}}/*.py", ["src/x.py", "tests/b/x.py"], ["tests/c/x.py"]),
        ("src/**", ["src/a", "src/b/c"], ["src", "other/a"]),
        ("./a", ["a"], []),
        ("[]]", ["]"], ["a"]),
        ("[", ["["], []),
        ("a{b", ["a{b"], []),
        ("[\\d]", ["d", "a/d"], ["5"]),
    ],
)
async def test_patterns_by_example(pattern: str, yes: list[str], no: list[str]) -> None:
    matcher = compile_glob(pattern)
    assert [path for path in [*yes, *no] if matcher.fits(path)] == yes


async def test_a_pattern_that_is_none_is_refused() -> None:
    for pattern in ("", "!", "/", "a\\"):
        with pytest.raises(ToolError, match="glob pattern"):
            compile_glob(pattern)
    with pytest.raises(ToolError, match="choices"):
        compile_glob("{a,b}" * 12)


async def test_the_newest_file_comes_first(context: ToolContext, root: Path) -> None:
    make(root, {"old.py": "", "new.py": "", "middle.py": ""})
    for age, name in enumerate(["new.py", "middle.py", "old.py"]):
        os.utime(root / name, (1_000_000 - age, 1_000_000 - age))
    result = await glob(context, "*.py")
    assert result == ToolResult("new.py\nmiddle.py\nold.py", summary="3 files")


async def test_too_many_files_are_capped_with_a_note(context: ToolContext, root: Path) -> None:
    make(root, {f"{n}.txt": "" for n in range(8)})
    result = await call(glob_tool(most_files=5), context, {"pattern": "*"})
    assert len(result.content.splitlines()) == 6
    assert "[3 more" in result.content
    assert result.summary == "8 files"


async def test_very_long_names_are_shortened_too(context: ToolContext, root: Path) -> None:
    make(root, {f"{'d' * 200}/{'e' * 200}/{n:03}{'f' * 200}": "" for n in range(100)})
    result = await glob(context, "**")
    assert len(result.content) <= 50_000
    assert result.full_output is not None
    assert len(result.full_output.read_text().splitlines()) == 100


async def test_an_ignored_folder_is_searched_when_it_is_named(context: ToolContext, root: Path) -> None:
    make(root, {".gitignore": "build/\n", "build/x.py": "", "src/x.py": "", ".git/x.py": ""})
    assert (await glob(context, "**/*.py")).content == "src/x.py"
    for where in ({"pattern": "*.py", "path": "build"}, {"pattern": "build/*.py"}, {"pattern": "build/**"}):
        assert (await call(glob_tool(), context, where)).content == "build/x.py"
    assert (await grep(context, "^", glob="build/*.py")).summary == "no match"
    (root / "build/x.py").write_text("x\n")
    assert (await grep(context, "x", glob="build/*.py")).content == "build/x.py:1:x"


async def test_ignored_files_that_would_fit_are_named(context: ToolContext, root: Path) -> None:
    make(root, {".gitignore": "node_modules/\n*.log\n", "node_modules/a/package.json": "", "a.log": "x", "b.txt": "x"})
    found = await glob(context, "node_modules/**/package.json")
    assert found.content == "node_modules/a/package.json"
    found = await glob(context, "**/package.json")
    assert found.content == (
        "No file matches **/package.json in the workspace. Not searched, because .gitignore excludes them: "
        "node_modules/. To search one, name it in path."
    )
    assert (await grep(context, "x", glob="*.log")).content.endswith(
        "a.log, node_modules/. To search one, name it in path."
    )
    found = await glob(context, "[ab].*")
    assert found.content == "b.txt\n[Left out, because .gitignore excludes them: a.log.]"
    assert (await grep(context, "x", glob="[ab].*")).content.endswith("excludes them: a.log.]")


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


async def test_nothing_found_and_wrong_folders_are_reported(context: ToolContext, root: Path) -> None:
    make(root, {"a/b.py": ""})
    assert (await glob(context, "*.py")).content == "a/b.py"
    assert (await glob(context, "*.md")).content == "No file matches *.md in the workspace."
    assert (await glob(context, "*.md", path="a/.")).content == "No file matches *.md in a/."
    assert "a/** matches what is in them." in (await glob(context, "a/")).content
    assert "There is no folder c." in (await glob(context, "*", path="c")).content
    assert "is a file" in (await glob(context, "*", path="a/b.py")).content
    assert "outside the workspace" in (await glob(context, "*", path="..")).content


async def test_links_to_folders_are_not_followed(context: ToolContext, root: Path, tmp_path: Path) -> None:
    make(tmp_path, {"outside/secret.txt": "password"})
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "circle").symlink_to(root)
    (root / "file").symlink_to(tmp_path / "outside" / "secret.txt")
    assert (await glob(context, "**/*.txt")).summary == "no file"
    assert (await grep(context, "password")).summary == "no match"


async def test_grep_answers_with_path_line_and_text(context: ToolContext, root: Path) -> None:
    make(root, {"a.py": "import os\nx = 1\n", "d/b.py": "X = 2\r\n", "c.txt": "x = 3\n"})
    result = await grep(context, r"^x = \d", ignore_case=True, glob="**/*.py")
    assert result == ToolResult("a.py:2:x = 1\nd/b.py:1:X = 2", summary="2 matches")
    assert (await grep(context, "x", path="c.txt")).content == "c.txt:1:x = 3"
    assert (await grep(context, "x", files_only=True)).content == "a.py\nc.txt"


async def test_context_lines_stand_around_a_match(context: ToolContext, root: Path) -> None:
    make(root, {"f": "".join(f"{n}\n" for n in range(1, 21))})
    result = await grep(context, r"^(5|6|15)$", context=1)
    assert result.content.split() == ["f-4-4", "f:5:5", "f:6:6", "f-7-7", "--", "f-14-14", "f:15:15", "f-16-16"]


LINES = st.lists(st.sampled_from(["x", "y", "xy", "", "z"]), min_size=1, max_size=15)


def shown_of(name: str, lines: list[str], context: int) -> list[str]:
    """What a naive search for x shows of a file."""
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
    async with asyncio.timeout(20):
        while not (found := _searching(root)):  # noqa: ASYNC110  another process has no event for us
            await asyncio.sleep(0.02)
    os.kill(found[0], signal.SIGKILL)
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
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_walk_ends_when_it_is_stopped(root: Path) -> None:
    make(root, {f"{n}/f": "" for n in range(20)})
    answers: Iterator[bool] = iter([False] * 4 + [True] * 100)
    assert len(list(walk_files(root, root, lambda: next(answers)))) < 5


async def test_names_that_are_not_utf8_can_be_sent(context: ToolContext, root: Path) -> None:
    Path(os.fsdecode(bytes(root) + b"/caf\xe9.txt")).write_text("needle\n")
    assert (await glob(context, "*.txt")).content == "caf\\xe9.txt"
    assert (await grep(context, "needle")).content == "caf\\xe9.txt:1:needle"
    assert "caf\\xe9.txt" in (await call(read_file_tool(), context, {"path": "."})).content


@pytest.fixture
def depth(root: Path) -> Iterator[int]:
    """Folders so deep that recursion fails; removed by rm, because Python's own removal is such a recursion."""
    depth = 1_500
    folder = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=folder)
        below = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("f", os.O_CREAT, dir_fd=folder))
    os.close(folder)
    yield depth
    subprocess.run(["rm", "-rf", root / "d"], check=True)


async def test_a_very_deep_tree_is_searched(context: ToolContext, depth: int) -> None:
    assert (await glob(context, "**/f")).content == "d/" * depth + "f"


async def test_a_search_leaves_no_file_behind_it(context: ToolContext, root: Path) -> None:
    make(root, {"f": "x"})
    await grep(context, "x")
    assert not context.outputs.exists()
    assert re.fullmatch(r"f", ",".join(path.name for path in root.iterdir()))


# ── files that are kept out of a search ─────────────────────────────────────────────────────────


def withholding(context: ToolContext, *, names: bool = False) -> ToolContext:
    """A context that withholds `.env` files: what they hold, and with `names` that they are there."""

    def withholds(path: str, *, content: bool) -> bool:
        return path.endswith(".env") and (content or names)

    return replace(context, withholds=withholds)


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


async def test_glob_names_what_may_hold_keys_but_not_what_a_rule_is_about(context: ToolContext, root: Path) -> None:
    make(root, {"a.txt": "", ".env": ""})
    assert ".env" in (await glob(withholding(context), "**")).content
    assert ".env" not in (await glob(withholding(context, names=True), "**")).content


# ── the quick look before a search ──────────────────────────────────────────────────────────────

ATOMS = st.sampled_from(["a", "k", "S", "é", "ſ", "\\w", ".", "[ab]", "^", "$", "\\.", "ß", "İ", " "])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        inner.map(lambda part: f"(?:{part})+"),
        inner.map(lambda part: f"(?:{part})?"),
        inner.map(lambda part: f"(?i:{part})"),
        inner.map(lambda part: f"(?={part})"),
        inner.map(lambda part: f"(?!{part})"),
    ),
    max_leaves=6,
)


@settings(max_examples=800)
@given(EXPRESSIONS, st.text("aAkKsSſéÉßbiIİı. \ufffd\u212a", max_size=8), st.booleans())
def test_the_quick_look_passes_over_no_match(expression: str, text: str, ignore_case: bool) -> None:
    found = re.search(expression, text, re.IGNORECASE if ignore_case else 0)
    may, _ = may_match(expression, ignore_case=ignore_case)
    assert may(text.encode()) or not found


def test_the_quick_look_sees_what_every_match_holds() -> None:
    for expression, ignore_case in {
        "def need_\\w+\\(": False,
        "(need|door)$": False,
        "(?i)NEED": False,
        "Need": True,
    }.items():
        may, _ = may_match(expression, ignore_case=ignore_case)
        assert (may(b"def need_1("), may(b"def nee_d(")) == (True, False), expression


async def test_a_match_on_the_border_of_two_pieces_is_found(context: ToolContext, root: Path) -> None:
    for before in (65_530, 1_065_530):
        (root / "f").write_text("x" * 99 + "\n" + "y" * (before - 100) + "needle\n" + "z\n" * 9)
        assert (await grep(context, "ne+dle", files_only=True)).content == "f"
        assert (await grep(context, "needle|zebra", files_only=True)).content == "f"
