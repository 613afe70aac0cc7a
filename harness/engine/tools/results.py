"""What a tool result says: whether it counts for a breaker, and whether it is fresh (docs/breakers.md).

Each program that a command line runs has a breaker of its own: one that is missing or hangs says nothing about the
shell or other programs. Results that may not be fresh carry a label.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from math import isfinite

from harness.events import Failure, FailureCategory, FreshnessLabel, Json, ToolCall, ToolOutcome
from harness.permissions.name_sets import names
from harness.permissions.shell.resolution import base_name, resolved_commands
from harness.permissions.shell.syntax import Unreadable
from harness.policies.breakers.decisions import Finish, Result
from harness.policies.breakers.failure_signature import signature_of
from harness.policies.breakers.freshness import Freshness, FreshnessFinding, Observation
from harness.tools.tool import Effect, Tool, ToolResult, shorten_line

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


MOST_PROGRAMS = 8
"""Programs of one line that are distinguished."""
LONGEST_NAME = 40
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
    """The parts of a tool that a call needs: the programs of its line in their order, each once, or the tool of a
    server; none for any other tool."""
    if tool is not None and tool.breaker:
        return (tool.part,)
    line = tool.command_line(input) if tool is not None and tool.command_line else None
    return _programs(line) if line else ()


def failed_program(tool: Tool | None, input: Json, result: ToolResult) -> str:
    """The part that failed, such as a program; empty: the tool itself, such as a shell that does not start, or the
    whole server."""
    if tool is not None and tool.breaker:
        return "" if result.category in (FailureCategory.CANNOT_START, FailureCategory.TRANSPORT) else tool.part
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
    return tuple(dict.fromkeys(name for name in plain if name and name not in SHELL))[:MOST_PROGRAMS]


def _plain(name: str) -> str:
    """The name as a part of a key."""
    return re.sub(r"[^\w.+@\[-]", "", base_name(name))[:LONGEST_NAME]


# ── freshness ───────────────────────────────────────────────────────────────────────────────────

WORDS = {
    FreshnessLabel.STALE: "STALE: this is not the present state",
    FreshnessLabel.CACHED: "PERHAPS CACHED: this may not be the present state",
    FreshnessLabel.UNVERIFIED: "NOT VERIFIED: this may be out of date",
    FreshnessLabel.UNKNOWN: "FRESHNESS UNKNOWN: there is nothing to compare this with",
}
NOT_RUN = frozenset({ToolOutcome.INVALID, ToolOutcome.DENIED, ToolOutcome.SKIPPED})
LONGEST_EVIDENCE = 400
"""Characters of the evidence: the name of a file may be as long as a model likes."""


class FreshnessLabels:
    """Labels results by the calls so far."""

    def __init__(self, *, strict: bool) -> None:
        """`strict`: every repeat is labelled."""
        self._freshness = Freshness(strict=strict)

    def begin_turn(self, at: float) -> None:
        """A turn begins at this Unix time."""
        self._freshness.begin_turn(at)

    def label(self, tool: Tool, call: ToolCall, result: ToolResult, *, step: int, at: float) -> FreshnessFinding | None:
        """The label a result has to carry, or None. `at` is Unix time. Wants every call that ran, in order of end."""
        if _may_change_anything(tool, result):
            self._freshness.forget()
        if result.outcome is not ToolOutcome.OK:
            return None
        revision, as_of = result.revision, result.as_of
        undated = result.undated or tool.caches is True
        resource = tool.resource(call.input) if tool.resource else None
        label = self._freshness.observe(
            Observation(
                tool.name,
                _digest(json.dumps(call.input, sort_keys=True, default=str)),
                _digest(result.content),
                step,
                at,
                revision.resource if revision else resource,
                tool.effect is Effect.WRITE,
                tool.caches is False and as_of is None and not undated,
                undated,
                as_of if as_of is not None and isfinite(as_of) else None,
                revision.digest if revision else "",
            )
        )
        return replace(label, evidence=shorten_line(label.evidence, LONGEST_EVIDENCE)) if label else None


def with_label(text: str, label: FreshnessFinding, tool: str) -> str:
    """The result for the model, with the label in front."""
    when = "" if label.as_of is None else f", as of {_date(label.as_of)}"
    return f"[{WORDS[label.label]} (result of {tool}{when}; {label.evidence}).]\n{text}"


def _may_change_anything(tool: Tool, result: ToolResult) -> bool:
    """A command may, also when it fails. A write that ended in the middle may have written or not, and one that shows
    neither what there is now nor what it changed may have changed nothing."""
    match tool.effect:
        case Effect.RUN | Effect.DELEGATE:
            return result.outcome not in NOT_RUN
        case Effect.WRITE if result.outcome is ToolOutcome.OK:
            return not result.revision and not result.detail
        case Effect.WRITE:
            return result.outcome in (ToolOutcome.BROKEN, ToolOutcome.CANCELLED)
        case Effect.READ:
            return False


def _date(at: float) -> str:
    """In words; a number that no calendar has stays a number."""
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f"{at:g} seconds of Unix time"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
