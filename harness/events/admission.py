"""Events of admission control: which work starts, waits or is rejected, and the breakers of conversations."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.breakers import BreakerState, ChangeReason
from harness.events.catalogue import Event

__all__ = [
    "AdmissionClosed",
    "AdmissionEvent",
    "AdmissionLimitsSet",
    "AdmissionPool",
    "ConversationBreakerChanged",
    "ConversationRemoved",
    "DropReason",
    "HoldReason",
    "RejectionReason",
    "RemovalReason",
    "RequestHeld",
    "RequestLimitSet",
    "WorkAdmitted",
    "WorkDropped",
    "WorkEnd",
    "WorkQueued",
    "WorkRejected",
    "WorkReleased",
]


class AdmissionPool(StrEnum):
    """The pool of slots that an event is about. Each pool has its own limits."""

    AGENTS = "agents"
    COMMANDS = "commands"
    """Background commands."""


class DropReason(StrEnum):
    """Why accepted work will not be done."""

    QUEUE_FULL = "queue_full"
    """Newer work took its place in the queue. Its conversation is deferred and asked for work again."""
    PAUSED = "paused"
    """The breaker of its conversation is open. Its conversation is asked again when the pause ends."""
    ENDED = "ended"
    """Its conversation ended or disappeared."""
    WITHDRAWN = "withdrawn"
    """The caller no longer wants it."""
    SHUTTING_DOWN = "shutting_down"


class RejectionReason(StrEnum):
    """Why work was not accepted."""

    SHUTTING_DOWN = "shutting_down"
    NOT_KNOWN = "not_known"
    """Its conversation was never opened, or has ended."""


class WorkEnd(StrEnum):
    """How a piece of work ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """Does not count for the breaker of its conversation."""


class RemovalReason(StrEnum):
    """Why a conversation is no longer tracked."""

    ENDED = "ended"
    DISAPPEARED = "disappeared"
    """The sweep did not find it."""


class HoldReason(StrEnum):
    """Why a request to a model waits although the session could send it."""

    LIMIT = "limit"
    """As many as the shared limit allows are in flight."""
    RETRY_AFTER = "retry_after"
    """The server asked a session to wait."""
    OPEN = "open"
    """The breaker of the endpoint is open; another session opened it."""
    PROBE = "probe"
    """Another request tests whether the endpoint has recovered."""


@dataclass(frozen=True, slots=True)
class AdmissionLimitsSet(Event):
    """The limits from now on: emitted once at the start, and at each change."""

    max_concurrent: int
    max_queue_size: int
    watch_cap: int
    pool: AdmissionPool = AdmissionPool.AGENTS


@dataclass(frozen=True, slots=True)
class WorkAdmitted(Event):
    """A piece of work starts now."""

    key: str
    """The conversation it belongs to."""
    number: int
    """Of this piece of work, from 1 within the pool."""
    running: int
    """Pieces of work in flight, including this one."""
    pool: AdmissionPool = AdmissionPool.AGENTS


@dataclass(frozen=True, slots=True)
class WorkQueued(Event):
    """A piece of work waits for a slot, or for earlier work of its conversation."""

    key: str
    number: int
    waiting: int = 0
    """Length of the queue; this piece of work is the last in it, unless it replaced other work."""
    replaced: int | None = None
    """Number of the older work of the same conversation whose position it took."""
    pool: AdmissionPool = AdmissionPool.AGENTS


@dataclass(frozen=True, slots=True)
class WorkDropped(Event):
    """Accepted work will not be done."""

    key: str
    number: int
    reason: DropReason
    deferred: bool
    """The conversation is asked for work again."""
    pool: AdmissionPool = AdmissionPool.AGENTS


@dataclass(frozen=True, slots=True)
class WorkRejected(Event):
    """Work was not accepted; it has no number."""

    key: str
    reason: RejectionReason
    pool: AdmissionPool = AdmissionPool.AGENTS


@dataclass(frozen=True, slots=True)
class WorkReleased(Event):
    """A piece of work ended, its processes are gone, and its slot is free."""

    key: str
    number: int
    ending: WorkEnd
    running: int
    """Pieces of work still in flight."""
    pool: AdmissionPool = AdmissionPool.AGENTS


@dataclass(frozen=True, slots=True)
class ConversationBreakerChanged(Event):
    """The breaker of a conversation, or its failure count, changed."""

    key: str
    before: BreakerState
    after: BreakerState
    why: ChangeReason
    failures: int
    """In a row, now."""
    until: float | None = None
    """End of the pause as Unix time; None: not paused."""
    pool: AdmissionPool = AdmissionPool.AGENTS


@dataclass(frozen=True, slots=True)
class ConversationRemoved(Event):
    """A conversation ended, and all its records were deleted."""

    key: str
    why: RemovalReason
    running: bool
    """One piece of its work is still in flight; it finishes, and no other follows."""
    pool: AdmissionPool = AdmissionPool.AGENTS


@dataclass(frozen=True, slots=True)
class AdmissionClosed(Event):
    """No more work is accepted."""

    running: int
    dropped: int
    pool: AdmissionPool = AdmissionPool.AGENTS


@dataclass(frozen=True, slots=True)
class RequestLimitSet(Event):
    """The limit of requests in flight to a model, for all sessions together, is another one since this session looked
    last (docs/design/admission.md#request-limit)."""

    model: str
    limit: int | None
    """None: it has ended."""
    most: int
    """The configured limit."""
    before: int | None = None
    """The limit that this session knew so far."""
    refused_at: float = 0.0
    """Unix time of the last refusal that any session was given."""
    wait_until: float = 0.0
    """Unix time until which a server asked a session to wait; 0: it did not."""


@dataclass(frozen=True, slots=True)
class RequestHeld(Event):
    """A request waits until the other sessions leave room for it."""

    model: str
    why: HoldReason
    until: float | None = None
    """Unix time by which the session asks again at the latest, where known."""
    before: int = 0
    """Requests whose turn comes earlier."""


AdmissionEvent = (
    AdmissionLimitsSet
    | WorkAdmitted
    | WorkQueued
    | WorkDropped
    | WorkRejected
    | WorkReleased
    | ConversationBreakerChanged
    | ConversationRemoved
    | AdmissionClosed
)
