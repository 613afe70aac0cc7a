"""Carries out what a gate decides: who waits is woken, what ends gives its slot back (seed 003; resilience D1-D4).

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
from typing import Literal, Protocol, TypeVar

from harness.clock import Clock, time_of_day
from harness.errors import HarnessError
from harness.events import (
    ConversationBreakerChanged,
    DropReason,
    Ending,
    Event,
    GateEvent,
    GateName,
    Notice,
    RefusalReason,
    WorkDropped,
)
from harness.gate.decisions import Counts, Refuse, Start, Ticket
from harness.gate.gate import Gate
from harness.gate.limits import GateLimits

T = TypeVar("T")

Reason = DropReason | RefusalReason | Literal["replaced", "none_allowed"]
"""Why work was not admitted. "replaced": newer work of its key took its place; "none_allowed": there are no slots."""


class NotAdmitted(HarnessError):  # noqa: N818 (an answer of the gate)
    """The gate did not let a piece of work begin."""

    def __init__(self, sentence: str, reason: Reason, until: float | None = None) -> None:
        """
        Args:
            sentence: the whole of it for a person.
            reason: the same for a program.
            until: Unix time from which on it may be tried again, where that is known.
        """
        super().__init__(sentence)
        self.reason = reason
        self.until = until


class SharedSlots(Protocol):
    """Slots that all programs of a person on this machine have together."""

    async def acquire(self, key: str, limit: int) -> str:
        """Wait until fewer than `limit` are taken, and take one; a cancellation withdraws. Raises HarnessError."""
        ...

    async def release(self, claim: str) -> None:
        """Give back what `acquire` has returned. Raises HarnessError."""
        ...


@dataclass(slots=True, eq=False)
class Place:
    """Somebody who has asked for a turn."""

    key: str
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """It is known whether the turn has come."""
    ticket: Ticket | None = None
    refused: NotAdmitted | None = None
    claim: "asyncio.Future[str] | None" = None
    """The slot of the machine, on its way or held."""


@dataclass(frozen=True, slots=True)
class GateStatus:
    """Where a gate stands."""

    name: GateName
    limits: GateLimits
    running: tuple[str, ...]
    """Keys, the longest running first."""
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
            emit: hears of everything that happens at the gate, after it has happened.
            clock: time of pauses and sweeps.
            shared: slots that work needs besides those of this gate; it is closed by whoever made it.
            existing: the keys that are still there; asked once in `sweep_every_s` while any are known (D9). None:
                nothing disappears without `end`, and no timer ever runs.
            log: gets the reason why sharing has ended.
        """
        self._gate, self._emit, self._clock = gate, emit, clock
        self._shared, self._existing = shared, existing
        self._log = log or logging.getLogger("harness")
        self._waiting: dict[str, Place] = {}
        """Those in the queue of the gate, and those that it has marked."""
        self._starting: dict[str, Place] = {}
        """Those whose turn has come and whose work has not begun yet."""
        self._returns: set[asyncio.Task[None]] = set()
        """Slots of the machine on their way back."""
        self._timer: asyncio.Task[None] | None = None
        self._timer_at: float | None = None
        self._latest = clock.now()
        self._settle()

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
        """Nothing more comes of this key: what has not begun is not admitted, what runs finishes (D9)."""
        self._gate.end(key)
        if place := self._starting.get(key):
            self._refuse(place, DropReason.ENDED)
        self._settle()

    def active(self, key: str) -> None:
        """Something happened in the work of this key (D8)."""
        self._gate.active(key, self._now())

    def scan(self) -> tuple[str, ...]:
        """The keys to look at now (D8)."""
        keys = self._gate.scan()
        self._settle()
        return keys

    # ── the whole ───────────────────────────────────────────────────────────────────────────────

    def configure(self, limits: GateLimits) -> None:
        """Other limits from now on; what runs is left alone."""
        starts = self._gate.configure(limits, self._now())
        if not limits.max_concurrent:
            for place in tuple(self._waiting.values()):
                self._refuse(place, "none_allowed")
        if not limits.max_queue_size:
            for key in self._gate.dirty:
                self._refuse(self._waiting[key], DropReason.QUEUE_FULL)
        self._settle(starts)

    @property
    def status(self) -> GateStatus:
        """Where it stands."""
        gate = self._gate
        running = tuple(ticket.key for ticket in gate.running)
        return GateStatus(gate.name, gate.limits, running, gate.queued, gate.dirty, gate.resting, gate.counts)

    async def aclose(self) -> None:
        """Let nothing begin any more. What runs is ended by whoever started it, and releases as always (D11)."""
        self._gate.close()
        for place in (*self._waiting.values(), *self._starting.values()):
            self._refuse(place, DropReason.SHUTTING_DOWN)
        timer = self._timer
        self._settle()
        if ending := {*self._returns, *([timer] if timer else [])}:
            await asyncio.wait(ending)

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
        if place.refused is None and self._shared is not None:
            await self._claimed(place, self._shared)
        if place.refused is not None:
            raise place.refused
        del self._starting[place.key]

    async def _claimed(self, place: Place, shared: SharedSlots) -> None:
        place.claim = asyncio.ensure_future(shared.acquire(place.key, self._gate.limits.max_concurrent))
        try:
            await place.claim
        except HarnessError as error:
            self._share_no_more(error)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if place.refused is None or (task is not None and task.cancelling()):
                raise

    async def _left(self, place: Place, ending: Ending) -> None:
        returned = self._returned(place)
        try:
            self._starting = {key: one for key, one in self._starting.items() if one is not place}
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

    # ── slots of the machine ────────────────────────────────────────────────────────────────────

    def _returned(self, place: Place) -> "asyncio.Task[None] | None":
        """Give the slot of the machine back, in a task of its own: a second cancellation must not keep it."""
        claim = place.claim
        if self._shared is None or claim is None or not claim.done() or claim.cancelled() or claim.exception():
            return None
        task = asyncio.ensure_future(self._give_back(self._shared, claim.result()))
        self._returns.add(task)
        task.add_done_callback(self._returns.discard)
        return task

    async def _give_back(self, shared: SharedSlots, claim: str) -> None:
        try:
            await shared.release(claim)
        except HarnessError as error:
            self._share_no_more(error)

    def _share_no_more(self, error: HarnessError) -> None:
        if self._shared is None:
            return
        self._shared = None
        self._log.warning("the gate is not shared any more", exc_info=error)
        self._emit(Notice("warning", f"The limit holds for this session alone from now on: {error}"))

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
        self._set_timer(now)
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
            case ConversationBreakerChanged(key=key, until=float(until)) if place := self._waiting.get(key):
                if until > now:
                    self._refuse(place, DropReason.PAUSED)

    def _refuse(self, place: Place, reason: Reason) -> None:
        if self._waiting.get(place.key) is place:
            del self._waiting[place.key]
            self._gate.withdraw(place.key)
        self._turn_away(place, reason)

    def _turn_away(self, place: Place, reason: Reason) -> None:
        until = self._gate.breaker(place.key).due if reason is DropReason.PAUSED else None
        place.refused = NotAdmitted(_sentence(place.key, reason, until, self._gate), reason, until)
        place.settled.set()
        if place.claim is not None:
            place.claim.cancel()

    # ── time ────────────────────────────────────────────────────────────────────────────────────

    def _now(self) -> float:
        """The clock of a machine may be set back; that of a gate may not."""
        self._latest = max(self._latest, self._clock.now())
        return self._latest

    def _set_timer(self, now: float) -> None:
        due = None if self._existing is None else self._gate.next_due(now)
        if due == self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if due is None else asyncio.ensure_future(self._sweep_after(max(0.0, due - now)))
        self._timer_at = due

    async def _sweep_after(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._timer = self._timer_at = None
        if self._existing is not None:
            self._gate.sweep(self._existing(), self._now())
        self._settle()


def _sentence(key: str, reason: Reason, until: float | None, gate: Gate[Place]) -> str:
    flag = "--max-concurrent" if gate.name is GateName.AGENTS else "max_background"
    match reason:
        case "none_allowed":
            return f"{key} cannot start: {flag} is 0, so that none may run; allow some with {flag}."
        case "replaced":
            return f"{key} did not start with this: newer work for it took its place."
        case DropReason.PAUSED:
            failures = gate.breaker(key).failures
            when = f" until {time_of_day(until)}" if until is not None else ""
            return f"{key} rests{when}: it failed {failures} times in a row; try again after that."
        case DropReason.QUEUE_FULL:
            return f"{key} cannot start: all slots are taken, and none may wait; allow it with --max-queue-size."
        case DropReason.ENDED | RefusalReason.NOT_KNOWN:
            return f"{key} has ended, and nothing more can be done for it."
        case DropReason.WITHDRAWN:
            return f"{key} is not wanted any more."
        case DropReason.SHUTTING_DOWN | RefusalReason.SHUTTING_DOWN:
            return f"{key} did not start: the session ends."
