"""A gate that is carried out: turns, cancellation, pauses, ends and the timer."""

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
from tests.engine.gate_desk import NOTHING, Desk, Failed
from tests.engine.hand_clock import HandClock, quiet
from tests.policies.admission.oracle import balanced

pytestmark = pytest.mark.anyio

OK, FAILED = WorkEnd.SUCCEEDED, WorkEnd.FAILED


# ── turns ───────────────────────────────────────────────────────────────────────────────────────


async def test_of_four_hundred_at_once_everybody_is_served_five_at_a_time_and_twenty_wait_in_the_queue() -> None:
    desk = Desk()
    desk.ask(*(f"a{number}" for number in range(1, 401)))
    longest = 0
    while len(desk.begun) < 400 or desk.inside:
        await quiet(2)
        longest = max(longest, len(desk.gating.status.queued))
        await desk.ends_with(OK, *(number for number, end in desk.ends.items() if not end.done()))
    assert {desk.fate(number) for number in desk.tasks} == {"done"}
    assert (desk.most, longest) == (5, 20)
    assert desk.begun == [*range(1, 6), *range(381, 401), *range(6, 381)]  # who was dropped comes again in his order
    assert balanced(desk.gating.status.counts)
    assert desk.tasks_left() == 0


# ── how work ends ───────────────────────────────────────────────────────────────────────────────


async def test_a_slot_is_taken_until_work_that_resists_its_cancellation_is_over() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1))
    let_go = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await let_go.wait()

    resisting = asyncio.ensure_future(desk.gating.run("r", work))
    await desk.asks("a")
    resisting.cancel()
    await quiet()
    assert (desk.gating.status.running, desk.begun) == (("r",), [])
    let_go.set()
    await quiet()
    assert (desk.gating.status.running, desk.begun) == (("a",), [1])


@pytest.mark.parametrize("rounds", range(10))
async def test_wherever_a_cancellation_falls_nothing_is_left(rounds: int) -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1))
    desk.ask("before", "cancelled", "after")
    await quiet(1)
    desk.ends[1].set_result(OK)
    await quiet(rounds)
    desk.tasks[2].cancel()
    await quiet()
    assert desk.fate(2) == "cancelled"
    await desk.ends_with(OK, 3)
    for key in ("before", "cancelled", "after"):
        desk.gating.end(key)
    assert desk.gate.sizes() == NOTHING
    assert balanced(desk.gating.status.counts)
    assert desk.gating.status.starting == ()
    assert (desk.tasks_left(), desk.clock.sleepers) == (0, [])


# ── pauses ──────────────────────────────────────────────────────────────────────────────────────


async def test_a_key_that_failed_five_times_in_a_row_is_told_until_when_it_rests_and_nothing_of_it_is_kept() -> None:
    desk = Desk()
    for number in range(1, 6):
        await desk.asks("a")
        await desk.ends_with(Failed("x"), number)
    await desk.asks("a", "b")
    assert (desk.fate(6), desk.fate(7)) == ("paused", "runs")
    assert desk.answer(6).until == 60.0
    assert "5 times in a row" in str(desk.answer(6))
    assert (desk.gating.status.dirty, desk.gating.status.resting) == ((), ("a",))
    desk.clock.move(60.0)
    await desk.asks("a")
    assert desk.fate(8) == "runs"


# ── none ────────────────────────────────────────────────────────────────────────────────────────


async def test_where_none_may_run_nobody_waits_for_ever_and_the_flag_is_named() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=0))
    await desk.asks("a")
    assert desk.fate(1) == "none_allowed"
    assert "--max-concurrent" in str(desk.answer(1))
    assert desk.gate.sizes() == NOTHING


async def test_where_none_may_run_in_the_background_the_setting_is_named() -> None:
    gating = AdmissionRunner(
        AdmissionController(AdmissionLimits(max_concurrent=0), AdmissionPool.COMMANDS),
        list[Event]().append,
        HandClock(),
    )
    with pytest.raises(NotAdmitted, match="max_background"):
        await gating.run("b1", lambda: asyncio.sleep(0))


async def test_where_none_may_wait_who_finds_no_slot_is_told_at_once_and_the_flag_is_named() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1, max_queue_size=0))
    await desk.asks("a", "b")
    assert (desk.fate(2), desk.gating.status.dirty) == ("queue_full", ())
    assert "--max-queue-size" in str(desk.answer(2))


# ── ends ────────────────────────────────────────────────────────────────────────────────────────


async def test_once_closed_nobody_waits_nothing_begins_and_what_runs_is_released() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1, max_queue_size=1))
    await desk.asks("a", "b", "c")
    await desk.gating.aclose()
    await desk.asks("d")
    assert [desk.fate(number) for number in (1, 2, 3, 4)] == ["runs", *["shutting_down"] * 3]
    await desk.ends_with(OK, 1)
    await desk.gating.aclose()
    assert desk.gate.sizes() == NOTHING
    assert (desk.tasks_left(), desk.clock.sleepers) == (0, [])


# ── time ────────────────────────────────────────────────────────────────────────────────────────


async def test_what_has_disappeared_is_swept_after_a_minute() -> None:
    existing = {"b"}
    desk = Desk(AdmissionLimits(max_concurrent=1), existing=lambda: existing)
    await desk.asks("b", "a")
    desk.clock.move(60.0)
    await quiet()
    assert (desk.fate(1), desk.fate(2)) == ("runs", "ended")
    assert len(desk.clock.sleepers) == 1
    existing.clear()
    desk.clock.move(60.0)
    await quiet()
    assert desk.clock.sleepers == []  # where nothing is known, nothing is due
    await desk.ends_with(OK, 1)
    assert desk.tasks_left() == 0


async def test_there_is_no_timer_before_something_is_known_and_none_after_its_end() -> None:
    desk = Desk(existing=lambda: ())
    await quiet()
    assert desk.tasks_left() == 0
    await desk.asks("a")
    await desk.ends_with(OK, 1)
    assert len(desk.clock.sleepers) == 1
    desk.gating.end("a")
    await quiet()
    assert (desk.tasks_left(), desk.clock.sleepers) == (0, [])


async def test_a_clock_that_is_set_back_lengthens_no_pause() -> None:
    desk = Desk(AdmissionLimits(failures_in_a_row=1))
    desk.clock.move(1_000.0)
    await desk.asks("a")
    desk.clock.move(-500.0)
    await desk.ends_with(FAILED, 1)
    await desk.asks("a")
    assert desk.answer(2).until == 1_060.0


# ── what is told ────────────────────────────────────────────────────────────────────────────────


async def test_the_limits_are_told_with_the_first_work_and_not_before() -> None:
    desk = Desk()
    assert desk.events == []
    await desk.asks("a")
    assert desk.events == [AdmissionLimitsSet(5, 20, 50), WorkAdmitted("a", 1, 1)]


async def test_an_event_that_cannot_be_recorded_costs_no_slot() -> None:
    broken = True

    def emit(event: Event) -> None:
        if broken:
            raise OSError("the disk is full")

    gate: AdmissionController[AdmissionEntry] = AdmissionController()
    gating = AdmissionRunner(gate, emit, HandClock())
    with pytest.raises(OSError, match="the disk is full"):
        await gating.run("a", lambda: asyncio.sleep(0))
    assert gate.running == ()
    broken = False
    await gating.run("a", lambda: asyncio.sleep(0))
