"""The programs that a call runs, for tools that run command lines: each program has a breaker of its own.

A program that is missing or hangs says nothing against the shell, nor against other programs.
"""

import re
from functools import lru_cache

from harness.events import FailureCategory, Json
from harness.permissions.name_sets import names
from harness.permissions.shell.runs import base_name, runs_of
from harness.permissions.shell.words import Unreadable
from harness.tools.tool import Tool, ToolResult

MOST = 8
"""Programs of one line that are told apart."""
LONGEST = 40
"""Characters of a program's name."""
SHELL = names(
    ". : [ [[ alias bg break builtin case cd command continue declare dirs disown do done echo elif else esac eval "
    "exec exit export false fg fi for function getopts hash help history if in jobs kill let local mapfile popd printf "
    "pushd pwd read readarray readonly return select set shift shopt source suspend test then time times trap true "
    "type typeset ulimit umask unalias unset until wait while { } ! ]]"
)
"""What the shell does by itself."""
_FIRST = re.compile(r"\s*(?:\w+=\S*\s+)*([\w./+@-]+)")


def programs_of(tool: Tool | None, input: Json) -> tuple[str, ...]:
    """The programs of a call in the order of its line, each once; none where the tool runs no command line."""
    line = tool.command_line(input) if tool is not None and tool.command_line else None
    return _programs(line) if line else ()


def failed_program(tool: Tool | None, input: Json, result: ToolResult) -> str:
    """The program by which a call failed; empty: it was the tool itself, such as a shell that does not start."""
    programs = programs_of(tool, input)
    match result.category:
        case FailureCategory.CANNOT_START:
            return _plain(result.missing)
        case FailureCategory.TIMEOUT | FailureCategory.KILLED | FailureCategory.REFUSED | None if programs:
            return programs[0]
        case _:
            return ""


@lru_cache(maxsize=256)
def _programs(line: str) -> tuple[str, ...]:
    try:
        named = [run.simple.program for run in runs_of(line) if not (run.transparent or run.perhaps)]
    except Unreadable:
        named = [found[1] if (found := _FIRST.match(line)) else None]
    plain = (_plain(name) for name in named if name)
    return tuple(dict.fromkeys(name for name in plain if name and name not in SHELL))[:MOST]


def _plain(name: str) -> str:
    """The name as a part of a key."""
    return re.sub(r"[^\w.+@\[-]", "", base_name(name))[:LONGEST]
