"""Loops and the steps of the ladder as a person says them."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.events import Loop, Projection, Rung

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
"""The steps of the ladder in a word or two."""

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


def repeats(loop: Loop) -> str:
    """What repeats and how often, in one line: "read_file notes.txt, 4 times with the same result"."""
    what, often = " ".join(loop.summary.split()), times(loop.copies)
    match loop.projection:
        case Projection.ACTION:
            return f"{what}, {often}"
        case Projection.INTERACTION if loop.failing:
            return f"{what}, {often} with the same failure"
        case Projection.INTERACTION:
            return f"{what}, {often} with the same result"
        case Projection.ERROR:
            return f"{what}, failed {often} in the same way"
        case Projection.NODE:
            return f"{what}, {often} round"
        case Projection.STATE:
            return f"{what}, {often} back in the same state"
        case Projection.STAGNATION:
            return f"{what}, {often} with the same result, and nothing was changed in between"
        case Projection.POLL if loop.weak:
            return f"{what}, {often} sooner than it is worth asking"
        case Projection.POLL:
            return f"{what}, asked {often} and still the same answer"
        case Projection.TEXT:
            return f"one reply says the same {often}: {what}"


def times(count: int) -> str:
    """How often: "once", "4 times"."""
    return "once" if count == 1 else f"{count:,} times"
