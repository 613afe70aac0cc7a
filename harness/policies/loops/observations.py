"""Observations of the agent: calls with their results, and visits (docs/design/loops.md#observations)."""

from dataclasses import dataclass
from enum import Enum

from harness.events import ErrorClass


@dataclass(frozen=True, slots=True)
class Poll:
    """The limits of a call that is meant to be repeated until something happens."""

    every_s: float = 1.0
    """Least seconds between two calls."""
    total_s: float = 600.0
    """Seconds for which the same result may return."""


class CallKind(Enum):
    """What repeating a call means."""

    WORKS = "works"
    LOOKS = "looks"
    """Reads and changes nothing."""
    ASKS = "asks"
    """Asks for the status of something outside, or waits and then reads."""
    WAITS = "waits"
    """Waits and then works."""


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """One tool call and its result."""

    number: int
    """Number of the observation from 1, in the order of their ends or of the reply."""
    step: int
    at: float
    """Monotonic seconds, without our own waits."""
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
    """Signature of the failure; empty: success, or unknown cause."""
    error_class: ErrorClass | None = None
    node: str = ""
    """Place of the agent."""
    path: str = ""
    """Id of the agent's path, if it has one."""
    mutates: bool = False
    """It changed something, according to its tool."""
    idempotent: bool = False
    """Repeating it does no harm."""
    poll: Poll | None = None
    """Set for a declared poll."""
    summary: str = ""
    """The call in one line."""
    kind: CallKind = CallKind.WORKS


@dataclass(frozen=True, slots=True)
class Visit:
    """The agent reached a place or a state."""

    number: int
    step: int
    at: float
    wall: float
    node: str
    """Its name; in our loop the current item of the plan. Empty: only the state is known."""
    state: str = ""
    """Digest of the state; empty: unknown."""
    path: str = ""
