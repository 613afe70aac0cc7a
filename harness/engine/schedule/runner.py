"""Looks at the jobs of a session and its project, and fires those that are due.

    look ──▶ decided by `harness.policies.schedule` ──▶ written ──▶ JobFired, and an arrival that begins a turn
     ▲                                                                                  │
     └── at the next due time, every 30 s, and after a change ◀── TurnEnded: written ◀──┘

Deadlines are moments on the clock, looked at again every 30 s, because timers stop while a machine sleeps
(docs/design/schedule.md#missed-times).
"""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from harness.base.clock import Clock
from harness.base.concurrency import in_thread, race, shielded
from harness.base.errors import HarnessError
from harness.engine.core import AgentCore
from harness.engine.inbox import Inbox
from harness.engine.schedule.lines import NO_JOBS, described, listed
from harness.engine.store_places import schedule_place, store_clock
from harness.events import (
    ArrivalKind,
    Delivered,
    Event,
    JobChanged,
    JobFired,
    JobMissed,
    Notice,
    TransitionCode,
    TurnEnded,
    TurnStarted,
)
from harness.model import notices
from harness.policies.schedule import decisions
from harness.policies.schedule.decisions import Fire, Offer, Over, Skip
from harness.policies.schedule.job import JobFire, JobKind, MissedTimes, ScheduledJob, ScheduleLimits, job_id_of
from harness.schedule.recurrence import (
    CronTimes,
    OneTime,
    Times,
    WhenError,
    parse_when,
    passed,
    period_s,
    preview,
    same_clock,
    until_next,
    zone_named,
)
from harness.schedule.store import ScheduleError, ScheduleStore
from harness.slots.store import this_process

LOOK_S = 30.0
"""Longest time between two looks."""
STOPPED = frozenset({TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS})
"""Ends of a turn that was stopped."""
WELL = STOPPED | {TransitionCode.COMPLETED}
"""Ends of a turn that are no failure of a job. The user who stops it wants no more of it."""


@dataclass(slots=True)
class _Decided:
    """What one look has decided, in the order of the jobs."""

    outcomes: list[Fire | Skip | Offer | Over] = field(default_factory=list)
    again: list[tuple[ScheduledJob, JobFire]] = field(default_factory=list)
    """Fires that were begun by a session that has ended."""
    next_at: float | None = None
    """The next due time; None: no job has one."""
    count: int = 0
    """Jobs that can fire in this session, perhaps only after the session that owns the schedule has ended."""
    elsewhere: list[ScheduledJob] = field(default_factory=list)
    """Those made while this machine was in another time zone."""
    unreadable: list[ScheduledJob] = field(default_factory=list)
    """Those whose times cannot be computed here; they are paused."""


class ScheduleRunner:
    """The schedule of one session. Nothing runs before `start`."""

    def __init__(
        self, store: ScheduleStore, inbox: Inbox, clock: Clock, *, emit: Callable[[Event], None], zone: ZoneInfo
    ) -> None:
        """
        Args:
            store: the jobs; closed by `aclose`.
            inbox: receives the prompts.
            emit: reports fires and changes.
            zone: the local time zone, for new jobs and for what is shown.
        """
        self.store = store
        self._inbox = inbox
        self._clock = clock
        self._emit = emit
        self._zone = zone
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._first = True
        """Times that passed before the first look passed while no session ran."""
        self._begun: dict[int, tuple[int, str]] = {}
        """Arrivals by number: the job and the fire, until the job says that its turn has ended."""
        self._one_at_a_time = asyncio.Lock()
        """For looks and for fires that begin or end: a look between the two would fire again."""
        self._in_turn: int | None = None
        """The arrival that the current turn began with."""
        self._work: set[asyncio.Task[None]] = set()
        self._count = 0
        self.leaving = False
        """The program ends: a turn that is cut off for that is no end of its fire, which is delivered again."""

    @property
    def can_fire(self) -> bool:
        """A job may fire in this session, so a front end has to listen."""
        return self._task is not None and (self._count > 0 or (self._first and self.store.place.exists()))

    @property
    def running(self) -> bool:
        """Between `start` and `stop`."""
        return self._task is not None

    def start(self) -> None:
        """Look at the jobs from now on."""
        if self._task is None:
            self._begun = {
                one.number: (int(job_id_of(one.source).removeprefix("c")), one.source)
                for one in self._inbox.waiting
                if one.kind is ArrivalKind.SCHEDULED
            }
            self._task = asyncio.create_task(self._run(), name="schedule")

    async def aclose(self) -> None:
        """Stop, and close the store."""
        await self.stop()
        self.store.close()

    async def stop(self) -> None:
        """Fire nothing more until `start` or a new job, and let another session own the schedule."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self.written()
        if task is not None:
            with suppress(ScheduleError):  # its lease ends by itself
                await in_thread(self.store.release)

    async def written(self) -> None:
        """Wait until the file says what became of the fires that the model has taken."""
        while self._work:
            await asyncio.wait(self._work)

    # ── jobs ────────────────────────────────────────────────────────────────────────────────────

    async def create(
        self,
        when: str,
        prompt: str,
        *,
        lasting: bool = False,
        missed: MissedTimes = MissedTimes.ONCE,
        zone: str = "",
    ) -> ScheduledJob:
        """Schedule a prompt. Raises HarnessError for a time or a prompt that cannot be used."""
        now = self._clock.now()
        where = zone_named(zone) if zone else self._zone
        job = job_of(when, prompt, where, now, self.store.limits)
        job = replace(job, lasting=lasting, missed=missed, zone_given=bool(zone))
        made = await in_thread(lambda: self.store.add(job))
        self._emit(JobChanged(made.id, "created", "; ".join(self._next_times(made, 3))))
        self.start()
        self._changed.set()
        return made

    async def delete(self, id: str) -> None:
        """Remove a job. Raises ScheduleError if there is none with this id."""
        await self._edit(id, lambda _: None, "deleted")

    async def pause(self, id: str) -> None:
        """Let a job fire no more until it is resumed. Raises ScheduleError."""
        await self._edit(id, lambda job: replace(job, paused="by the user"), "paused")

    async def resume(self, id: str) -> None:
        """Let a paused job fire again from now on. Raises ScheduleError."""
        await self._edit(id, lambda job: decisions.resumed(job, self._clock.now()), "resumed")

    async def fire(self, id: str) -> None:
        """Fire a job now, whatever its times. Raises ScheduleError."""
        job = await self._found(id)
        if job.number in (number for number, _ in self._begun.values()):
            raise ScheduleError(f"{job.id} has fired already; its prompt begins the next turn, or runs.")
        self._deliver(job, decisions.by_hand(job, self._clock.now()))

    async def jobs(self) -> dict[int, ScheduledJob]:
        """The jobs that can fire in this session, by number. Raises ScheduleError."""
        return await in_thread(self.store.jobs)

    async def listed(self) -> str:
        """One line for each job. Raises ScheduleError."""
        return "\n".join(listed((await self.jobs()).values(), self._next_times)) or NO_JOBS

    async def upcoming(self) -> tuple[str, ...]:
        """The next time of each job that can fire in this session, with its id. Raises HarnessError."""
        jobs = [job for job in (await self.jobs()).values() if not job.paused]
        return tuple(f"{job.id} {time}" for job in jobs for time in self._next_times(job, 1))

    def described(self, job: ScheduledJob) -> str:
        """What a new job does, in sentences."""
        return described(job, self._next_times)

    def _next_times(self, job: ScheduledJob, count: int) -> tuple[str, ...]:
        return next_times(job, self._clock.now(), count)

    def now_text(self) -> str:
        """The time, for the model."""
        return datetime.fromtimestamp(self._clock.now(), self._zone).strftime("%A %Y-%m-%d %H:%M:%S %Z")

    async def _found(self, id: str) -> ScheduledJob:
        digits = id.strip().removeprefix("c")
        jobs = await self.jobs()
        job = jobs.get(int(digits)) if digits.isascii() and digits.isdigit() else None
        if job is None:
            there = ", ".join(one.id for one in jobs.values()) or "none"
            raise ScheduleError(f"There is no job {id!r}; there are: {there}.")
        return job

    async def _edit(self, id: str, change: Callable[[ScheduledJob], ScheduledJob | None], what: str) -> None:
        job = await self._found(id)
        await in_thread(lambda: self.store.change(job.number, change))
        self._emit(JobChanged(job.id, what))
        self._changed.set()

    # ── looks ───────────────────────────────────────────────────────────────────────────────────

    async def _run(self) -> None:
        reported = ""
        while True:
            self._changed.clear()
            next_at: float | None = None
            try:
                next_at, reported = await self.look(), ""
            except HarnessError as error:
                if str(error) != reported:
                    reported = str(error)
                    self._emit(Notice("warning", reported))
            now = self._clock.now()
            pause = LOOK_S if next_at is None else min(LOOK_S, max(0.0, next_at - now))
            await race(self._clock.sleep(pause), self._changed.wait())

    async def look(self) -> float | None:
        """Look at the jobs now; returns the next due time. Raises HarnessError."""
        async with self._one_at_a_time:
            decided = await shielded(in_thread(self._look))
            self._carry_out(decided)
        return decided.next_at

    def _look(self) -> _Decided:
        """Decide about every job, and write what follows. Runs in a thread."""
        decided, now = _Decided(), self._clock.now()
        if not self.store.place.exists():  # no file is made for a project without jobs
            return decided
        jobs = self.store.jobs()
        decided.count = len(jobs)
        owned = any(job.lasting for job in jobs.values()) and self.store.own()
        for job in jobs.values():
            if job.paused or (job.lasting and not owned):
                continue
            if job.waiting is not None:
                if job.waiting.id not in {fire for _, fire in self._begun.values()}:
                    decided.again.append((job, job.waiting))
            else:
                try:
                    self._decide(job, now, decided)
                except WhenError as error:  # its time zone is not known here
                    paused = replace(job, paused=str(error))
                    if self.store.change(job.number, _unless_changed(job, paused)) == paused:
                        decided.unreadable.append(paused)
        return decided

    def _decide(self, job: ScheduledJob, now: float, decided: _Decided) -> None:
        """Decide about one job, and write what follows. Raises WhenError."""
        if (right := decisions.clock_set_back(job, now, self.store.limits)) != job:
            self.store.change(job.number, _unless_changed(job, right))
            job = right
        if job.kind is JobKind.RECURRING and not job.zone_given and not same_clock(job.zone, self._zone, now):
            decided.elsewhere.append(job)
        times, limits = _times(job), self.store.limits
        delay = _delay_s(job, times, now, limits)
        since = max(job.done_until, job.created_at + delay)  # a time before its creation is none of its own
        found = passed(times, since, now, delay)
        due = until_next(times, max(now, since), delay)
        outcome = decisions.look(job, found, now, following=due or 0.0, resumed=self._first, limits=limits)
        if outcome is not None:
            after = None if isinstance(outcome, Over) else outcome.job
            if self.store.change(job.number, _unless_changed(job, after)) == after:
                decided.outcomes.append(outcome)
        if due is not None:
            decided.next_at = due if decided.next_at is None else min(due, decided.next_at)

    def _carry_out(self, decided: _Decided) -> None:
        if self._first and decided.elsewhere:
            kept = ", ".join(f"{job.id} ({job.zone})" for job in decided.elsewhere)
            self._emit(Notice("info", f"This machine is in {self._zone.key} now; planned in another zone: {kept}."))
        self._first = False
        self._count = decided.count
        for job in decided.unreadable:
            self._emit(JobChanged(job.id, "paused", job.paused))
        for job, fire in decided.again:
            self._deliver(job, fire)
        for outcome in decided.outcomes:
            match outcome:
                case Fire(job=job, fire=fire):
                    self._deliver(job, fire)
                case Skip(job=job, count=count):
                    self._emit(JobChanged(job.id, "skipped", f"{count} missed"))
                case Over(job=job):
                    self._emit(JobChanged(job.id, "over", "it has expired"))
                case Offer(job=job, due=due):
                    self._emit(JobMissed(job.id, job.prompt, due))

    def _deliver(self, job: ScheduledJob, fire: JobFire) -> None:
        due = self._local(fire.due)
        late_s = max(0.0, self._clock.now() - fire.due)
        self._emit(JobFired(job.id, fire.id, job.prompt, fire.due, fire.missed, fire.last, due, late_s))
        text = notices.scheduled_prompt(
            job.prompt,
            fire=fire.id,
            due=due,
            now=self.now_text(),
            missed=fire.missed,
            last=fire.last,
        )
        before = {one.number for one in self._inbox.waiting}
        self._inbox.arrive(ArrivalKind.SCHEDULED, fire.id, text)
        for number in {one.number for one in self._inbox.waiting} - before:
            self._begun[number] = (job.number, fire.id)

    def _local(self, at: float) -> str:
        return datetime.fromtimestamp(at, self._zone).strftime("%Y-%m-%d %H:%M %Z")

    # ── what becomes of fires ───────────────────────────────────────────────────────────────────

    def on_event(self, event: Event) -> None:
        """The end of the turn that a fire began says how it went; until then the fire waits in the file."""
        match event:
            case Delivered(numbers=numbers):
                self._in_turn = next((number for number in numbers if number in self._begun), self._in_turn)
            case TurnStarted() if self._in_turn is not None:  # the turn before was cut off
                del self._begun[self._in_turn]
                self._in_turn = None
            case TurnEnded(code=code, reason=reason, cost_usd=cost) if self._in_turn is not None:
                arrival, self._in_turn = self._in_turn, None
                if self.leaving and code in STOPPED:
                    return
                self._keep(self._ended(arrival, "" if code in WELL else f"{code}: {reason}", cost))

    async def _ended(self, arrival: int, failure: str, cost_usd: float) -> None:
        number, fire = self._begun[arrival]
        limits = self.store.limits
        async with self._one_at_a_time:
            await self._change(
                number,
                lambda job: decisions.ended(job, fire, failure=failure, cost_usd=cost_usd, limits=limits),
            )
            del self._begun[arrival]

    async def _change(self, number: int, change: Callable[[ScheduledJob], ScheduledJob | None]) -> None:
        try:
            after = await in_thread(lambda: self.store.change(number, change))
        except ScheduleError as error:
            self._emit(Notice("warning", str(error)))
            return
        if after is not None and after.paused and after.failures:
            self._emit(JobChanged(after.id, "paused", after.paused))
        if after is None or after.waiting is None:  # otherwise it is delivered again with the next look
            self._changed.set()

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)


def job_of(when: str, prompt: str, zone: ZoneInfo, now: float, limits: ScheduleLimits) -> ScheduledJob:
    """A new job without a number. Raises HarnessError for a time or a prompt that cannot be used."""
    times = parse_when(when, zone, now)
    if not prompt.strip():
        raise ScheduleError("The prompt is empty; say what is to be done.")
    if len(prompt) > limits.prompt:
        raise ScheduleError(f"The prompt has {len(prompt)} characters; use at most {limits.prompt}.")
    if isinstance(times, OneTime):
        return ScheduledJob(0, str(times), zone.key, prompt, JobKind.ONCE, created_at=now, done_until=now)
    ends, first = now + limits.expires_s, next(times.after(now))
    if first + limits.jitter_s >= ends:
        date = datetime.fromtimestamp(first, zone).strftime("%Y-%m-%d %H:%M")
        raise ScheduleError(
            f"{when} fires at {date} for the first time, and recurring jobs end after {limits.expires_s / 86_400:g} "
            f"days. For a single fire write `{date}`."
        )
    return ScheduledJob(0, str(times), zone.key, prompt, created_at=now, expires_at=ends, done_until=now)


def next_times(job: ScheduledJob, now: float, count: int) -> tuple[str, ...]:
    """The next times of a job before it ends, as local times. Raises WhenError for a zone that is not known here."""
    times, job = _times(job), decisions.clock_set_back(job, now, ScheduleLimits())
    delay = _delay_s(job, times, now, ScheduleLimits())
    end = inf if job.expires_at is None else job.expires_at - delay
    return preview(times, max(now, job.done_until - delay), count, end)


def _delay_s(job: ScheduledJob, times: Times, now: float, limits: ScheduleLimits) -> float:
    return decisions.delay_s(job.number, period_s(times, now), limits) if isinstance(times, CronTimes) else 0.0


def _times(job: ScheduledJob) -> Times:
    return parse_when(job.when, zone_named(job.zone), 0.0)


def _unless_changed(seen: ScheduledJob, after: ScheduledJob | None) -> Callable[[ScheduledJob], ScheduledJob | None]:
    return lambda job: after if job == seen else job


def local_zone(environ: Iterable[tuple[str, str]] = ()) -> ZoneInfo:
    """The time zone of this machine: `TZ`, else what /etc/localtime is a link to, else UTC."""
    named = dict(environ).get("TZ", "").removeprefix(":")
    with suppress(OSError):
        named = named or str(Path(os.path.realpath("/etc/localtime"))).partition("zoneinfo/")[2]
    with suppress(HarnessError):
        return zone_named(named or "UTC")
    return ZoneInfo("UTC")


def schedule_of(core: AgentCore, inbox: Inbox) -> ScheduleRunner:
    """The scheduled prompts of a session and its project."""
    clock = store_clock(core.clock)  # other sessions read these moments as well
    place, report = schedule_place(core.settings), core.shared.notices.append
    store = ScheduleStore(place, this_process(core.session), clock=clock, report=report)
    return ScheduleRunner(store, inbox, clock, emit=core.conversation.emit, zone=local_zone(os.environ.items()))
