"""Admission is carried out: turns, cancellation, pauses, ends and the timer."""

import asyncio

import pytest

from harness.engine.admission.runner import AdmissionEntry, AdmissionRunner, NotAdmitted
from harness.events import (
    AdmissionLimitsSet,
    AdmissionPool,
    Event,
    WorkAdmitted,
    WorkEnd,
)
from harness.policies.admission.controller import AdmissionController, AdmissionLimits
from tests.engine.admission.callers import NOTHING, Callers, Failed
from tests.engine.hand_clock import HandClock, quiet
from tests.policies.admission.oracle import balanced

pytestmark = pytest.mark.anyio

OK, FAILED = WorkEnd.SUCCEEDED, WorkEnd.FAILED


# ── turns ───────────────────────────────────────────────────────────────────────────────────────


async def test_of_four_hundred_at_once_every_caller_is_served_five_at_a_time_and_twenty_wait_in_the_queue() -> None:
    callers = Callers()
    callers.ask(*(f"a{number}" for number in range(1, 401)))
    longest = 0
    while len(callers.begun) < 400 or callers.inside:
        await quiet(2)
        longest = max(longest, len(callers.runner.status.queued))
        await callers.ends_with(OK, *(number for number, end in callers.ends.items() if not end.done()))
    assert {callers.fate(number) for number in callers.tasks} == {"done"}
    assert (callers.most, longest) == (5, 20)
    assert callers.begun == [*range(1, 6), *range(381, 401), *range(6, 381)]  # dropped work keeps its order
    assert balanced(callers.runner.status.counts)
    assert callers.tasks_left() == 0


# ── how work ends ───────────────────────────────────────────────────────────────────────────────


async def test_a_slot_is_taken_until_work_that_resists_its_cancellation_is_over() -> None:
    callers = Callers(AdmissionLimits(max_concurrent=1))
    let_go = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await let_go.wait()

    resisting = asyncio.ensure_future(callers.runner.run("r", work))
    await callers.asks("a")
    resisting.cancel()
    await quiet()
    assert (callers.runner.status.running, callers.begun) == (("r",), [])
    let_go.set()
    await quiet()
    assert (callers.runner.status.running, callers.begun) == (("a",), [1])


@pytest.mark.parametrize("rounds", range(10))
async def test_wherever_a_cancellation_falls_nothing_is_left(rounds: int) -> None:
    callers = Callers(AdmissionLimits(max_concurrent=1))
    callers.ask("before", "cancelled", "after")
    await quiet(1)
    callers.ends[1].set_result(OK)
    await quiet(rounds)
    callers.tasks[2].cancel()
    await quiet()
    assert callers.fate(2) == "cancelled"
    await callers.ends_with(OK, 3)
    for key in ("before", "cancelled", "after"):
        callers.runner.end(key)
    assert callers.controller.sizes() == NOTHING
    assert balanced(callers.runner.status.counts)
    assert callers.runner.status.starting == ()
    assert (callers.tasks_left(), callers.clock.sleepers) == (0, [])


# ── pauses ──────────────────────────────────────────────────────────────────────────────────────


async def test_the_notice_of_a_key_that_failed_five_times_says_until_when_it_rests_and_nothing_of_it_is_kept() -> None:
    callers = Callers()
    for number in range(1, 6):
        await callers.asks("a")
        await callers.ends_with(Failed("x"), number)
    await callers.asks("a", "b")
    assert (callers.fate(6), callers.fate(7)) == ("paused", "runs")
    assert callers.answer(6).until == 60.0
    assert "5 times in a row" in str(callers.answer(6))
    assert (callers.runner.status.deferred, callers.runner.status.paused) == ((), ("a",))
    callers.clock.move(60.0)
    await callers.asks("a")
    assert callers.fate(8) == "runs"


# ── none ────────────────────────────────────────────────────────────────────────────────────────


async def test_with_no_slots_nothing_waits_endlessly_and_the_flag_is_named() -> None:
    callers = Callers(AdmissionLimits(max_concurrent=0))
    await callers.asks("a")
    assert callers.fate(1) == "none_allowed"
    assert "--max-concurrent" in str(callers.answer(1))
    assert callers.controller.sizes() == NOTHING


async def test_where_none_may_run_in_the_background_the_setting_is_named() -> None:
    runner = AdmissionRunner(
        AdmissionController(AdmissionLimits(max_concurrent=0), AdmissionPool.COMMANDS),
        list[Event]().append,
        HandClock(),
    )
    with pytest.raises(NotAdmitted, match="max_background"):
        await runner.run("b1", lambda: asyncio.sleep(0))


async def test_where_none_may_wait_work_without_a_slot_is_refused_at_once_and_the_flag_is_named() -> None:
    callers = Callers(AdmissionLimits(max_concurrent=1, max_queue_size=0))
    await callers.asks("a", "b")
    assert (callers.fate(2), callers.runner.status.deferred) == ("queue_full", ())
    assert "--max-queue-size" in str(callers.answer(2))


# ── ends ────────────────────────────────────────────────────────────────────────────────────────


async def test_once_closed_nothing_waits_or_begins_and_what_runs_is_released() -> None:
    callers = Callers(AdmissionLimits(max_concurrent=1, max_queue_size=1))
    await callers.asks("a", "b", "c")
    await callers.runner.aclose()
    await callers.asks("d")
    assert [callers.fate(number) for number in (1, 2, 3, 4)] == ["runs", *["shutting_down"] * 3]
    await callers.ends_with(OK, 1)
    await callers.runner.aclose()
    assert callers.controller.sizes() == NOTHING
    assert (callers.tasks_left(), callers.clock.sleepers) == (0, [])


# ── time ────────────────────────────────────────────────────────────────────────────────────────


async def test_what_has_disappeared_is_swept_after_a_minute() -> None:
    existing = {"b"}
    callers = Callers(AdmissionLimits(max_concurrent=1), existing=lambda: existing)
    await callers.asks("b", "a")
    callers.clock.move(60.0)
    await quiet()
    assert (callers.fate(1), callers.fate(2)) == ("runs", "ended")
    assert len(callers.clock.sleepers) == 1
    existing.clear()
    callers.clock.move(60.0)
    await quiet()
    assert callers.clock.sleepers == []  # where nothing is known, nothing is due
    await callers.ends_with(OK, 1)
    assert callers.tasks_left() == 0


async def test_there_is_no_timer_before_something_is_known_and_none_after_its_end() -> None:
    callers = Callers(existing=lambda: ())
    await quiet()
    assert callers.tasks_left() == 0
    await callers.asks("a")
    await callers.ends_with(OK, 1)
    assert len(callers.clock.sleepers) == 1
    callers.runner.end("a")
    await quiet()
    assert (callers.tasks_left(), callers.clock.sleepers) == (0, [])


async def test_a_clock_that_is_set_back_lengthens_no_pause() -> None:
    callers = Callers(AdmissionLimits(failures_in_a_row=1))
    callers.clock.move(1_000.0)
    await callers.asks("a")
    callers.clock.move(-500.0)
    await callers.ends_with(FAILED, 1)
    await callers.asks("a")
    assert callers.answer(2).until == 1_060.0


# ── what is told ────────────────────────────────────────────────────────────────────────────────


async def test_the_limits_are_reported_with_the_first_work_and_not_before() -> None:
    callers = Callers()
    assert callers.events == []
    await callers.asks("a")
    assert callers.events == [AdmissionLimitsSet(5, 20, 50), WorkAdmitted("a", 1, 1)]


async def test_an_event_that_cannot_be_recorded_costs_no_slot() -> None:
    broken = True

    def emit(event: Event) -> None:
        if broken:
            raise OSError("the disk is full")

    controller: AdmissionController[AdmissionEntry] = AdmissionController()
    runner = AdmissionRunner(controller, emit, HandClock())
    with pytest.raises(OSError, match="the disk is full"):
        await runner.run("a", lambda: asyncio.sleep(0))
    assert controller.running == ()
    broken = False
    await runner.run("a", lambda: asyncio.sleep(0))
