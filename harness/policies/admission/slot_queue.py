"""Slots and the queue before them (docs/design/admission.md#queue).

    ask ──▶ its conversation waits already           replaces that work and keeps its position
        ──▶ a slot is free, nothing of it runs       Admit
        ──▶ the queue has room                       waits, as the last
        ──▶ the queue is full                        the oldest is deferred, its conversation marked; then waits
    release ──▶ every free slot is filled, in the order of the queue

Work of one conversation never runs side by side: later work waits and is passed over until then. No slot is free while
something waits that could start.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from harness.events import (
    AdmissionClosed,
    AdmissionEvent,
    DropReason,
    RejectionReason,
    WorkAdmitted,
    WorkDropped,
    WorkEnd,
    WorkQueued,
    WorkRejected,
    WorkReleased,
)

Work = TypeVar("Work")
"""The work: anything that the caller understands. The controller never looks at it."""


@dataclass(frozen=True, slots=True)
class Permit:
    """A slot in use. It is returned once, when the last process of the work has ended."""

    key: str
    number: int


@dataclass(frozen=True, slots=True)
class Admit(Generic[Work]):
    """Do it now."""

    permit: Permit
    work: Work


@dataclass(frozen=True, slots=True)
class Enqueue:
    """It waits. Its start comes with a release, unless an event says that it was replaced or dropped."""

    number: int
    replaced: int | None = None
    """Number of the older work whose place it took."""


@dataclass(frozen=True, slots=True)
class Defer:
    """It cannot even wait. Its conversation is marked and will be asked for again."""

    number: int
    reason: DropReason


@dataclass(frozen=True, slots=True)
class Reject:
    """It is not taken in."""

    reason: RejectionReason


@dataclass(frozen=True, slots=True)
class WorkCounts:
    """Counts of all work since the controller was created."""

    accepted: int = 0
    done: int = 0
    running: int = 0
    queued: int = 0
    replaced: int = 0
    dropped: int = 0


RESCHEDULED = frozenset({DropReason.QUEUE_FULL, DropReason.PAUSED})
"""Reasons after which a conversation is asked again."""


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[Work]):
    number: int
    work: Work


class SlotQueue(Generic[Work]):
    """The slots of one controller and its queue.

    Args:
        max_concurrent: slots; 0: nothing starts.
        max_queue_size: places to wait; 0: nothing waits.
        emit: receives each event, in order.
    """

    def __init__(self, max_concurrent: int, max_queue_size: int, emit: Callable[[AdmissionEvent], None]) -> None:
        self._max_concurrent = max_concurrent
        self._max_queue_size = max_queue_size
        self._emit = emit
        self._running: dict[str, int] = {}
        self._queue: dict[str, _Waiting[Work]] = {}
        """By conversation, oldest first; a new value for an old key keeps its place."""
        self._deferred: dict[str, None] = {}
        """Conversations whose deferred work is to be asked for again, the longest marked first."""
        self._counts = WorkCounts()
        self._closed = False

    # ── what may happen to it ───────────────────────────────────────────────────────────────────

    def configure(self, max_concurrent: int, max_queue_size: int) -> tuple[Admit[Work], ...]:
        """Use other limits. Running work is unaffected; work beyond the new queue size is deferred."""
        self._max_concurrent, self._max_queue_size = max_concurrent, max_queue_size
        starts = self._filled()
        while len(self._queue) > max_queue_size:
            self._drop_oldest()
        return starts

    def ask(self, key: str, work: Work) -> Admit[Work] | Enqueue | Defer | Reject:
        """May this work of the conversation `key` start now?"""
        if self._closed:
            self._emit(WorkRejected(key, RejectionReason.SHUTTING_DOWN))
            return Reject(RejectionReason.SHUTTING_DOWN)
        number = self._accept(key)
        if older := self._queue.get(key):
            self._queue[key] = _Waiting(number, work)
            self._count(replaced=1)
            self._emit(WorkQueued(key, number, len(self._queue), older.number))
            return Enqueue(number, older.number)
        if key not in self._running and self.free_slots:
            return self._started(key, _Waiting(number, work))
        if not self._max_queue_size:
            self._dropped(key, number, DropReason.QUEUE_FULL)
            return Defer(number, DropReason.QUEUE_FULL)
        if len(self._queue) >= self._max_queue_size:
            self._drop_oldest()
        self._queue[key] = _Waiting(number, work)
        self._emit(WorkQueued(key, number, len(self._queue)))
        return Enqueue(number)

    def defer(self, key: str, reason: DropReason) -> Defer | Reject:
        """Work may not even wait: count and report it and, if possible, mark its conversation."""
        if self._closed:
            self._emit(WorkRejected(key, RejectionReason.SHUTTING_DOWN))
            return Reject(RejectionReason.SHUTTING_DOWN)
        number = self._accept(key)
        self._dropped(key, number, reason)
        return Defer(number, reason)

    def release(self, permit: Permit, ending: WorkEnd) -> tuple[Admit[Work], ...]:
        """The work of a permit is over; every free slot is filled. A permit that was already returned is ignored."""
        if not self.holds(permit):
            return ()
        del self._running[permit.key]
        self._count(done=1)
        self._emit(WorkReleased(permit.key, permit.number, ending, len(self._running)))
        return self._filled()

    def withdraw(self, key: str, reason: DropReason) -> None:
        """Remove the queued work of a conversation."""
        if waiting := self._queue.pop(key, None):
            self._dropped(key, waiting.number, reason)

    def forget(self, key: str, reason: DropReason) -> None:
        """Forget a conversation apart from its running work."""
        self.withdraw(key, reason)
        self._deferred.pop(key, None)

    def close(self) -> None:
        """Reject new work; running work is released as usual."""
        if self._closed:
            return
        self._closed = True
        waiting = len(self._queue)
        for key in tuple(self._queue):
            self.withdraw(key, DropReason.SHUTTING_DOWN)
        self._deferred.clear()
        self._emit(AdmissionClosed(len(self._running), waiting))

    # ── what it says ────────────────────────────────────────────────────────────────────────────

    @property
    def running(self) -> tuple[Permit, ...]:
        """Running work, the longest running first."""
        return tuple(Permit(key, number) for key, number in self._running.items())

    @property
    def queued(self) -> tuple[str, ...]:
        """Conversations with queued work, oldest first."""
        return tuple(self._queue)

    @property
    def deferred(self) -> tuple[str, ...]:
        """Conversations to ask again, the longest marked first. None of them waits."""
        return tuple(self._deferred)

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def free_slots(self) -> int:
        """Work that could start now."""
        return 0 if self._closed else max(0, self._max_concurrent - len(self._running))

    @property
    def room(self) -> int:
        """Work that could be accepted now without deferring any."""
        return 0 if self._closed else self.free_slots + max(0, self._max_queue_size - len(self._queue))

    @property
    def counts(self) -> WorkCounts:
        return replace(self._counts, running=len(self._running), queued=len(self._queue))

    def is_deferred(self, key: str) -> bool:
        return key in self._deferred

    def runs(self, key: str) -> bool:
        return key in self._running

    def holds(self, permit: Permit) -> bool:
        """Whether the permit was issued and not returned."""
        return self._running.get(permit.key) == permit.number

    # ── inside ──────────────────────────────────────────────────────────────────────────────────

    def _accept(self, key: str) -> int:
        self._deferred.pop(key, None)
        self._count(accepted=1)
        return self._counts.accepted

    def _started(self, key: str, waiting: _Waiting[Work]) -> Admit[Work]:
        self._running[key] = waiting.number
        self._emit(WorkAdmitted(key, waiting.number, len(self._running)))
        return Admit(Permit(key, waiting.number), waiting.work)

    def _filled(self) -> tuple[Admit[Work], ...]:
        able = [key for key in self._queue if key not in self._running][: self.free_slots]
        return tuple(self._started(key, self._queue.pop(key)) for key in able)

    def _drop_oldest(self) -> None:
        self.withdraw(next(iter(self._queue)), DropReason.QUEUE_FULL)

    def _dropped(self, key: str, number: int, reason: DropReason) -> None:
        deferred = reason in RESCHEDULED
        if deferred:
            self._deferred.setdefault(key)
        self._count(dropped=1)
        self._emit(WorkDropped(key, number, reason, deferred))

    def _count(self, accepted: int = 0, done: int = 0, replaced: int = 0, dropped: int = 0) -> None:
        counts = self._counts
        self._counts = WorkCounts(
            counts.accepted + accepted,
            counts.done + done,
            replaced=counts.replaced + replaced,
            dropped=counts.dropped + dropped,
        )
