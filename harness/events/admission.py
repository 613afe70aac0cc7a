"""Events of the gate: what became of each piece of work, and how the conversations behind it fare (seed 003)."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.breakers import BreakerState, ChangeReason
from harness.events.catalogue import Event


class GateName(StrEnum):
    """Which gate speaks. Each counts for itself."""

    AGENTS = "agents"
    COMMANDS = "commands"
    """Commands in the background."""


class DropReason(StrEnum):
    """Why work that had been taken in will not be done."""

    QUEUE_FULL = "queue_full"
    """Newer work needed the place. Its conversation is marked, and asked for again (resilience D3)."""
    PAUSED = "paused"
    """Its conversation failed too often and rests. The same happens once the pause is over (D7)."""
    ENDED = "ended"
    """Its conversation is over, or is no longer there (D9)."""
    WITHDRAWN = "withdrawn"
    """Whoever asked for it does not want it any more."""
    SHUTTING_DOWN = "shutting_down"


class RefusalReason(StrEnum):
    """Why work was not taken in."""

    SHUTTING_DOWN = "shutting_down"
    NOT_KNOWN = "not_known"
    """Its conversation was never opened, or is over: it may not come in again by itself (D9)."""


class Ending(StrEnum):
    """How a piece of work ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """Says nothing about its conversation."""


class RemovalReason(StrEnum):
    """Why a conversation is not known any more."""

    ENDED = "ended"
    DISAPPEARED = "disappeared"
    """The sweep did not find it."""


@dataclass(frozen=True, slots=True)
class GateLimitsSet(Event):
    """The numbers of the gate from now on: once when it is opened, and at each change."""

    max_concurrent: int
    max_queue_size: int
    watch_cap: int
    gate: GateName = GateName.AGENTS


@dataclass(frozen=True, slots=True)
class WorkAdmitted(Event):
    """A piece of work starts now."""

    key: str
    """The conversation it belongs to."""
    number: int
    """Of this piece of work; the gate counts from 1."""
    running: int
    """Pieces of work in flight, this one among them."""
    gate: GateName = GateName.AGENTS


@dataclass(frozen=True, slots=True)
class WorkQueued(Event):
    """A piece of work waits: all slots are taken, or its conversation is being worked for."""

    key: str
    number: int
    waiting: int
    """Pieces of work that wait, this one among them; it is the last."""
    gate: GateName = GateName.AGENTS


@dataclass(frozen=True, slots=True)
class WorkReplaced(Event):
    """Newer work of the same conversation took the place of work that waited (D2)."""

    key: str
    number: int
    """Of the work that waits now."""
    replaced: int
    """Of the work that will not be done."""
    gate: GateName = GateName.AGENTS


@dataclass(frozen=True, slots=True)
class WorkDropped(Event):
    """Work that had been taken in will not be done (D3)."""

    key: str
    number: int
    reason: DropReason
    dirty: bool
    """The conversation is marked, so that it is asked for again."""
    gate: GateName = GateName.AGENTS


@dataclass(frozen=True, slots=True)
class WorkRefused(Event):
    """Work was not taken in, and has no number."""

    key: str
    reason: RefusalReason
    gate: GateName = GateName.AGENTS


@dataclass(frozen=True, slots=True)
class WorkReleased(Event):
    """A piece of work is over and its slot is free: its processes are gone (D1)."""

    key: str
    number: int
    ending: Ending
    running: int
    """Pieces of work that are still in flight."""
    gate: GateName = GateName.AGENTS


@dataclass(frozen=True, slots=True)
class ConversationBreakerChanged(Event):
    """The breaker of a conversation moved, or its count did (D7)."""

    key: str
    before: BreakerState
    after: BreakerState
    why: ChangeReason
    failures: int
    """In a row, now."""
    until: float | None = None
    """Unix time at which the pause is over; None: it does not rest."""
    gate: GateName = GateName.AGENTS


@dataclass(frozen=True, slots=True)
class ConversationRemoved(Event):
    """A conversation is over, and nothing of it is kept (D9)."""

    key: str
    why: RemovalReason
    running: bool
    """A piece of its work is still in flight; it finishes, and no other follows."""
    gate: GateName = GateName.AGENTS


@dataclass(frozen=True, slots=True)
class WatchListFull(Event):
    """There are more conversations than are looked at in one scan; they take turns (D8)."""

    known: int
    cap: int
    reserved: int
    """Places of each scan for those that were not looked at for longest."""
    gate: GateName = GateName.AGENTS


@dataclass(frozen=True, slots=True)
class GateClosed(Event):
    """Nothing is taken in any more (D11)."""

    running: int
    dropped: int
    gate: GateName = GateName.AGENTS


GateEvent = (
    GateLimitsSet
    | WorkAdmitted
    | WorkQueued
    | WorkReplaced
    | WorkDropped
    | WorkRefused
    | WorkReleased
    | ConversationBreakerChanged
    | ConversationRemoved
    | WatchListFull
    | GateClosed
)
"""What a gate has to say."""
