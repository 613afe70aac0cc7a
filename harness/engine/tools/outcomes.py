"""What the breaker of a tool, or of a program that a command line runs, counts of a result (docs/breakers.md).

Each program has a breaker of its own: one that is missing or hangs says nothing about the shell or other programs.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from harness.events import Failure, FailureCategory, Json, ToolOutcome
from harness.permissions.name_sets import names
from harness.permissions.shell.resolution import base_name, resolved_commands
from harness.permissions.shell.syntax import Unreadable
from harness.policies.breakers.decisions import Finish, Result
from harness.policies.breakers.failure_signature import signature_of
from harness.tools.tool import Tool, ToolResult, shorten_line

LAST_LINES = 20
"""How far from its end an output is searched for the cause: programs name it last."""


def finish_of(result: ToolResult, tool: str, part: str = "", *, count_errors: bool) -> Result:
    """A failure where the tool itself failed; anything else says nothing against it.

    Args:
        part: what of the tool failed, if it did; empty: the tool itself.
        count_errors: also a plain no of the tool counts, such as a failed test or a missing file.
    """
    match result.outcome:
        case ToolOutcome.BROKEN:
            # Every tool of ours names a category; one of somebody else's may not.
            return _failure(result.category or FailureCategory.CRASHED, result, tool, part)
        case ToolOutcome.ERROR if count_errors:
            return _failure(FailureCategory.REFUSED, result, tool, part)
        case ToolOutcome.DENIED:
            return Finish.DENIED
        case ToolOutcome.INVALID:
            return Finish.INVALID
        case ToolOutcome.CANCELLED | ToolOutcome.SKIPPED:
            return Finish.CANCELLED
        case ToolOutcome.OK | ToolOutcome.ERROR:
            return Finish.OK


def _failure(category: FailureCategory, result: ToolResult, tool: str, part: str) -> Failure:
    signatures = (signature_of(category, line, tool) for line in _telling(result))
    message = shorten_line(result.summary or result.content)
    return Failure(category, message, next(filter(None, signatures), ""), part)


def _telling(result: ToolResult) -> Iterator[str]:
    """The lines that may name the cause, the likeliest first."""
    first, _, rest = result.content.partition("\n")
    begins = result.summary.removesuffix(" …")
    # A summary that is only the start of the text may be cut before the cause: "a/long/path: Input/out …".
    yield first if first.startswith(begins) else result.summary
    yield from reversed((first, *rest.splitlines())[-LAST_LINES:])


MOST = 8
"""Programs of one line that are distinguished."""
LONGEST = 40
"""Characters of a program's name."""
SHELL = names(
    ". : [ [[ alias bg break builtin case cd command continue declare dirs disown do done echo elif else esac eval "
    "exec exit export false fg fi for function getopts hash help history if in jobs kill let local mapfile popd printf "
    "pushd pwd read readarray readonly return select set shift shopt source suspend test then time times trap true "
    "type typeset ulimit umask unalias unset until wait while { } ! ]]"
)
"""Builtins of the shell."""
_FIRST = re.compile(r"\s*(?:\w+=\S*\s+)*([\w./+@-]+)")


def programs_of(tool: Tool | None, input: Json) -> tuple[str, ...]:
    """The programs of a call in the order of its line, each once; none where the tool runs no command line."""
    line = tool.command_line(input) if tool is not None and tool.command_line else None
    return _programs(line) if line else ()


def failed_program(tool: Tool | None, input: Json, result: ToolResult) -> str:
    """The program that failed; empty: the tool itself, such as a shell that does not start."""
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
        named = [run.simple.program for run in resolved_commands(line) if not (run.transparent or run.perhaps)]
    except Unreadable:
        named = [found[1] if (found := _FIRST.match(line)) else None]
    plain = (_plain(name) for name in named if name)
    return tuple(dict.fromkeys(name for name in plain if name and name not in SHELL))[:MOST]


def _plain(name: str) -> str:
    """The name as a part of a key."""
    return re.sub(r"[^\w.+@\[-]", "", base_name(name))[:LONGEST]
