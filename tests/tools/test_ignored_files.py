"""Files that a search leaves out because a project ignores them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.tools.glob import glob_tool
from harness.tools.ignored_files import walk_files
from harness.tools.tool import ToolContext
from tests.tools.searching import call, glob, grep, make

pytestmark = pytest.mark.anyio


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


async def test_a_walk_ends_when_it_is_stopped(root: Path) -> None:
    make(root, {f"{n}/f": "" for n in range(20)})
    answers: Iterator[bool] = iter([False] * 4 + [True] * 100)
    assert len(list(walk_files(root, root, lambda: next(answers)))) < 5
