"""Carries out admission decisions: wakes queued work, and returns the slots of work that has ended.

Work runs in the task of its caller, so that a cancellation reaches it:

    run ──▶ ask for admission ──▶ wait for the start ──▶ with sharing: a slot of the machine ──▶ the work ──▶ release
                                   └── replaced, paused, ended, closed: NotAdmitted

Work that is dropped because the queue is full waits outside of it and asks again as soon as there is room. So the queue
never exceeds its limit, and all work gets a turn.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from harness.base.clock import Clock, time_of_day
from harness.base.errors import HarnessError
from harness.events import (
    AdmissionEvent,
    AdmissionPool,
    ConversationBreakerChanged,
    ConversationRemoved,
    DropReason,
    Event,
    Notice,
    RejectionReason,
    WorkDropped,
    WorkEnd,
)
from harness.policies.admission.controller import AdmissionController, AdmissionLimits
from harness.policies.admission.slot_queue import Admit, Permit, Reject, WorkCounts
from harness.slots.client import SharedSlots
from harness.slots.store import SlotsError
from harness.slots.store_pause import ALONE, TOGETHER

Reason = DropReason | RejectionReason | Literal["replaced", "none_allowed"]
"""Why. "replaced": newer work of its key took its place; "none_allowed": there are no slots at all."""


class NotAdmitted(HarnessError):  # noqa: N818 (an answer, not an error)
    """A piece of work was not admitted."""

    def __init__(self, sentence: str, reason: Reason, until: float | None = None) -> None:
        """
        Args:
            sentence: the whole of it for the user.
            reason: the same for a program.
            until: Unix time of the next possible attempt, where known.
        """
        super().__init__(sentence)
        self.reason = reason
        self.until = until


def not_admitted(key: str, reason: Reason, controller: AdmissionController[Any]) -> NotAdmitted:
    """The answer for work of `key`; with the end of the pause of a paused one."""
    breaker = controller.breaker(key)
    until = breaker.due if reason is DropReason.PAUSED else None
    return NotAdmitted(_sentence(key, reason, until, breaker.failures, controller.name), reason, until)


def _sentence(key: str, reason: Reason, until: float | None, failures: int, pool: AdmissionPool) -> str:
    match reason:
        case "none_allowed" if pool is AdmissionPool.AGENTS:
            return f"{key} did not start: no agent may run; --max-concurrent allows some."
        case "none_allowed":
            return f"{key} did not start: nothing may run in the background; the setting max_background allows some."
        case "replaced":
            return f"{key} did not start with this: newer work for it took its place."
        case DropReason.PAUSED:
            when = "" if until is None else f" until {time_of_day(until)}"
            return f"{key} is paused{when}: it failed {failures} times in a row; after that it may try again."
        case DropReason.QUEUE_FULL:
            return f"{key} did not start: as many run as may, and none may wait; --max-queue-size allows some."
        case DropReason.ENDED | RejectionReason.NOT_KNOWN:
            return f"{key} did not start: it has been ended."
        case DropReason.WITHDRAWN:
            return f"{key} did not start: it was withdrawn."
        case DropReason.SHUTTING_DOWN | RejectionReason.SHUTTING_DOWN:
            return f"{key} did not start: the session is closing."


T = TypeVar("T")

__all__ = ["AdmissionEntry", "AdmissionRunner", "AdmissionStatus", "NotAdmitted"]


@dataclass(slots=True, eq=False)
class AdmissionEntry:
    """Work that has asked for admission."""

    key: str
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """It was admitted or rejected."""
    permit: Permit | None = None
    refused: NotAdmitted | None = None
    claim: "asyncio.Task[str | None] | None" = None
    """Ends with the slot of the machine that it holds."""


@dataclass(frozen=True, slots=True)
class AdmissionStatus:
    """Running and queued work."""

    name: AdmissionPool
    limits: AdmissionLimits
    running: tuple[str, ...]
    """Keys, the longest running first; those that are starting are among them."""
    starting: tuple[str, ...]
    """Keys whose turn has come and whose work has not begun: they wait for a slot of the machine."""
    queued: tuple[str, ...]
    """Keys, the next one first."""
    deferred: tuple[str, ...]
    """Keys that wait for room in the queue."""
    paused: tuple[str, ...]
    """Keys that failed too often and are paused."""
    counts: WorkCounts


def succeeded(_: object) -> WorkEnd:
    """Judges work by nothing but its return."""
    return WorkEnd.SUCCEEDED


class AdmissionRunner:
    """Carries out the decisions of one admission controller.

    Not for several threads. Nothing is left of a piece of work when its `run` is over but that its key is known;
    `end` takes that away too.
    """

    def __init__(
        self,
        controller: AdmissionController[AdmissionEntry],
        emit: Callable[[Event], None],
        clock: Clock,
        *,
        shared: SharedSlots | None = None,
        existing: Callable[[], Collection[str]] | None = None,
        log: logging.Logger | None = None,
    ) -> None:
        """
        Args:
            controller: decides; used by this object alone.
            emit: receives every event; the limits are emitted with the first one, so that a session without such
                work emits nothing.
            clock: time of pauses and sweeps.
            shared: slots of the machine that work needs besides; closed by the caller, after this.
            existing: the keys that are still there; asked once in `sweep_every_s` while any are known. None:
                nothing disappears without `end`, and no timer ever runs.
            log: gets the reason why sharing has ended.
        """
        self._controller, self._emit, self._clock = controller, emit, clock
        self._existing = existing
        self._sharing = MachineSlots(shared, emit, log or logging.getLogger("harness"))
        self._waiting: dict[str, AdmissionEntry] = {}
        """Queued and deferred work."""
        self._starting: dict[str, AdmissionEntry] = {}
        """Those whose turn has come and whose work has not begun yet."""
        self._alarm = AdmissionTimer(clock, self._sweep)
        self._latest = clock.now()

    # ── work ────────────────────────────────────────────────────────────────────────────────────

    async def run(self, key: str, work: Callable[[], Awaitable[T]], judge: Callable[[T], WorkEnd] = succeeded) -> T:
        """Do a piece of work when its turn has come, and return what it returns.

        Args:
            key: whose work it is; never two of one key at once, and of those that wait only the newest.
            work: begins in the task of the caller.
            judge: how the work ended, by its result. An exception is FAILED or CANCELLED.

        Raises:
            NotAdmitted: it did not begin, and nothing of it is left.
        """
        entry = AdmissionEntry(key)
        ending = WorkEnd.CANCELLED
        try:
            self._ask(entry)
            await self._turn(entry)
            ending = WorkEnd.FAILED
            result = await work()
            ending = judge(result)
            return result
        except asyncio.CancelledError:
            ending = WorkEnd.CANCELLED
            raise
        finally:
            await self._left(entry, ending)

    # ── conversations ───────────────────────────────────────────────────────────────────────────

    def end(self, key: str) -> None:
        """Reject queued work of this key; running work finishes."""
        self._controller.end(key)
        if entry := self._starting.get(key):
            self._refuse(entry, DropReason.ENDED)
        self._settle()

    def active(self, key: str) -> None:
        """Something happened in the work of this key."""
        self._controller.active(key, self._now())

    def scan(self) -> tuple[str, ...]:
        """The keys to look at now."""
        keys = self._controller.scan()
        self._settle()
        return keys

    def paused_until(self, key: str) -> float | None:
        """Unix time until which work of this key is paused, because it failed too often; None: it is not."""
        return self._controller.breaker(key).due

    def failures(self, key: str) -> int:
        """How often its work failed in a row."""
        return self._controller.breaker(key).failures

    # ── the whole ───────────────────────────────────────────────────────────────────────────────

    def configure(self, limits: AdmissionLimits) -> None:
        """Other limits from now on. Running work is left alone; with a limit of 0, queued work is rejected."""
        starts = self._controller.configure(limits, self._now())
        if not limits.max_concurrent:
            self._refuse_all("none_allowed")
        if not limits.max_queue_size:
            for key in self._controller.deferred:
                self._refuse(self._waiting[key], DropReason.QUEUE_FULL)
        self._settle(starts)

    @property
    def status(self) -> AdmissionStatus:
        """Running and queued work now."""
        controller = self._controller
        running = tuple(permit.key for permit in controller.running)
        return AdmissionStatus(
            controller.name,
            controller.limits,
            running,
            tuple(self._starting),
            controller.queued,
            controller.deferred,
            controller.paused,
            controller.counts,
        )

    async def aclose(self) -> None:
        """Admit nothing from now on. Running work is ended by its callers and releases its slots as always."""
        self._controller.close()
        self._refuse_all(DropReason.SHUTTING_DOWN)
        self._settle()
        await self._alarm.aclose()
        await self._sharing.settled()

    # ── one turn ────────────────────────────────────────────────────────────────────────────────

    def _ask(self, entry: AdmissionEntry) -> None:
        if not self._controller.limits.max_concurrent:
            self._refuse(entry, "none_allowed")
            return
        now = self._now()
        if not self._controller.open(entry.key, now):
            closed = self._controller.closed
            self._refuse(entry, RejectionReason.SHUTTING_DOWN if closed else RejectionReason.NOT_KNOWN)
        else:
            if older := self._waiting.pop(entry.key, None):
                self._settle_refused(older, "replaced")
            self._waiting[entry.key] = entry
            self._settle(self._asked(entry, now))

    async def _turn(self, entry: AdmissionEntry) -> None:
        """Wait until the work may begin."""
        await entry.settled.wait()
        if entry.refused is None:
            await self._shared_slot(entry)
        if entry.refused is not None:
            raise entry.refused
        del self._starting[entry.key]

    async def _shared_slot(self, entry: AdmissionEntry) -> None:
        entry.claim = self._sharing.ask(entry.key, self._controller.limits.max_concurrent)
        if entry.claim is None:
            return
        before = _cancellations()
        try:
            await entry.claim
        except asyncio.CancelledError:
            if _cancellations() > before:
                raise

    async def _left(self, entry: AdmissionEntry, ending: WorkEnd) -> None:
        returned = self._sharing.give_back(entry.claim)
        try:
            if self._starting.get(entry.key) is entry:
                del self._starting[entry.key]
            starts: tuple[Admit[AdmissionEntry], ...] = ()
            if entry.permit is not None:
                starts = self._controller.release(entry.permit, ending, self._now())
            elif self._waiting.get(entry.key) is entry:
                del self._waiting[entry.key]
                self._controller.withdraw(entry.key)
            self._settle(starts)
        finally:
            if returned is not None:
                await asyncio.shield(returned)

    # ── decisions of the controller ──────────────────────────────────────────────────────────────────────

    def _asked(self, entry: AdmissionEntry, now: float) -> tuple[Admit[AdmissionEntry], ...]:
        match self._controller.ask(entry.key, entry, now):
            case Admit() as start:
                return (start,)
            case Reject(reason):
                self._refuse(entry, reason)
        return ()

    def _settle(self, starts: Iterable[Admit[AdmissionEntry]] = ()) -> None:
        """Wake all work that the decisions concern, then emit the events and set the timer."""
        emitted: list[AdmissionEvent] = []
        now = self._now()
        self._begin(starts)
        while events := self._controller.drain_events():
            emitted += events
            for event in events:
                self._apply(event, now)
            for key in self._controller.due_again(now):
                self._begin(self._asked(self._waiting[key], now))
        self._alarm.set(None if self._existing is None else self._controller.next_due(now), now)
        for event in emitted:
            self._emit(event)

    def _begin(self, starts: Iterable[Admit[AdmissionEntry]]) -> None:
        for start in starts:
            entry = start.work
            del self._waiting[entry.key]
            self._starting[entry.key] = entry
            entry.permit = start.permit
            entry.settled.set()

    def _apply(self, event: AdmissionEvent, now: float) -> None:
        match event:
            case WorkDropped(key=key, reason=reason) if entry := self._waiting.get(key):
                if reason is not DropReason.QUEUE_FULL or not self._controller.limits.max_queue_size:
                    self._refuse(entry, reason)
            case ConversationRemoved(key=key) if entry := self._waiting.get(key):
                self._refuse(entry, DropReason.ENDED)
            case ConversationBreakerChanged(key=key, until=float(until)) if entry := self._waiting.get(key):
                if until > now:
                    self._refuse(entry, DropReason.PAUSED)

    def _refuse(self, entry: AdmissionEntry, reason: Reason) -> None:
        if self._waiting.get(entry.key) is entry:
            del self._waiting[entry.key]
            self._controller.withdraw(entry.key)
        self._settle_refused(entry, reason)

    def _refuse_all(self, reason: Reason) -> None:
        for entry in (*self._waiting.values(), *self._starting.values()):
            self._refuse(entry, reason)

    def _settle_refused(self, entry: AdmissionEntry, reason: Reason) -> None:
        entry.refused = not_admitted(entry.key, reason, self._controller)
        entry.settled.set()
        if entry.claim is not None:
            entry.claim.cancel()

    # ── time ────────────────────────────────────────────────────────────────────────────────────

    def _now(self) -> float:
        """The clock of a machine may be set back; that of a controller may not."""
        self._latest = max(self._latest, self._clock.now())
        return self._latest

    def _sweep(self) -> None:
        if self._existing is not None:
            self._controller.sweep(self._existing(), self._now())
        self._settle()


def _cancellations() -> int:
    """Cancellations of the current task: distinguishes its own from that of a task it waits for."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


class AdmissionTimer:
    """Calls back at one moment, which may be moved or taken back."""

    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        """
        Args:
            ring: called once when the moment has come; it may set the next one.
        """
        self._clock, self._ring = clock, ring
        self._due: float | None = None
        self._timer: asyncio.Task[None] | None = None

    def set(self, due: float | None, now: float) -> None:
        """Set the alarm to `due` (Unix time in seconds) in place of the earlier time; None clears it."""
        if due == self._due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        if due is not None:
            self._timer = asyncio.create_task(self._wait(max(0.0, due - now)))

    async def aclose(self) -> None:
        """Ring no more."""
        self.set(None, 0.0)
        if self._timer is not None:
            await asyncio.wait({self._timer})

    async def _wait(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._timer = self._due = None
        self._ring()


class MachineSlots:
    """Acquires and returns slots. While they fail, work continues without them; a notice says so once, and another one
    when they are back."""

    def __init__(self, slots: SharedSlots | None, emit: Callable[[Event], None], log: logging.Logger) -> None:
        """
        Args:
            slots: those of all sessions; None: nothing is shared.
            emit: hears that sharing pauses, and that it goes on.
            log: gets the reason.
        """
        self._slots, self._emit, self._log = slots, emit, log
        self._returns: set[asyncio.Task[None]] = set()

    def ask(self, key: str, limit: int) -> "asyncio.Task[str | None] | None":
        """Begin to wait for a slot. None, now or as result: none is needed. The caller cancels it to give up."""
        if self._slots is None or self._slots.pause.lasts(self._slots.clock.now()):
            return None
        return asyncio.create_task(self._claim(self._slots, key, limit))

    def give_back(self, asked: "asyncio.Task[str | None] | None") -> "asyncio.Task[None] | None":
        """Begin to give back what `ask` has led to; None: there is nothing.

        It is a task of its own, because a slot must come back even if its holder is cancelled twice.
        """
        if asked is None or self._slots is None or not asked.done() or asked.cancelled() or asked.exception():
            return None
        if (claim := asked.result()) is None:
            return None
        task = asyncio.create_task(self._release(self._slots, claim))
        self._returns.add(task)
        task.add_done_callback(self._returns.discard)
        return task

    async def settled(self) -> None:
        """Wait until nothing is on its way back."""
        if self._returns:
            await asyncio.wait(self._returns)

    async def _claim(self, slots: SharedSlots, key: str, limit: int) -> str | None:
        try:
            claim = await slots.acquire(key, limit)
        except SlotsError as error:
            self._failed(slots, error)
            return None
        if slots.pause.answered():
            self._emit(Notice("info", TOGETHER))
        return claim

    async def _release(self, slots: SharedSlots, claim: str) -> None:
        try:
            await slots.release(claim)
        except SlotsError as error:
            self._failed(slots, error)

    def _failed(self, slots: SharedSlots, error: SlotsError) -> None:
        if slots.pause.failed(slots.clock.now()):
            self._log.warning("slots are not shared until their store is back", exc_info=error)
            self._emit(Notice("warning", f"{ALONE} {error}"))
