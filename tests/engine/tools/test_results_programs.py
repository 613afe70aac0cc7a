"""The programs of a call, and the one that failed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.engine.tools.results import MOST_PROGRAMS, failed_program, programs_of
from harness.events import FailureCategory, ToolOutcome
from harness.tools import ToolContext, ToolResult, Workspace, standard_tools

pytestmark = pytest.mark.anyio

TOOLS = {tool.name: tool for tool in standard_tools()}
BASH = TOOLS["bash"]

LINES = [
    ("npm test", ("npm",)),
    ("cd app && npm ci && npm test", ("npm",)),
    ("ls -l | rgx foo | head", ("ls", "rgx", "head")),
    ("FOO=1 timeout 5 nice -n 3 /usr/bin/make all", ("make",)),
    ("sudo env X=1 python2 -V; echo done", ("python2",)),
    ("for f in *; do gcc $f; done", ("gcc",)),
    ("bash -c 'cargo build'", ("cargo",)),
    ("./run.sh --all", ("run.sh",)),
    ("echo hello; exit 3", ()),
    ("", ()),
    ("$PROGRAM x", ()),
    ("cat <<'E' | sort\nx\nE\n", ("cat", "sort")),
    ("if [ -f x ]; then cat x; fi", ("cat",)),
    ("npm test 'unfinished", ("npm",)),
    ("a;b;c;d;e;f;g;h;i;j", tuple("abcdefgh")),
]


@pytest.mark.parametrize(("line", "programs"), LINES)
def test_the_programs_of_a_line(line: str, programs: tuple[str, ...]) -> None:
    assert programs_of(BASH, {"command": line}) == programs
    assert len(programs) <= MOST_PROGRAMS


@pytest.mark.parametrize("input", [{}, {"command": 3}, {"command": None}, {"cmd": "ls"}])
def test_odd_input_runs_nothing(input: dict[str, Any]) -> None:
    assert programs_of(BASH, input) == ()
    assert programs_of(TOOLS["grep"], {"command": "ls"}) == ()
    assert programs_of(None, {"command": "ls"}) == ()


def ended(category: FailureCategory | None, missing: str = "") -> ToolResult:
    return ToolResult("", ToolOutcome.BROKEN, category=category, missing=missing)


C = FailureCategory


@pytest.mark.parametrize(
    ("line", "result", "program"),
    [
        ("cd app && npm test", ended(C.TIMEOUT), "npm"),
        ("make | tee log", ended(C.KILLED), "make"),
        ("echo x; read y", ended(C.TIMEOUT), ""),
        ("ls | rgx", ended(C.CANNOT_START, "rgx"), "rgx"),
        ("ls", ended(C.CANNOT_START), ""),
        ("ls", ended(C.SYSTEM), ""),
        ("ls", ended(C.CRASHED), ""),
        ("npm test", ended(None), "npm"),
    ],
)
def test_the_program_by_which_a_call_failed(line: str, result: ToolResult, program: str) -> None:
    assert failed_program(BASH, {"command": line}, result) == program


def executable(text: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        file = folder / "script"
        file.write_text(text)
        file.chmod(0o755)

    return make


def plain(folder: Path) -> None:
    (folder / "script").write_text("echo x\n")


@pytest.mark.parametrize(
    ("make", "line", "program"),
    [
        (plain, "no-such-program-here --x", "no-such-program-here"),
        (plain, "ls; cd . && rgx-is-missing 'a b'", "rgx-is-missing"),
        (plain, "./script", "script"),
        (plain, "./nowhere/script", "script"),
        (executable("#!/usr/bin/env no-such-interpreter\n"), "./script", "no-such-interpreter"),
        (executable("#!/bin/sh\nno-such-inner-program\n"), "./script", "no-such-inner-program"),
        (plain, "make-it 2>/dev/null", "make-it"),
    ],
)
async def test_the_shell_names_what_it_could_not_start(
    make: Callable[[Path], None], line: str, program: str, tmp_path: Path
) -> None:
    make(tmp_path)
    context = ToolContext(Workspace(tmp_path), tmp_path / "outputs", "call")
    result = await BASH.run(context, BASH.parse({"command": line}))
    assert result.category is C.CANNOT_START
    assert failed_program(BASH, {"command": line}, result) == program


async def test_a_shell_that_cannot_start_is_the_tool_itself(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    context = ToolContext(Workspace(folder), tmp_path / "outputs", "call")
    folder.rmdir()
    result = await BASH.run(context, BASH.parse({"command": "ls"}))
    assert result.outcome is ToolOutcome.BROKEN
    assert failed_program(BASH, {"command": "ls"}, result) == ""
