"""Events of an agent that walks over a graph while the escape mechanism watches it (seed 001, section 6)."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.catalogue import Event


class WalkEnd(StrEnum):
    """How a walk ended."""

    GOAL = "goal"
    HUMAN = "human"
    """The person who was asked about a loop ended it."""
    STOP = "stop"
    """The last rung of the ladder."""
    LIMIT = "limit"
    """The steps were used up."""


@dataclass(frozen=True, slots=True)
class NodeVisited(Event):
    """The agent came to a place, or did nothing and stayed."""

    node: str
    step: int
    came_from: str = ""
    """Empty: it begins here, stayed, or was put here by a rollback."""


@dataclass(frozen=True, slots=True)
class WalkEnded(Event):
    """Last event of a walk. Nothing is called after it (resilience B25)."""

    end: WalkEnd
    node: str
    steps: int
    calls: int
    """Of tools, those that were made again among them."""
    failed: int
    interventions: int
    waited_s: float
    """Seconds of pauses before calls that were made again."""
