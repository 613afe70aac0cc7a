"""The schedule of a session: it fires once for each time, and the outcome of each fire is kept."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from harness.base.concurrency import in_thread
from harness.base.errors import HarnessError
from harness.engine.inbox import Inbox
from harness.engine.schedule.runner import LOOK_S, ScheduleRunner, job_of, local_zone
from harness.events import (
    Arrived,
    Delivered,
    Event,
    JobChanged,
    JobFired,
    JobMissed,
    Notice,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
)
from harness.policies.schedule.decisions import resumed
from harness.schedule.store import ScheduleStore
from harness.slots.store import this_process
from tests.engine.hand_clock import HandClock
from tests.processes.traces import until

pytestmark = pytest.mark.anyio

NOW = 1_795_521_600.0
"""2026-11-24 12:00:00 UTC."""


class Here:
    """Sessions of one project, whose clock the test moves."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.clock = HandClock()
        self.clock.time = NOW
        self.dead: list[str] = []


class Session:
    """One of them: its schedule, its inbox, and its events."""

    def __init__(self, here: Here, name: str, journal: list[Event] | None = None) -> None:
        self.here = here
        self.events: list[Event] = journal if journal is not None else []
        self.inbox = Inbox(self.emit)
        self.inbox.recall(tuple(self.events))
        owner = replace(this_process(name), pid=len(name))
        store = ScheduleStore(here.file, owner, clock=here.clock, lives=lambda owner: owner.session not in here.dead)
        self.schedule = ScheduleRunner(store, self.inbox, here.clock, emit=self.emit, zone=ZoneInfo("UTC"))

    def emit(self, event: Event) -> None:
        self.events.append(event)
        if hasattr(self, "schedule"):
            self.schedule.on_event(event)

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if type(event) is kind]

    @property
    def fired(self) -> list[tuple[str, float, int]]:
        return [(e.job, e.due - NOW, e.missed) for e in self.events if isinstance(e, JobFired)]

    async def later(self, seconds: float, *, slept: bool = False) -> None:
        """Let time pass, in pieces that are no longer than a look, or all at once, as a machine sleeps."""
        end = self.here.clock.time + seconds
        while self.here.clock.time < end:
            await until(lambda: bool(self.here.clock.sleepers))
            (sleeper,) = self.here.clock.sleepers
            piece = end - self.here.clock.time if slept else min(sleeper[0], end) - self.here.clock.time
            self.here.clock.move(max(piece, 0.001))
            if sleeper[0] <= self.here.clock.time:
                await until(partial(self._sleeps_again, sleeper))

    def _sleeps_again(self, before: object) -> bool:
        return bool(self.here.clock.sleepers) and self.here.clock.sleepers[0] is not before

    async def turn(self, code: TransitionCode = TransitionCode.COMPLETED, cost: float = 0.5) -> None:
        """Deliver the waiting results between two turns, and end the turn."""
        self.inbox.deliver(self.inbox.next(scheduled=True))
        self.emit(TurnEnded(1, code, "because", "", Usage(), cost, 1, 1, 0.1))
        await self.schedule.written()


@asynccontextmanager
async def session(here: Here, name: str = "s1", journal: list[Event] | None = None) -> AsyncIterator[Session]:
    one = Session(here, name, journal)
    try:
        yield one
    finally:
        await one.schedule.aclose()


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(tmp_path / "state" / "schedule.sqlite")


async def test_a_prompt_fires_once_at_its_time_and_begins_a_turn(here: Here) -> None:
    async with session(here) as one:
        job = await one.schedule.create("in 3 minutes", "look at the log")
        assert "Next: Tue 2026-11-24 12:03 UTC" in one.schedule.described(job)
        await one.later(179)
        assert one.fired == []
        await one.later(1)
        assert one.fired == [("c1", 180.0, 0)]
        (arrived,) = one.inbox.waiting
        assert "look at the log" in arrived.text
        assert "Nobody is typing" in arrived.text
        await one.later(120)
        assert one.fired == [("c1", 180.0, 0)]  # at most one fire waits
        await one.turn()
        assert await one.schedule.jobs() == {}


async def test_a_recurring_job_counts_its_fires_and_their_cost(here: Here) -> None:
    here.clock.time -= 1
    async with session(here) as one:
        await one.schedule.create("0 * * * *", "look", zone="Europe/Oslo")
        (delay,) = {due % 3_600 for _, due, _ in await _hours(one, 3)}
        assert 0 <= delay <= 360
        (job,) = (await one.schedule.jobs()).values()
        assert (job.fires, job.cost_usd, job.waiting) == (3, 1.5, None)
        assert "fired 3 times; $1.50" in await one.schedule.listed()


async def _hours(one: Session, count: int) -> list[tuple[str, float, int]]:
    for _ in range(count):
        await one.later(3_600)
        await one.turn()
    return one.fired


async def test_a_machine_that_slept_fires_once_for_all_missed_times(here: Here) -> None:
    here.clock.time -= 1
    async with session(here) as one:
        await one.schedule.create("*/10 * * * *", "look")
        await one.later(3_600 * 5, slept=True)
        ((_, _, missed),) = one.fired
        assert missed == 29
        (late_s,) = [event.late_s for event in one.events if isinstance(event, JobFired)]
        assert 500 < late_s < 600
        assert "29 earlier times" in one.inbox.waiting[0].text


async def test_a_prompt_that_is_taken_while_the_schedule_looks_fires_once(here: Here) -> None:
    here.clock.time -= 1
    async with session(here) as one:
        job = await one.schedule.create("0 * * * *", "look", lasting=True)
        for count in range(1, 21):
            await until(lambda: bool(here.clock.sleepers))
            here.clock.move(3600)
            await until(lambda: bool(one.inbox.waiting))
            await one.schedule.resume(job.id)  # so that it looks again
            for _ in range(count):  # at another point of the look each time
                await asyncio.sleep(0)
            await one.turn()
        assert len(set(one.fired)) == len(one.fired) == 20


async def test_a_job_that_another_program_changes_during_a_look_fires_only_what_is_written(here: Here) -> None:
    here.clock.time -= 1
    async with session(here) as one:
        job = await one.schedule.create("0 * * * *", "look", lasting=True)
        other = ScheduleStore(here.file, this_process("s2"), clock=here.clock)
        for count in range(40):
            await until(lambda: bool(here.clock.sleepers))
            here.clock.move(3600)
            for _ in range(count % 20):  # at another point of the look each time
                await asyncio.sleep(0)
            await in_thread(lambda: other.change(job.number, lambda job: replace(job, paused="by another program")))
            await until(lambda: bool(here.clock.sleepers))
            if one.inbox.waiting:
                await one.turn()
            other.change(job.number, lambda job: resumed(job, here.clock.now()))
        assert (await one.schedule.jobs())[job.number].fires == len(one.fired)
        other.close()


async def test_three_failed_turns_pause_a_job_until_it_is_resumed(here: Here) -> None:
    here.clock.time -= 1
    async with session(here) as one:
        await one.schedule.create("* * * * *", "look")
        for _ in range(3):
            await one.later(60)
            await one.turn(TransitionCode.API_ERROR)
        (paused,) = [e for e in one.events if isinstance(e, JobChanged) and e.what == "paused"]
        assert paused.text == "3 failures in a row; the last one: api_error: because"
        await one.later(600)
        assert len(one.fired) == 3
        await one.schedule.resume("c1")
        await one.later(60)
        assert len(one.fired) == 4


async def test_a_job_that_lasts_fires_in_one_session_and_moves_to_another_one_when_that_has_ended(here: Here) -> None:
    here.clock.time -= 1
    async with session(here, "first") as one:
        await one.schedule.create("* * * * *", "look", lasting=True)
        await one.schedule.create("* * * * *", "only here")
        await one.later(60)
        assert sorted(job for job, _, _ in one.fired) == ["c1", "c2"]
        (due,) = [due for job, due, _ in one.fired if job == "c1"]
        one.schedule._task.cancel()  # type: ignore[union-attr]  # it is killed with fires still pending
        await until(lambda: not here.clock.sleepers)
        here.dead.append("first")
        async with session(here, "second") as two:
            two.schedule.start()
            await until(lambda: bool(two.fired))
            assert two.fired == [("c1", due, 0)]
            (again,) = [e.source for e in two.events if isinstance(e, Arrived)]
            assert again in [e.source for e in one.events if isinstance(e, Arrived)]
            await two.turn()
            await two.later(60)
            assert len(two.fired) == 2


async def test_a_session_that_was_open_before_the_first_job_fires_it_and_makes_no_file_before(here: Here) -> None:
    async with session(here, "open") as one:
        one.schedule.start()
        await until(lambda: bool(here.clock.sleepers))
        await one.later(2 * LOOK_S)
        assert not here.file.exists()
        other = ScheduleStore(here.file, this_process("harness cron"), clock=here.clock)
        job = job_of("in 2 minutes", "look", ZoneInfo("UTC"), here.clock.now(), other.limits)
        other.add(replace(job, lasting=True))
        other.close()
        await one.later(121)
        assert [job for job, _, _ in one.fired] == ["c1"]


async def test_a_session_listens_for_the_jobs_of_one_that_may_be_killed(here: Here) -> None:
    async with session(here, "first") as one, session(here, "second") as two:
        await one.schedule.create("* * * * *", "look", lasting=True)
        await until(lambda: bool(here.clock.sleepers))
        two.schedule.start()
        await until(lambda: len(here.clock.sleepers) == 2)
        assert two.schedule.can_fire


@pytest.mark.parametrize("cut_off", [False, True])
async def test_a_single_prompt_whose_turn_fails_or_is_cut_off_fires_again(here: Here, cut_off: bool) -> None:
    async with session(here) as one:
        await one.schedule.create("in 1 minute", "look")
        await one.later(60)
        if cut_off:
            one.inbox.deliver(one.inbox.next(scheduled=True))
            one.emit(TurnStarted(2, "another prompt"))
        else:
            await one.turn(TransitionCode.API_ERROR)
        assert list(await one.schedule.jobs()) == [1]
        await one.later(LOOK_S + 1)
        assert one.fired == [("c1", 60.0, 0)] * 2
        assert len({e.source for e in one.events if isinstance(e, Arrived)}) == 1
        await one.turn()
        assert await one.schedule.jobs() == {}


async def test_a_single_prompt_whose_session_is_killed_in_its_turn_fires_in_the_next_one(here: Here) -> None:
    async with session(here, "first") as one:
        await one.schedule.create("in 1 minute", "look", lasting=True)
        await one.later(60)
        one.inbox.deliver(one.inbox.next(scheduled=True))
        one.schedule._task.cancel()  # type: ignore[union-attr]  # it is killed before the model has answered
        await until(lambda: not here.clock.sleepers)
        here.dead.append("first")
        async with session(here, "second") as two:
            two.schedule.start()
            await until(lambda: bool(two.fired))
            await two.turn()
            assert await two.schedule.jobs() == {}


async def test_a_clock_that_went_forward_and_back_silences_no_job(here: Here) -> None:
    here.clock.time -= 1
    async with session(here) as one:
        await one.schedule.create("*/10 * * * *", "look")
        await one.later(5 * 3_600, slept=True)
        await one.turn()
        await until(lambda: bool(here.clock.sleepers))
        here.clock.time = NOW + 60
        named = await one.schedule.listed()
        assert "next Tue 2026-11-24 12:10 UTC" in named
        here.clock.move(10 * 3_600.0)  # wake the sleeper, whose end is on the wrong clock
        here.clock.time = NOW + 60
        await one.later(LOOK_S)
        await one.later(10 * 60)
        (_, due, _) = one.fired[-1]
        assert 600 <= due < 660
        assert len(one.fired) == 2


async def test_after_a_restart_a_recurring_job_continues_from_now_and_a_single_one_is_offered(here: Here) -> None:
    async with session(here) as one:
        await one.schedule.create("* * * * *", "again and again", lasting=True)
        await one.schedule.create("in 5 minutes", "once", lasting=True)
    here.clock.time += 3_600
    async with session(here, "later") as two:
        two.schedule.start()
        await until(lambda: bool(two.of(JobMissed)))
        assert [(e.job, e.due - NOW) for e in two.events if isinstance(e, JobMissed)] == [("c2", 300.0)]
        await two.later(60)
        assert [job for job, _, _ in two.fired] == ["c1"]
        await two.schedule.fire("c2")
        await two.turn()
        await two.turn()
        assert sorted(await two.schedule.jobs()) == [1]


async def test_a_fire_that_waited_when_the_program_was_killed_is_delivered_once_after_the_restart(here: Here) -> None:
    journal: list[Event] = []
    async with session(here, "s1", journal) as one:
        await one.schedule.create("in 1 minute", "look")
        await one.later(60)
    async with session(here, "s1", journal) as again:
        again.schedule.start()
        await until(lambda: bool(here.clock.sleepers))
        assert len(again.inbox.waiting) == 1
        await again.turn()
        assert await again.schedule.jobs() == {}
        assert len([e for e in journal if isinstance(e, Delivered)]) == 1


async def test_a_job_ends_with_a_fire_that_says_so(here: Here) -> None:
    async with session(here) as one:
        await one.schedule.create("0 12 * * 2", "look")  # on Tuesdays
        await one.later(3_600, slept=True)
        assert one.fired == []  # it was created at twelve
        last = []
        for _ in range(4):
            await one.later(7 * 86_400, slept=True)
            last.append("its last time" in one.inbox.waiting[0].text)
            await one.turn()
        assert last == [False, False, False, True]
        assert await one.schedule.jobs() == {}


async def test_what_is_fired_by_hand_fires_in_that_session_alone(here: Here) -> None:
    async with session(here) as one, session(here, "s22") as two:
        await one.schedule.create("0 * * * *", "look", lasting=True)
        await until(lambda: bool(here.clock.sleepers))
        await two.schedule.fire("c1")
        with pytest.raises(HarnessError, match="has fired already"):
            await two.schedule.fire("c1")
        await one.later(3 * LOOK_S)
        assert one.fired == []
        await two.turn()
        (job,) = (await one.schedule.jobs()).values()
        assert (job.fires, job.cost_usd, job.waiting) == (1, 0.5, None)


async def test_a_job_whose_zone_is_not_known_here_is_paused_and_the_others_fire(here: Here) -> None:
    async with session(here) as one:
        job = await one.schedule.create("0 9 * * *", "look", lasting=True)
        await one.schedule.create("in 1 minute", "look at this")
        await until(lambda: bool(here.clock.sleepers))
        one.schedule.store.change(job.number, lambda job: replace(job, zone="Mars/Base"))
        assert "[cannot fire: There is no time zone 'Mars/Base'" in await one.schedule.listed()
        await one.later(60)
        assert [job for job, _, _ in one.fired] == ["c2"]
        paused = [e.text for e in one.events if isinstance(e, JobChanged) and e.what == "paused"]
        assert len(paused) == 1
        assert f"[paused: {paused[0]}" in await one.schedule.listed()


async def test_a_schedule_that_is_off_fires_nothing_and_leaves_the_jobs_to_others(here: Here) -> None:
    async with session(here) as one, session(here, "s22") as two:
        await one.schedule.create("in 1 hour", "look", lasting=True)
        await one.schedule.stop()
        assert not one.schedule.can_fire
        assert not here.clock.sleepers
        two.schedule.start()
        await until(lambda: bool(here.clock.sleepers))
        await two.later(3700)
        assert (one.fired, len(two.fired)) == ([], 1)
        one.schedule.start()
        assert one.schedule.can_fire


async def test_after_a_change_of_zone_a_notice_names_the_jobs_that_keep_theirs(here: Here) -> None:
    async with session(here) as one:
        job = await one.schedule.create("0 9 * * *", "look", lasting=True)
        one.schedule.store.change(job.number, lambda job: replace(job, zone="Europe/Oslo"))
        await one.schedule.create("0 9 * * *", "look there", lasting=True, zone="Asia/Tokyo")
        await one.schedule.create("0 9 * * *", "look here", lasting=True)
    here.dead.append("s1")
    async with session(here, "s22") as two:
        two.schedule.start()
        await until(lambda: bool(here.clock.sleepers))
        notices = [str(event.text) for event in two.of(Notice) if isinstance(event, Notice)]
        assert notices == ["This machine is in UTC now; planned in another zone: c1 (Europe/Oslo)."]


async def test_what_cannot_be_scheduled_or_found_is_said(here: Here) -> None:
    async with session(here) as one:
        wrong: list[tuple[Callable[[], object], str]] = [
            (lambda: one.schedule.create("soon", "look"), "five fields"),
            (lambda: one.schedule.create("in 1 minute", " "), "prompt is empty"),
            (lambda: one.schedule.create("in 1 minute", "x" * 10_001), "at most 10000"),
            (lambda: one.schedule.create("in 1 minute", "look", zone="Mars"), "no time zone"),
            (lambda: one.schedule.delete("c7"), "There is no job 'c7'; there are: none."),
        ]
        for attempt, words in wrong:
            with pytest.raises(HarnessError) as error:
                await attempt()  # type: ignore[misc]
            assert words in str(error.value)
        await one.schedule.create("in 1 minute", "look")
        await one.schedule.pause("c1")
        await one.later(LOOK_S * 4)
        assert one.fired == []
        await one.schedule.delete("1")
        assert await one.schedule.listed() == "No prompt is scheduled."


async def test_a_store_that_cannot_be_used_is_reported_and_looked_at_again(here: Here) -> None:
    async with session(here) as one:
        await one.schedule.create("* * * * *", "look")
        await until(lambda: bool(here.clock.sleepers))
        here.file.write_bytes(b"")
        here.file.unlink()
        here.file.mkdir()
        await one.later(3 * LOOK_S)
        assert [e.level for e in one.events if isinstance(e, Notice)] == ["warning"]
        here.file.rmdir()
        await one.later(LOOK_S)
        assert await one.schedule.jobs() == {}


def test_the_local_zone_is_that_of_the_environment() -> None:
    assert local_zone({"TZ": "Europe/Oslo"}.items()).key == "Europe/Oslo"
    assert local_zone({"TZ": "not/a zone"}.items()).key == "UTC"
    assert isinstance(local_zone(), ZoneInfo)
