"""glob on real trees."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.tools.glob import glob_tool
from harness.tools.glob_patterns import compile_glob
from harness.tools.read_file import read_file_tool
from harness.tools.tool import ToolContext, ToolError, ToolResult
from harness.tools.workspace import Workspace
from tests.tools.searching import call, glob, grep, make, withholding

pytestmark = pytest.mark.anyio


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


async def test_names_that_are_not_utf8_can_be_sent(context: ToolContext, root: Path) -> None:
    Path(os.fsdecode(bytes(root) + b"/caf\xe9.txt")).write_text("needle\n")
    assert (await glob(context, "*.txt")).content == "caf\\xe9.txt"
    assert (await grep(context, "needle")).content == "caf\\xe9.txt:1:needle"
    assert "caf\\xe9.txt" in (await call(read_file_tool(), context, {"path": "."})).content


@pytest.fixture
def depth(root: Path) -> Iterator[int]:
    """Folders nested too deep for recursion; removed by rm, because Python's own removal recurses."""
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


async def test_glob_names_what_may_hold_keys_but_not_what_a_rule_is_about(context: ToolContext, root: Path) -> None:
    make(root, {"a.txt": "", ".env": ""})
    assert ".env" in (await glob(withholding(context), "**")).content
    assert ".env" not in (await glob(withholding(context, names=True), "**")).content
