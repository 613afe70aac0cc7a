"""Tools open files in one place: below a folder that is decided on, without following links out of it.

A tool that opened a path on its own would evade every rule about paths (docs/security.md). Its arguments
need not be called path for that, so the source is read.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness

PACKAGE = Path(harness.__file__).parent
OPENS = {"open", "open_code", "open_regular", "read_regular", "read_text", "read_bytes", "write_text", "write_bytes"}
OPENS |= {"FileIO", "copy", "copy2", "copyfile", "copytree", "memmap", "getline", "getlines", "sendfile", "readlink"}
ALLOWED = {
    "tools/tree.py": "the one place",
    "tools/files.py open_inside": "opens through the tree",
    "tools/grep_worker.py main": "opens through the tree",
    "tools/held_commands.py _words": "compares files that others obey; not shown",
    "tools/output.py CommandOutput": "writes the long output of a call, into the folder of the session",
    "tools/ignored_files.py _with_rules_of": "rules of git, which are not shown",
    "tools/seen_files.py SeenFiles": "compares a file that the agent has read; not shown",
    "tools/read_file.py _attach": "images, whose resolved path was checked",
    "skills/tool.py _file": "the file that its tool names in `opens`",
    "memory/files.py": "memories, by names that are no paths",
    "memory/store.py": "memories, by names that are no paths",
    "tasks/places.py _common": "where git keeps the repository; not shown",
}
"""Functions, or whole modules, that may open a path, and why."""


def modules() -> Iterator[tuple[ast.Module, str]]:
    """The packages of tools, and every other module that makes one."""
    for file in sorted(PACKAGE.rglob("*.py")):
        name, module = file.relative_to(PACKAGE).as_posix(), ast.parse(file.read_text(encoding="utf-8"))
        room = name.partition("/")[0]
        if room in ("tools", "skills", "memory", "tasks", "schedule") or (
            room not in ("practice", "lessons", "ui") and makes_tools(module)
        ):
            yield module, name


def makes_tools(module: ast.Module) -> bool:
    return any(isinstance(node, ast.Call) and name_of(node.func) == "Tool" for node in ast.walk(module))


def name_of(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def openings(module: ast.Module, name: str) -> Iterator[str]:
    """Where a module opens a path: its name and the function or class of its top level."""
    for top in module.body:
        for node in ast.walk(top):
            if isinstance(node, ast.Name | ast.Attribute) and name_of(node) in OPENS and isinstance(node.ctx, ast.Load):
                yield f"{name} {getattr(top, 'name', '')}".strip()


def test_tools_open_paths_only_through_the_workspace() -> None:
    found = {where for module, name in modules() for where in openings(module, name)}
    assert {where for where in found if where not in ALLOWED and where.split()[0] not in ALLOWED} == set()
    assert set(ALLOWED) <= found | {where.split()[0] for where in found}, "an entry that nothing needs"


@pytest.mark.parametrize(
    "line",
    ["open(p)", "Path(p).read_text()", "p.open('rb')", "os.open(p, 0)", "io.open(p)", "in_thread(p.read_bytes)"],
)
def test_an_opening_is_found_however_it_is_written(line: str) -> None:
    assert list(openings(ast.parse(f"def work(p):\n    return {line}\n"), "x.py")) == ["x.py work"]
