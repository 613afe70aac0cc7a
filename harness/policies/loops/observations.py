"""What an agent did, as far as loops can be seen in it (resilience B1): calls with their results, and visits."""

from dataclasses import dataclass
from enum import Enum

from harness.events import ErrorClass


@dataclass(frozen=True, slots=True)
class Poll:
    """A call that is meant to be repeated until something happens, within limits (resilience B10)."""

    every_s: float = 1.0
    """Seconds from one call to the next at least."""
    total_s: float = 600.0
    """Seconds for which the same result may come back."""


class Kind(Enum):
    """What a call does, as far as repeating it goes."""

    WORKS = "works"
    LOOKS = "looks"
    """It reads and changes nothing."""
    ASKS = "asks"
    """It asks how something outside stands, or waits and then looks."""
    WAITS = "waits"
    """It waits and then works."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool and what came of it."""

    number: int
    """Of this observation, from 1, in the order in which calls ended or stand in their reply."""
    step: int
    at: float
    """Seconds of a clock that only grows, without the waits of our own (B8)."""
    wall: float
    """Unix time in seconds."""
    call_id: str
    tool: str
    action: str
    """Digest of tool and arguments."""
    result: str
    """Digest of the normalised result."""
    ok: bool
    error: str = ""
    """Signature of the failure; empty: it succeeded, or its cause is unknown."""
    error_class: ErrorClass | None = None
    node: str = ""
    """Where the agent was."""
    path: str = ""
    """The id of the way it is on, where the agent has such a thing."""
    mutates: bool = False
    """It changed something, as far as its tool says."""
    idempotent: bool = False
    """Calling it again does no harm."""
    poll: Poll | None = None
    """Declared as a poll."""
    summary: str = ""
    """The call in one line for a person."""
    kind: Kind = Kind.WORKS
    """What repeating it means."""


@dataclass(frozen=True, slots=True)
class Visit:
    """The agent came to a place."""

    number: int
    step: int
    at: float
    wall: float
    node: str
    """Its name; in our loop the item of the plan that is worked on. Empty: only the state is told."""
    state: str = ""
    """Digest of the state there; empty: not known."""
    path: str = ""
