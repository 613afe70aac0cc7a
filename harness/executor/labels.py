"""Labels on results that may not be fresh: what the calls say, in the terms of the policy (resilience A22)."""

import json
from datetime import UTC, datetime
from hashlib import sha256

from harness.breakers.freshness import Freshness, Label, Observation
from harness.events import FreshnessLabel, ToolCall, ToolOutcome
from harness.tools.tool import Effect, Tool, ToolResult

WORDS = {
    FreshnessLabel.STALE: "STALE: this is not the present state",
    FreshnessLabel.CACHED: "PERHAPS CACHED: this may not be the present state",
    FreshnessLabel.UNVERIFIED: "NOT VERIFIED: nobody knows whether this still holds",
    FreshnessLabel.UNKNOWN: "FRESHNESS UNKNOWN: there is nothing to compare this with",
}


class Labels:
    """Tells the policy what came of each call."""

    def __init__(self, *, strict: bool) -> None:
        """`strict`: every repeat is labelled."""
        self._freshness = Freshness(strict=strict)

    def begin_turn(self, at: float) -> None:
        """A turn begins at this Unix time."""
        self._freshness.begin_turn(at)

    def label(self, tool: Tool, call: ToolCall, result: ToolResult, *, step: int, at: float) -> Label | None:
        """The label a result has to carry, or None. `at` is Unix time."""
        changes = _changes(tool, result)
        if not changes and (result.outcome is not ToolOutcome.OK or tool.effect is Effect.WRITE):
            return None
        return self._freshness.see(
            Observation(
                tool.name,
                _digest(json.dumps(call.input, sort_keys=True, default=str)),
                _digest(result.content),
                step,
                at,
                tool.resource(call.input) if tool.resource else None,
                changes,
                tool.caches,
                result.as_of,
            )
        )


def with_label(text: str, label: Label, tool: str) -> str:
    """The result for the model, with the label in front."""
    when = "" if label.as_of is None else f", as of {datetime.fromtimestamp(label.as_of, UTC):%Y-%m-%d %H:%M:%S} UTC"
    return f"[{WORDS[label.label]} (result of {tool}{when}; {label.evidence}).]\n{text}"


def _changes(tool: Tool, result: ToolResult) -> bool:
    """A write that left the content as it was changes nothing; a command may change anything, also when it fails."""
    if tool.effect is Effect.WRITE:
        return result.outcome is ToolOutcome.OK and (bool(result.detail) or tool.resource is None)
    return tool.effect is Effect.RUN and not tool.caches and result.as_of is None


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
