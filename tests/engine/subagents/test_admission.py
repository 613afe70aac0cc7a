"""A gate that is carried out: turns, cancellation, pauses, ends and the timer."""

import asyncio

import pytest

from harness.engine.subagents.admission import AdmissionEntry, AdmissionRunner, NotAdmitted
from harness.events import (
    AdmissionLimitsSet,
    AdmissionPool,
    DropReason,
    Event,
    WorkAdmitted,
    WorkDropped,
    WorkEnd,
    WorkReleased,
)
from harness.policies.admission.controller import AdmissionController
from harness.policies.admission.limits import AdmissionLimits
from tests.engine.gate_desk import NOTHING, Desk, Failed
from tests.engine.hand_clock import HandClock, quiet
from tests.policies.admission.oracle import balanced

pytestmark = pytest.mark.anyio

OK, FAILED = WorkEnd.SUCCEEDED, WorkEnd.FAILED


# ── turns ───────────────────────────────────────────────────────────────────────────────────────


async def test_of_ten_at_once_five_run_and_the_others_follow_in_their_order() -> None:
    desk = Desk()
    await desk.asks(*"abcdefghij")
    assert (desk.begun, desk.gating.status.queued) == ([1, 2, 3, 4, 5], tuple("fghij"))
    for number in (3, 1, 5, 2, 4):
        await desk.ends_with(OK, number)
    assert desk.begun == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert desk.most == 5


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


async def test_work_returns_its_result_to_whoever_asked_and_runs_in_his_task() -> None:
    gating = AdmissionRunner(AdmissionController(), list[Event]().append, HandClock())
    mine = asyncio.current_task()

    async def work() -> tuple[str, bool]:
        return "an answer", asyncio.current_task() is mine

    assert await gating.run("a", work) == ("an answer", True)


async def test_of_one_key_two_never_run_at_once_and_of_those_that_wait_the_newest_stands() -> None:
    desk = Desk()
    await desk.asks("a", "a", "a")
    assert [desk.fate(number) for number in (1, 2, 3)] == ["runs", "replaced", "waits"]
    await desk.ends_with(OK, 1)
    assert desk.begun == [1, 3]


async def test_newer_work_also_takes_the_place_of_what_waits_outside_of_the_queue() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1, max_queue_size=1))
    await desk.asks("a", "b", "c")
    assert (desk.gating.status.queued, desk.gating.status.dirty) == (("c",), ("b",))
    await desk.asks("b")
    assert [desk.fate(number) for number in (2, 3, 4)] == ["replaced", "waits", "waits"]
    await desk.ends_with(OK, 1)
    await desk.ends_with(OK, 4)
    assert desk.begun == [1, 4, 3]


async def test_every_free_slot_is_filled() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1))
    await desk.asks(*"abcd")
    desk.gating.configure(AdmissionLimits(max_concurrent=3))
    await quiet()
    assert desk.begun == [1, 2, 3]


# ── how work ends ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("ending", "told"), [(OK, OK), (FAILED, FAILED), (Failed("x"), FAILED)])
async def test_a_slot_is_given_back_however_the_work_ended(ending: WorkEnd | Failed, told: WorkEnd) -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1))
    await desk.asks("a", "b")
    await desk.ends_with(ending, 1)
    assert WorkReleased("a", 1, told, 0) in desk.events
    assert desk.begun == [1, 2]


async def test_a_judge_that_fails_is_a_failure_of_the_work() -> None:
    events = list[Event]()
    gating = AdmissionRunner(AdmissionController(), events.append, HandClock())

    def judge(_: None) -> WorkEnd:
        raise Failed("cannot tell")

    with pytest.raises(Failed):
        await gating.run("a", lambda: asyncio.sleep(0), judge)
    assert WorkReleased("a", 1, FAILED, 0) in events


async def test_work_that_is_cancelled_gives_its_slot_back_when_it_has_ended() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1))
    await desk.asks("a", "b")
    await desk.cancels(1)
    assert WorkReleased("a", 1, WorkEnd.CANCELLED, 0) in desk.events
    assert (desk.fate(1), desk.begun) == ("cancelled", [1, 2])


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


async def test_whoever_is_cancelled_while_he_waits_leaves_nothing_and_makes_room() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1, max_queue_size=1))
    await desk.asks("a", "b", "c")
    await desk.cancels(3)
    assert WorkDropped("c", 3, DropReason.WITHDRAWN, dirty=False) in desk.events
    assert (desk.gating.status.queued, desk.gating.status.dirty) == (("b",), ())
    await desk.cancels(2)
    assert (desk.gating.status.queued, desk.gating.status.dirty) == ((), ())


async def test_whoever_is_cancelled_outside_of_the_queue_is_not_asked_for_again() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1, max_queue_size=1))
    await desk.asks("a", "b", "c")
    await desk.cancels(2)
    assert desk.gating.status.dirty == ()
    await desk.ends_with(OK, 1)
    await desk.ends_with(OK, 3)
    assert (desk.begun, desk.tasks_left()) == ([1, 3], 0)


async def test_a_cancellation_between_the_start_and_the_work_passes_the_slot_on() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1))
    await desk.asks("a", "b", "c")
    desk.when[WorkAdmitted("b", 2, 1)] = desk.tasks[2].cancel
    await desk.ends_with(OK, 1)
    assert (desk.fate(2), desk.begun) == ("cancelled", [1, 3])


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


@pytest.mark.parametrize("places", [1, 2], ids=["outside of the queue", "in the queue"])
async def test_who_waits_is_told_as_soon_as_his_key_rests(places: int) -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1, max_queue_size=places, failures_in_a_row=1))
    await desk.asks("a", "a", "b")
    assert ("a" in desk.gating.status.queued) == (places == 2)
    await desk.ends_with(FAILED, 1)
    assert (desk.fate(2), desk.answer(2).until, desk.fate(3)) == ("paused", 60.0, "runs")
    assert (desk.gating.status.queued, desk.gating.status.dirty) == ((), ())


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


async def test_who_waits_is_told_when_none_may_run_any_more_and_what_runs_goes_on() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1, max_queue_size=1))
    await desk.asks("a", "b", "c")
    desk.gating.configure(AdmissionLimits(max_concurrent=0))
    await quiet()
    assert [desk.fate(number) for number in (1, 2, 3)] == ["runs", "none_allowed", "none_allowed"]


async def test_where_none_may_wait_who_finds_no_slot_is_told_at_once_and_the_flag_is_named() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1, max_queue_size=0))
    await desk.asks("a", "b")
    assert (desk.fate(2), desk.gating.status.dirty) == ("queue_full", ())
    assert "--max-queue-size" in str(desk.answer(2))


async def test_who_waits_is_told_when_none_may_wait_any_more() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1, max_queue_size=1))
    await desk.asks("a", "b", "c")
    desk.gating.configure(AdmissionLimits(max_concurrent=1, max_queue_size=0))
    await quiet()
    assert [desk.fate(number) for number in (1, 2, 3)] == ["runs", "queue_full", "queue_full"]
    assert desk.gating.status.dirty == ()


# ── ends ────────────────────────────────────────────────────────────────────────────────────────


async def test_the_end_of_a_key_turns_away_what_waits_and_lets_finish_what_runs() -> None:
    desk = Desk()
    await desk.asks("a", "a")
    desk.gating.end("a")
    await quiet()
    assert (desk.fate(1), desk.fate(2)) == ("runs", "ended")
    await desk.asks("a")
    assert desk.fate(3) == "not_known"  # not before what runs is over
    await desk.ends_with(OK, 1)
    assert desk.gate.sizes() == NOTHING
    await desk.asks("a")
    assert desk.fate(4) == "runs"


async def test_the_end_of_a_key_also_turns_away_what_waits_outside_of_the_queue() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1, max_queue_size=1))
    await desk.asks("a", "b", "c")
    desk.gating.end("b")
    await quiet()
    assert [desk.fate(number) for number in (1, 2, 3)] == ["runs", "ended", "waits"]


async def test_a_key_that_ends_between_the_start_and_the_work_does_not_begin() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1))
    await desk.asks("a", "b", "c")
    desk.when[WorkAdmitted("b", 2, 1)] = lambda: desk.gating.end("b")
    await desk.ends_with(OK, 1)
    assert (desk.fate(2), desk.begun) == ("ended", [1, 3])


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


async def test_without_anybody_to_ask_what_exists_there_is_never_a_timer() -> None:
    desk = Desk()
    await desk.asks("a")
    await desk.ends_with(OK, 1)
    assert desk.tasks_left() == 0


async def test_where_an_attempt_was_cancelled_the_next_one_keeps_its_place() -> None:
    desk = Desk(AdmissionLimits(max_concurrent=1, failures_in_a_row=1))
    await desk.asks("a")
    await desk.ends_with(FAILED, 1)
    desk.clock.move(60.0)
    await desk.asks("a", "b", "a")
    await desk.cancels(2)
    assert [desk.fate(number) for number in (2, 3, 4)] == ["cancelled", "runs", "waits"]
    await desk.ends_with(OK, 3)
    assert desk.fate(4) == "runs"


async def test_a_new_interval_counts_from_now_on() -> None:
    desk = Desk(existing=lambda: ())
    await desk.asks("a")
    desk.gating.configure(AdmissionLimits(sweep_every_s=5.0))
    await quiet()
    assert [due for due, _ in desk.clock.sleepers] == [5.0]
    await desk.gating.aclose()
    assert desk.clock.sleepers == []


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


async def test_who_hears_of_an_event_finds_the_gate_as_it_says_and_may_act_on_it() -> None:
    gate, clock = AdmissionController[AdmissionEntry](AdmissionLimits(max_concurrent=1)), HandClock()
    heard = list[tuple[Event, tuple[str, ...]]]()

    def hear(event: Event) -> None:
        heard.append((event, gating.status.running))
        if isinstance(event, WorkReleased):
            gating.end(event.key)

    gating = AdmissionRunner(gate, hear, clock)
    await gating.run("a", lambda: asyncio.sleep(0))
    assert (WorkAdmitted("a", 1, 1), ("a",)) in heard
    assert gate.sizes() == NOTHING


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


async def test_the_watch_list_goes_by_activity() -> None:
    desk = Desk(AdmissionLimits(watch_cap=2))
    for key in "abc":
        desk.clock.move(1.0)
        await desk.asks(key)
    assert desk.gating.scan() == ("c", "a")
    desk.clock.move(1.0)
    desk.gating.active("b")
    assert desk.gating.scan()[0] == "b"
