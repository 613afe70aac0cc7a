"""What can repeat, and the steps of the ladder, in a word or two."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.events import Projection, Rung

RUNGS: Mapping[Rung, str] = MappingProxyType(
    {
        Rung.RETRY: "retry",
        Rung.NUDGE: "nudge",
        Rung.EXPLORE: "other path",
        Rung.SUBSTITUTE: "other tool",
        Rung.ROLLBACK: "rollback",
        Rung.BREAKER: "breaker",
        Rung.HUMAN: "question",
        Rung.STOP: "stop",
    }
)
"""The steps of the ladder, as things."""

PROJECTIONS: Mapping[Projection, str] = MappingProxyType(
    {
        Projection.ACTION: "same calls",
        Projection.INTERACTION: "same calls, same results",
        Projection.ERROR: "same error",
        Projection.NODE: "same places",
        Projection.STATE: "same state",
        Projection.STAGNATION: "same call among others",
        Projection.POLL: "asked too often",
        Projection.TEXT: "same text",
    }
)
"""What repeats, as a kind."""
