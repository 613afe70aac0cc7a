"""Slots and the queue before them: may this work start now, wait, or take the place of older work?

    ask ──▶ its conversation waits already           takes that place; the older work is replaced
        ──▶ a slot is free, nothing of it runs       Start
        ──▶ the queue has room                       waits, as the last
        ──▶ the queue is full                        the oldest is dropped, its conversation marked; then waits
    release ──▶ every free slot is filled, in the order of the queue

Work of one conversation never runs side by side: what comes while it is worked for waits, and is passed over until
then. No slot is ever free while something waits that could start; no caller has to remember to look.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic

from harness.events import (
    DropReason,
    Ending,
    GateClosed,
    GateEvent,
    RefusalReason,
    WorkAdmitted,
    WorkDropped,
    WorkQueued,
    WorkRefused,
    WorkReleased,
    WorkReplaced,
)
from harness.policies.admission.decisions import Counts, Drop, Refuse, Start, Ticket, Wait, Work

RESCHEDULED = frozenset({DropReason.QUEUE_FULL, DropReason.PAUSED})
"""Reasons after which a conversation is asked for again."""


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[Work]):
    number: int
    work: Work


class Admission(Generic[Work]):
    """The slots of one gate and its queue.

    Args:
        max_concurrent: slots; 0: nothing ever starts.
        max_queue_size: places to wait; 0: nothing ever waits.
        tell: hears what happened, in its order.
    """

    def __init__(self, max_concurrent: int, max_queue_size: int, tell: Callable[[GateEvent], None]) -> None:
        self._max_concurrent = max_concurrent
        self._max_queue_size = max_queue_size
        self._tell = tell
        self._running: dict[str, int] = {}
        self._queue: dict[str, _Waiting[Work]] = {}
        """By conversation, oldest first; a new value for an old key keeps its place."""
        self._dirty: dict[str, None] = {}
        """Conversations whose work was dropped and that are to be asked for again, the longest marked first."""
        self._counts = Counts()
        self._closed = False

    # ── what may happen to it ───────────────────────────────────────────────────────────────────

    def configure(self, max_concurrent: int, max_queue_size: int) -> tuple[Start[Work], ...]:
        """Other limits from now on. What runs is left alone; what finds no place any more is dropped."""
        self._max_concurrent, self._max_queue_size = max_concurrent, max_queue_size
        starts = self._filled()
        while len(self._queue) > max_queue_size:
            self._drop_oldest()
        return starts

    def ask(self, key: str, work: Work) -> Start[Work] | Wait | Drop | Refuse:
        """May this work of the conversation `key` start now?"""
        if self._closed:
            self._tell(WorkRefused(key, RefusalReason.SHUTTING_DOWN))
            return Refuse(RefusalReason.SHUTTING_DOWN)
        number = self._accept(key)
        if older := self._queue.get(key):
            self._queue[key] = _Waiting(number, work)
            self._count(replaced=1)
            self._tell(WorkReplaced(key, number, older.number))
            return Wait(number, older.number)
        if key not in self._running and self.free_slots:
            return self._started(key, _Waiting(number, work))
        if not self._max_queue_size:
            self._dropped(key, number, DropReason.QUEUE_FULL)
            return Drop(number, DropReason.QUEUE_FULL)
        if len(self._queue) >= self._max_queue_size:
            self._drop_oldest()
        self._queue[key] = _Waiting(number, work)
        self._tell(WorkQueued(key, number, len(self._queue)))
        return Wait(number)

    def turn_away(self, key: str, reason: DropReason) -> Drop | Refuse:
        """Work has come that may not even wait; it is counted, told and, if it can be, asked for again."""
        if self._closed:
            self._tell(WorkRefused(key, RefusalReason.SHUTTING_DOWN))
            return Refuse(RefusalReason.SHUTTING_DOWN)
        number = self._accept(key)
        self._dropped(key, number, reason)
        return Drop(number, reason)

    def release(self, ticket: Ticket, ending: Ending) -> tuple[Start[Work], ...]:
        """The work of a ticket is over, whatever came of it; every free slot is filled.

        A ticket that was given back before changes nothing, so that nobody's slot is freed twice.
        """
        if not self.holds(ticket):
            return ()
        del self._running[ticket.key]
        self._count(done=1)
        self._tell(WorkReleased(ticket.key, ticket.number, ending, len(self._running)))
        return self._filled()

    def withdraw(self, key: str, reason: DropReason) -> None:
        """What waits for a conversation is not done now."""
        if waiting := self._queue.pop(key, None):
            self._dropped(key, waiting.number, reason)

    def forget(self, key: str, reason: DropReason) -> None:
        """Nothing is kept of a conversation but what runs for it: it waits no more and is not asked for again."""
        self.withdraw(key, reason)
        self._dirty.pop(key, None)

    def close(self) -> None:
        """Take nothing in any more; what runs is released as always."""
        if self._closed:
            return
        self._closed = True
        waiting = len(self._queue)
        for key in tuple(self._queue):
            self.withdraw(key, DropReason.SHUTTING_DOWN)
        self._dirty.clear()
        self._tell(GateClosed(len(self._running), waiting))

    # ── what it says ────────────────────────────────────────────────────────────────────────────

    @property
    def running(self) -> tuple[Ticket, ...]:
        """What is in flight, the longest running first."""
        return tuple(Ticket(key, number) for key, number in self._running.items())

    @property
    def queued(self) -> tuple[str, ...]:
        """The conversations whose work waits, oldest first."""
        return tuple(self._queue)

    @property
    def dirty(self) -> tuple[str, ...]:
        """The conversations that are to be asked for again, the longest marked first. None of them waits."""
        return tuple(self._dirty)

    @property
    def closed(self) -> bool:
        """Nothing is taken in any more."""
        return self._closed

    @property
    def free_slots(self) -> int:
        """Pieces of work that could start now."""
        return 0 if self._closed else max(0, self._max_concurrent - len(self._running))

    @property
    def room(self) -> int:
        """Pieces of work that could be taken in now without one being dropped."""
        return 0 if self._closed else self.free_slots + max(0, self._max_queue_size - len(self._queue))

    @property
    def counts(self) -> Counts:
        """What became of all the work."""
        return replace(self._counts, running=len(self._running), queued=len(self._queue))

    def is_dirty(self, key: str) -> bool:
        """This conversation is to be asked for again."""
        return key in self._dirty

    def runs(self, key: str) -> bool:
        """Work of this conversation is in flight."""
        return key in self._running

    def holds(self, ticket: Ticket) -> bool:
        """The ticket was given out and not given back."""
        return self._running.get(ticket.key) == ticket.number

    # ── inside ──────────────────────────────────────────────────────────────────────────────────

    def _accept(self, key: str) -> int:
        self._dirty.pop(key, None)
        self._count(accepted=1)
        return self._counts.accepted

    def _started(self, key: str, waiting: _Waiting[Work]) -> Start[Work]:
        self._running[key] = waiting.number
        self._tell(WorkAdmitted(key, waiting.number, len(self._running)))
        return Start(Ticket(key, waiting.number), waiting.work)

    def _filled(self) -> tuple[Start[Work], ...]:
        able = [key for key in self._queue if key not in self._running][: self.free_slots]
        return tuple(self._started(key, self._queue.pop(key)) for key in able)

    def _drop_oldest(self) -> None:
        self.withdraw(next(iter(self._queue)), DropReason.QUEUE_FULL)

    def _dropped(self, key: str, number: int, reason: DropReason) -> None:
        dirty = reason in RESCHEDULED
        if dirty:
            self._dirty.setdefault(key)
        self._count(dropped=1)
        self._tell(WorkDropped(key, number, reason, dirty))

    def _count(self, accepted: int = 0, done: int = 0, replaced: int = 0, dropped: int = 0) -> None:
        counts = self._counts
        self._counts = Counts(
            counts.accepted + accepted,
            counts.done + done,
            replaced=counts.replaced + replaced,
            dropped=counts.dropped + dropped,
        )
