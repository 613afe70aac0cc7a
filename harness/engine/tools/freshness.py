"""Labels on results that may not be fresh: what the calls say, in the terms of docs/breakers.md."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite

from harness.events import FreshnessLabel, ToolCall, ToolOutcome
from harness.policies.breakers.freshness import Freshness, FreshnessFinding, Observation
from harness.tools.tool import Effect, Tool, ToolResult, shorten_line

WORDS = {
    FreshnessLabel.STALE: "STALE: this is not the present state",
    FreshnessLabel.CACHED: "PERHAPS CACHED: this may not be the present state",
    FreshnessLabel.UNVERIFIED: "NOT VERIFIED: this may be out of date",
    FreshnessLabel.UNKNOWN: "FRESHNESS UNKNOWN: there is nothing to compare this with",
}
NOT_RUN = frozenset({ToolOutcome.INVALID, ToolOutcome.DENIED, ToolOutcome.SKIPPED})
LONGEST = 400
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
        return replace(label, evidence=shorten_line(label.evidence, LONGEST)) if label else None


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
