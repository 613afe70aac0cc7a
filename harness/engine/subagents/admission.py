"""Carries out what a gate decides: who waits is woken, what ends gives its slot back.

The work runs in the task of whoever asked for it, so that a cancellation reaches it as it reaches everything else:

    run ──▶ ask the gate ──▶ wait for the start ──▶ with sharing: a slot of the machine ──▶ the work ──▶ release
                                   └── replaced, paused, ended, closed: NotAdmitted

Whoever is dropped because the queue is full goes on waiting outside of it, and the gate is asked again as soon as there
is room. So however many ask at once, the queue is never longer than it may be and everybody gets a turn.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from harness.base.clock import Clock
from harness.engine.subagents.rejection import NotAdmitted, Reason, not_admitted
from harness.engine.subagents.shared_slots import Sharing
from harness.engine.subagents.timer import Alarm
from harness.events import (
    ConversationBreakerChanged,
    ConversationRemoved,
    DropReason,
    Ending,
    Event,
    GateEvent,
    GateName,
    RefusalReason,
    WorkDropped,
)
from harness.policies.admission.decisions import Counts, Refuse, Start, Ticket
from harness.policies.admission.gate import Gate
from harness.policies.admission.limits import GateLimits
from harness.slots.shared import SharedSlots

T = TypeVar("T")

__all__ = ["GateStatus", "Gating", "NotAdmitted", "Place"]


@dataclass(slots=True, eq=False)
class Place:
    """Somebody who has asked for a turn."""

    key: str
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """It is known whether the turn has come."""
    ticket: Ticket | None = None
    refused: NotAdmitted | None = None
    claim: "asyncio.Task[str | None] | None" = None
    """Ends with the slot of the machine that it holds."""


@dataclass(frozen=True, slots=True)
class GateStatus:
    """Where a gate stands."""

    name: GateName
    limits: GateLimits
    running: tuple[str, ...]
    """Keys, the longest running first; those that are starting are among them."""
    starting: tuple[str, ...]
    """Keys whose turn has come and whose work has not begun: they wait for a slot of the machine."""
    queued: tuple[str, ...]
    """Keys, the next one first."""
    dirty: tuple[str, ...]
    """Keys that wait for a place in the queue."""
    resting: tuple[str, ...]
    """Keys that failed too often and are paused."""
    counts: Counts


def succeeded(_: object) -> Ending:
    """Judges work by nothing but its return."""
    return Ending.SUCCEEDED


class Gating:
    """Carries out one gate.

    Not for several threads. Nothing is left of a piece of work when its `run` is over but that its key is known;
    `end` takes that away too.
    """

    def __init__(
        self,
        gate: Gate[Place],
        emit: Callable[[Event], None],
        clock: Clock,
        *,
        shared: SharedSlots | None = None,
        existing: Callable[[], Collection[str]] | None = None,
        log: logging.Logger | None = None,
    ) -> None:
        """
        Args:
            gate: decides; nobody else may call it.
            emit: hears of everything that happens at the gate, after it has happened; of its limits with the first
                of it, so that a session in which nothing is asked says nothing.
            clock: time of pauses and sweeps.
            shared: slots that work needs besides those of this gate; whoever made them closes them, after this.
            existing: the keys that are still there; asked once in `sweep_every_s` while any are known. None:
                nothing disappears without `end`, and no timer ever runs.
            log: gets the reason why sharing has ended.
        """
        self._gate, self._emit, self._clock = gate, emit, clock
        self._existing = existing
        self._sharing = Sharing(shared, emit, log or logging.getLogger("harness"))
        self._waiting: dict[str, Place] = {}
        """Those in the queue of the gate, and those that it has marked."""
        self._starting: dict[str, Place] = {}
        """Those whose turn has come and whose work has not begun yet."""
        self._alarm = Alarm(clock, self._sweep)
        self._latest = clock.now()

    # ── work ────────────────────────────────────────────────────────────────────────────────────

    async def run(self, key: str, work: Callable[[], Awaitable[T]], judge: Callable[[T], Ending] = succeeded) -> T:
        """Do a piece of work when its turn has come, and return what it returns.

        Args:
            key: whose work it is; never two of one key at once, and of those that wait only the newest.
            work: begins in the task of the caller.
            judge: how the work ended, told by its result. Whatever it raises instead has FAILED, or is CANCELLED.

        Raises:
            NotAdmitted: it did not begin, and nothing of it is left.
        """
        place = Place(key)
        ending = Ending.CANCELLED
        try:
            self._ask(place)
            await self._turn(place)
            ending = Ending.FAILED
            result = await work()
            ending = judge(result)
            return result
        except asyncio.CancelledError:
            ending = Ending.CANCELLED
            raise
        finally:
            await self._left(place, ending)

    # ── conversations ───────────────────────────────────────────────────────────────────────────

    def end(self, key: str) -> None:
        """Nothing more comes of this key: what has not begun is not admitted, what runs finishes."""
        self._gate.end(key)
        if place := self._starting.get(key):
            self._refuse(place, DropReason.ENDED)
        self._settle()

    def active(self, key: str) -> None:
        """Something happened in the work of this key."""
        self._gate.active(key, self._now())

    def scan(self) -> tuple[str, ...]:
        """The keys to look at now."""
        keys = self._gate.scan()
        self._settle()
        return keys

    # ── the whole ───────────────────────────────────────────────────────────────────────────────

    def configure(self, limits: GateLimits) -> None:
        """Other limits from now on. What has begun is left alone; with none or no queue, who waits is turned away."""
        starts = self._gate.configure(limits, self._now())
        if not limits.max_concurrent:
            self._refuse_all("none_allowed")
        if not limits.max_queue_size:
            for key in self._gate.dirty:
                self._refuse(self._waiting[key], DropReason.QUEUE_FULL)
        self._settle(starts)

    @property
    def status(self) -> GateStatus:
        """Where it stands."""
        gate = self._gate
        running = tuple(ticket.key for ticket in gate.running)
        return GateStatus(
            gate.name,
            gate.limits,
            running,
            tuple(self._starting),
            gate.queued,
            gate.dirty,
            gate.resting,
            gate.counts,
        )

    async def aclose(self) -> None:
        """Let nothing begin any more. What runs is ended by whoever started it, and releases as always."""
        self._gate.close()
        self._refuse_all(DropReason.SHUTTING_DOWN)
        self._settle()
        await self._alarm.aclose()
        await self._sharing.settled()

    # ── one turn ────────────────────────────────────────────────────────────────────────────────

    def _ask(self, place: Place) -> None:
        if not self._gate.limits.max_concurrent:
            self._refuse(place, "none_allowed")
            return
        now = self._now()
        if not self._gate.open(place.key, now):
            closed = self._gate.closed
            self._refuse(place, RefusalReason.SHUTTING_DOWN if closed else RefusalReason.NOT_KNOWN)
        else:
            if older := self._waiting.pop(place.key, None):
                self._turn_away(older, "replaced")
            self._waiting[place.key] = place
            self._settle(self._asked(place, now))

    async def _turn(self, place: Place) -> None:
        """Wait until the work may begin."""
        await place.settled.wait()
        if place.refused is None:
            await self._shared_slot(place)
        if place.refused is not None:
            raise place.refused
        del self._starting[place.key]

    async def _shared_slot(self, place: Place) -> None:
        place.claim = self._sharing.ask(place.key, self._gate.limits.max_concurrent)
        if place.claim is None:
            return
        before = _cancellations()
        try:
            await place.claim
        except asyncio.CancelledError:
            if _cancellations() > before:
                raise

    async def _left(self, place: Place, ending: Ending) -> None:
        returned = self._sharing.give_back(place.claim)
        try:
            if self._starting.get(place.key) is place:
                del self._starting[place.key]
            starts: tuple[Start[Place], ...] = ()
            if place.ticket is not None:
                starts = self._gate.release(place.ticket, ending, self._now())
            elif self._waiting.get(place.key) is place:
                del self._waiting[place.key]
                self._gate.withdraw(place.key)
            self._settle(starts)
        finally:
            if returned is not None:
                await asyncio.shield(returned)

    # ── what the gate says ──────────────────────────────────────────────────────────────────────

    def _asked(self, place: Place, now: float) -> tuple[Start[Place], ...]:
        match self._gate.ask(place.key, place, now):
            case Start() as start:
                return (start,)
            case Refuse(reason):
                self._refuse(place, reason)
        return ()

    def _settle(self, starts: Iterable[Start[Place]] = ()) -> None:
        """Wake whoever is concerned by what has happened at the gate, then tell of it and set the timer."""
        told: list[GateEvent] = []
        now = self._now()
        self._begin(starts)
        while news := self._gate.news():
            told += news
            for event in news:
                self._heed(event, now)
            for key in self._gate.due_again(now):
                self._begin(self._asked(self._waiting[key], now))
        self._alarm.set(None if self._existing is None else self._gate.next_due(now), now)
        for event in told:
            self._emit(event)

    def _begin(self, starts: Iterable[Start[Place]]) -> None:
        for start in starts:
            place = start.work
            del self._waiting[place.key]
            self._starting[place.key] = place
            place.ticket = start.ticket
            place.settled.set()

    def _heed(self, event: GateEvent, now: float) -> None:
        match event:
            case WorkDropped(key=key, reason=reason) if place := self._waiting.get(key):
                if reason is not DropReason.QUEUE_FULL or not self._gate.limits.max_queue_size:
                    self._refuse(place, reason)
            case ConversationRemoved(key=key) if place := self._waiting.get(key):
                self._refuse(place, DropReason.ENDED)
            case ConversationBreakerChanged(key=key, until=float(until)) if place := self._waiting.get(key):
                if until > now:
                    self._refuse(place, DropReason.PAUSED)

    def _refuse(self, place: Place, reason: Reason) -> None:
        if self._waiting.get(place.key) is place:
            del self._waiting[place.key]
            self._gate.withdraw(place.key)
        self._turn_away(place, reason)

    def _refuse_all(self, reason: Reason) -> None:
        for place in (*self._waiting.values(), *self._starting.values()):
            self._refuse(place, reason)

    def _turn_away(self, place: Place, reason: Reason) -> None:
        place.refused = not_admitted(place.key, reason, self._gate)
        place.settled.set()
        if place.claim is not None:
            place.claim.cancel()

    # ── time ────────────────────────────────────────────────────────────────────────────────────

    def _now(self) -> float:
        """The clock of a machine may be set back; that of a gate may not."""
        self._latest = max(self._latest, self._clock.now())
        return self._latest

    def _sweep(self) -> None:
        if self._existing is not None:
            self._gate.sweep(self._existing(), self._now())
        self._settle()


def _cancellations() -> int:
    """How often the task that runs now was asked to end: tells its own cancellation from that of what it waits for."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()
