"""The admission controller: may this work start now, wait, or replace older work?

It combines slots and queue (`slot_queue`), the breakers of conversations (`conversations`) and the watch list. It
starts, ends and waits for nothing: the caller starts what a method returns, returns every permit when the last process
of its work has ended, and drains the events after each call.

A paused conversation takes no place from others: its work is deferred, and `due_again` names it when the pause is over.
An ended one loses its queued work, failures and marks; its running work finishes, and until then it cannot be reopened.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from math import inf
from types import MappingProxyType
from typing import Generic

from harness.events import (
    AdmissionEvent,
    AdmissionLimitsSet,
    AdmissionPool,
    ConversationRemoved,
    DropReason,
    RejectionReason,
    RemovalReason,
    WorkEnd,
    WorkRejected,
)
from harness.policies.admission.conversations import ConversationBreakers, WatchList
from harness.policies.admission.slot_queue import Admit, Defer, Enqueue, Permit, Reject, SlotQueue, Work, WorkCounts
from harness.policies.breakers.breaker import Breaker, BreakerLimits

RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "max_concurrent": (0, 1_000),
        "max_queue_size": (0, 10_000),
        "watch_cap": (0, 10_000),
        "reserved_percent": (1, 100),
        "failures_in_a_row": (1, 100),
        "pause_s": (0.001, 86_400.0),
        "longest_pause_s": (0.001, 86_400.0),
        "sweep_every_s": (0.001, 86_400.0),
    }
)
"""Range of each number."""


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """How much may run, wait and be watched. Raises ValueError, with one sentence, for a number out of range."""

    max_concurrent: int = 5
    """Running work; 0: none."""
    max_queue_size: int = 20
    """Queued work; 0: none."""
    watch_cap: int = 50
    """Conversations in one scan; 0: none."""
    reserved_percent: int = 20
    """Share of the watch cap for the longest unwatched conversations; at least one place."""
    failures_in_a_row: int = 5
    """Consecutive failures that pause a conversation."""
    pause_s: float = 60.0
    """The first pause, doubled for each further one until an attempt succeeds."""
    longest_pause_s: float = 300.0
    sweep_every_s: float = 60.0
    """Between two sweeps for conversations that no longer exist."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            least, most = RANGES[one.name]
            whole = isinstance(one.default, int)
            if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
                raise ValueError(f"{one.name} must be a {'whole number' if whole else 'number'}, not {value!r}")
            if not least <= value <= most:
                raise ValueError(f"{one.name} must be from {least} to {most}, not {value}")
        if self.longest_pause_s < self.pause_s:
            raise ValueError(f"longest_pause_s must be at least pause_s, which is {self.pause_s}")

    @property
    def reserved(self) -> int:
        """Places of a scan for the longest unwatched conversations."""
        return -(-self.watch_cap * self.reserved_percent // 100)

    @property
    def breaker(self) -> BreakerLimits:
        """The numbers of a conversation's breaker, in seconds. No attempt is lost: all work ends."""
        pauses = [self.pause_s]
        while pauses[-1] < self.longest_pause_s:
            pauses.append(min(pauses[-1] * 2, self.longest_pause_s))
        return BreakerLimits(self.failures_in_a_row, tuple(pauses), inf)


@dataclass(frozen=True, slots=True)
class AdmissionSizes:
    """Entries in every map of a controller. All are 0 once every conversation has ended and all work is over."""

    conversations: int
    with_failures: int
    watched: int
    running: int
    queued: int
    deferred: int


class AdmissionController(Generic[Work]):
    """The admission controller of one program. Moments are Unix time in seconds and never decrease."""

    def __init__(self, limits: AdmissionLimits | None = None, name: AdmissionPool = AdmissionPool.AGENTS) -> None:
        self._limits = limits or AdmissionLimits()
        self._name = name
        self._events: list[AdmissionEvent] = []
        emit = self._emit
        self._admission: SlotQueue[Work] = SlotQueue(self._limits.max_concurrent, self._limits.max_queue_size, emit)
        self._conversations = ConversationBreakers(self._limits.breaker, self._limits.sweep_every_s, emit)
        self._watch_list = WatchList(self._limits.watch_cap, self._limits.reserved)
        emit(_announced(self._limits))

    # ── work ────────────────────────────────────────────────────────────────────────────────────

    def ask(self, key: str, work: Work, now: float) -> Admit[Work] | Enqueue | Defer | Reject:
        """Ask for a slot for work of a conversation."""
        if key not in self._conversations and not self._admission.closed:
            self._emit(WorkRejected(key, RejectionReason.NOT_KNOWN))
            return Reject(RejectionReason.NOT_KNOWN)
        self._watch_list.active(key, now)
        if self._conversations.is_paused(key, now):
            return self._admission.defer(key, DropReason.PAUSED)
        answer = self._admission.ask(key, work)
        if isinstance(answer, Admit):
            self._conversations.started(key, now)
        return answer

    def release(self, permit: Permit, ending: WorkEnd, now: float) -> tuple[Admit[Work], ...]:
        """The work of a permit is over and its last process has ended; returns the work that starts now.

        Call it however the work ended. A second call changes nothing.
        """
        if not self._admission.holds(permit):
            return ()
        self._conversations.ended(permit.key, ending, now)
        if self._conversations.is_paused(permit.key, now):
            self._admission.withdraw(permit.key, DropReason.PAUSED)
        return self._begun(self._admission.release(permit, ending), now)

    def withdraw(self, key: str) -> None:
        """The work is no longer wanted: it leaves the queue, and its mark is removed."""
        self._admission.forget(key, DropReason.WITHDRAWN)

    def due_again(self, now: float) -> tuple[str, ...]:
        """Conversations whose deferred work can be asked for now without deferring other work."""
        ready = (
            key
            for key in self._admission.deferred
            if not self._admission.runs(key) and not self._conversations.is_paused(key, now)
        )
        return tuple(islice(ready, self._admission.room))

    # ── conversations ───────────────────────────────────────────────────────────────────────────

    def open(self, key: str, now: float) -> bool:
        """A conversation begins, or is active. False: rejected, because the controller is closed, or it ended and still
        runs."""
        if self._admission.closed or (key not in self._conversations and self._admission.runs(key)):
            return False
        self._conversations.add(key, now)
        self._watch_list.add(key, now)
        return True

    def end(self, key: str, why: RemovalReason = RemovalReason.ENDED) -> None:
        """A conversation ends (docs/design/admission.md#end-of-a-conversation)."""
        if self._conversations.remove(key):
            self._watch_list.remove(key)
            self._admission.forget(key, DropReason.ENDED)
            self._emit(ConversationRemoved(key, why, self._admission.runs(key)))

    def active(self, key: str, now: float) -> None:
        self._watch_list.active(key, now)

    def scan(self) -> tuple[str, ...]:
        """The conversations to look at now."""
        return self._watch_list.scan()

    def sweep(self, existing: Collection[str], now: float) -> tuple[str, ...]:
        """End the known conversations that no longer exist; returns them."""
        gone = self._conversations.gone(existing, now)
        for key in gone:
            self.end(key, RemovalReason.DISAPPEARED)
        return gone

    # ── the whole ───────────────────────────────────────────────────────────────────────────────

    def configure(self, limits: AdmissionLimits, now: float) -> tuple[Admit[Work], ...]:
        """Use other limits from now on; returns the work that starts now. Running work is unaffected."""
        self._limits = limits
        self._emit(_announced(limits))
        self._conversations.configure(limits.breaker, limits.sweep_every_s)
        self._watch_list.configure(limits.watch_cap, limits.reserved)
        return self._begun(self._admission.configure(limits.max_concurrent, limits.max_queue_size), now)

    def close(self) -> None:
        """Reject new work and drop queued work; running work is released as usual."""
        self._admission.close()
        self._conversations.clear()
        self._watch_list.clear()

    def next_due(self, now: float) -> float | None:
        """The next moment at which time alone causes something: a sweep, or the attempt after a pause. It may be in the
        past.

        None: no timer is needed.
        """
        paused_until, marked = self._conversations.paused_until, self._admission.is_deferred
        ends = (paused_until(key) for key in self._conversations.paused if marked(key))  # few, where many may be marked
        pauses = [until for until in ends if until is not None and until > now]
        sweep = self._conversations.sweep_at
        return min([*pauses, *([] if sweep is None else [sweep])], default=None)

    def drain_events(self) -> tuple[AdmissionEvent, ...]:
        """The events since the last call. None is dropped, so they have to be drained."""
        events = tuple(self._events)
        self._events.clear()
        return events

    # ── what it says ────────────────────────────────────────────────────────────────────────────

    @property
    def name(self) -> AdmissionPool:
        return self._name

    @property
    def limits(self) -> AdmissionLimits:
        return self._limits

    @property
    def closed(self) -> bool:
        return self._admission.closed

    @property
    def running(self) -> tuple[Permit, ...]:
        """Running work, the longest running first."""
        return self._admission.running

    @property
    def queued(self) -> tuple[str, ...]:
        """Conversations with queued work, oldest first."""
        return self._admission.queued

    @property
    def deferred(self) -> tuple[str, ...]:
        """Conversations whose work was deferred and that are to be asked again."""
        return self._admission.deferred

    @property
    def paused(self) -> tuple[str, ...]:
        """Conversations that failed too often in a row and wait for their attempt."""
        return self._conversations.paused

    @property
    def counts(self) -> WorkCounts:
        return self._admission.counts

    def breaker(self, key: str) -> Breaker:
        return self._conversations.breaker(key)

    def sizes(self) -> AdmissionSizes:
        admission = self._admission
        return AdmissionSizes(
            len(self._conversations),
            self._conversations.with_failures,
            len(self._watch_list),
            len(admission.running),
            len(admission.queued),
            len(admission.deferred),
        )

    def _emit(self, event: AdmissionEvent) -> None:
        self._events.append(event if self._name is event.pool else replace(event, pool=self._name))

    def _begun(self, starts: tuple[Admit[Work], ...], now: float) -> tuple[Admit[Work], ...]:
        for start in starts:
            self._conversations.started(start.permit.key, now)
        return starts


def _announced(limits: AdmissionLimits) -> AdmissionLimitsSet:
    return AdmissionLimitsSet(limits.max_concurrent, limits.max_queue_size, limits.watch_cap)
