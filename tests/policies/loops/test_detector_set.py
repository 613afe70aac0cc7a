"""The detectors, projection by projection: from where on a repetition is a loop, and when it is one no longer."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import ErrorClass, Loop, Projection
from harness.policies.loops.detector_set import Detectors
from harness.policies.loops.limits import LoopThresholds
from harness.policies.loops.observations import Poll
from harness.policies.loops.repeat_detector import RepeatRun, RepeatStream, wanted_runs
from tests.policies.loops.building import Watch, visit
from tests.policies.loops.sequences import random_walk
from tests.policies.loops.streams import Made, edit, exploring, fail, read, run
from tests.whole import WHOLE

A, B, C = read("a", "1"), read("b", "2"), read("c", "3")
REFUSED = fail("search", "q", "401")
STATUS = Made("status", "job", "running", poll=True)
FIRST = 1
"""The step of a first verdict is counted from here."""


def first(watch: Watch, steps: Sequence[tuple[Made, ...]]) -> int:
    """The step at which a loop is first found; 0: none."""
    for number, step in enumerate(steps, FIRST):
        if watch.observe(*step):
            return number
    return 0


def one(watch: Watch) -> Loop:
    (loop,) = watch.detectors.verdicts()
    return loop


# ── interactions ────────────────────────────────────────────────────────────────────────────────


def test_a_loop_says_what_repeats() -> None:
    watch = Watch()
    for made in (C, A, B, A, B, A, B):
        watch.observe(made)
    loop = one(watch)
    assert (loop.projection, loop.period, loop.copies) == (Projection.INTERACTION, 2, 3)
    assert loop.summary == "read_file a → read_file b"
    assert loop.tools == ("read_file",)
    assert (loop.failing, loop.error, loop.weak) == (False, None, False)


def test_a_loop_of_failures_says_so() -> None:
    watch = Watch()
    for _ in range(3):
        watch.observe(REFUSED)
    assert (one(watch).failing, one(watch).error) == (True, ErrorClass.UNKNOWN)


def test_the_first_new_step_clears_a_loop_and_another_result_is_new() -> None:
    watch = Watch()
    for _ in range(6):
        watch.observe(A)
    assert watch.detectors.verdicts()
    assert watch.observe(replace(A, result="another")) == ()


def test_a_loop_has_one_signature_wherever_it_begins_and_however_long_it_lasts() -> None:
    signatures = set()
    for begin in range(3):
        watch = Watch()
        for number in range(12):
            signatures |= {loop.signature for loop in watch.observe((A, B, C)[(begin + number) % 3])}
    assert len(signatures) == 1
    watch = Watch()
    for _ in range(3):
        for made in (A, C, B):
            watch.observe(made)
    assert one(watch).signature not in signatures


def test_a_cycle_of_64_is_found_at_the_end_of_its_third_copy() -> None:
    watch = Watch()
    found = [bool(watch.observe(read(f"f{number % 64}", "x"))) for number in range(3 * 64)]
    assert found == [False] * (3 * 64 - 1) + [True]
    assert one(watch).period == 64


# ── many calls in one reply ─────────────────────────────────────────────────────────────────────


@given(st.lists(st.permutations([A, B, REFUSED, STATUS]), min_size=1, max_size=8))
def test_the_order_of_calls_in_one_reply_changes_nothing(steps: list[list[Made]]) -> None:
    ordered, shuffled = Watch(), Watch()
    for step in steps:
        found, also = ordered.observe(A, B, REFUSED, STATUS), shuffled.observe(*step)
        assert [(x.signature, x.copies) for x in found] == [(x.signature, x.copies) for x in also]


def test_the_same_call_several_times_in_one_reply_counts_once() -> None:
    assert first(Watch(), [(A, A, A, A)] * 5) == 4
    assert first(Watch(), [(REFUSED, REFUSED, REFUSED)] * 5) == 3


def test_calls_that_repeat_are_found_however_they_are_dealt_out_to_replies() -> None:
    dealt = [(A, B), (A,), (B,), (A, B), (A, B), (A,), (B,), (A, B), (A,), (B,)]
    watch = Watch()
    assert first(watch, dealt) in range(1, 9)
    assert one(watch).projection is Projection.INTERACTION


def test_one_of_several_calls_that_continues_alone_is_not_the_same_loop() -> None:
    for alone in (A, B):
        watch = Watch()
        assert first(watch, [(A, B)] * 6) == 4
        assert [bool(watch.observe(alone)) for _ in range(4)] == [False, False, False, True]


# ── failures ────────────────────────────────────────────────────────────────────────────────────


def searches(count: int) -> list[tuple[Made, ...]]:
    return [(fail("search", f"q{number}", "401"),) for number in range(count)]


def test_one_tool_that_fails_four_times_in_one_way_is_a_loop_whatever_it_is_asked() -> None:
    watch = Watch()
    assert first(watch, searches(4)) == 4
    loop = one(watch)
    assert (loop.projection, loop.copies, loop.failing) == (Projection.ERROR, 4, True)


def test_a_success_beside_them_breaks_the_row_too() -> None:
    assert first(Watch(), [(*step, read(f"{number}", "x")) for number, step in enumerate(searches(9))]) == 0


def test_failures_without_a_known_cause_are_never_the_same() -> None:
    watch = Watch()
    assert not any(watch.observe(*step, error="") for step in searches(9))


# ── places and states ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("period", "event"), [(1, 9), (2, 10), (3, 11), (5, 15), (8, 24)])
def test_a_cycle_of_places_is_found_when_it_is_long_enough_for_no_accident(period: int, event: int) -> None:
    detectors = Detectors()
    for number in range(FIRST, 60):
        detectors.observe_visit(visit(f"n{number % period}"))
        if detectors.verdicts():
            assert number == event
            assert detectors.verdicts()[0].projection is Projection.NODE
            return
    pytest.fail("never found")


@pytest.mark.parametrize(("nodes", "at_most"), [(3, 0.015), (4, 0.003), (6, 0.003), (10, 0.003)])
def test_a_walk_without_memory_is_seldom_taken_for_a_loop(nodes: int, at_most: float) -> None:
    runs = 2000 if WHOLE else 600
    assert sum(alarms(nodes, f"walk {number}") for number in range(runs)) <= at_most * runs


def alarms(nodes: int, seed: str) -> bool:
    stream, thresholds = RepeatStream(Projection.NODE, 64), LoopThresholds()
    copies = thresholds.copies_cycle
    wanted = wanted_runs(64, copies=copies, copies_cycle=copies, least=thresholds.walk_length)
    for node in random_walk(random.Random(seed), nodes, 40):
        stream.push(node)
        if stream.loop(wanted):
            return True
    return False


# ── weak signs ──────────────────────────────────────────────────────────────────────────────────


def test_the_same_call_with_other_results_is_left_alone_for_a_hundred_steps_and_then_a_weak_sign() -> None:
    watch = Watch()
    assert first(watch, [(run("tail log", f"line {number}"),) for number in range(200)]) == 101
    loop = one(watch)
    assert (loop.projection, loop.weak, loop.copies) == (Projection.ACTION, True, 101)


def stagnating(count: int) -> list[tuple[Made, ...]]:
    return [(A if number % 2 else read(f"f{number}", f"{number}"),) for number in range(count)]


def test_one_interaction_eight_times_among_others_is_a_weak_sign() -> None:
    watch = Watch()
    assert first(watch, stagnating(30)) == 16
    loop = one(watch)
    assert (loop.projection, loop.weak, loop.copies, loop.period) == (Projection.STAGNATION, True, 8, 1)


def test_a_change_begins_the_count_anew_and_so_does_another_result() -> None:
    for new in (edit("x", "y"), replace(A, result="another")):
        assert first(Watch(), [*stagnating(15), (new,), *stagnating(15)]) == 0


# ── polls ───────────────────────────────────────────────────────────────────────────────────────


def test_a_declared_poll_may_repeat_within_its_limits() -> None:
    watch = Watch()
    assert not any(watch.observe(STATUS, after=5.0) for _ in range(120))
    assert watch.observe(STATUS, after=5.0) == ()  # 600 seconds since the first
    (loop,) = watch.observe(STATUS, after=5.0)
    assert (loop.projection, loop.weak, loop.copies) == (Projection.POLL, False, 122)


def test_a_poll_with_new_answers_waits_as_long_as_it_likes() -> None:
    watch = Watch()
    assert not any(watch.observe(replace(STATUS, result=f"{number} %"), after=400.0) for number in range(50))


def test_a_poll_in_a_hurry_is_a_weak_sign_at_the_fourth_time_in_a_row() -> None:
    watch = Watch()
    found = [bool(watch.observe(STATUS, after=0.2)) for _ in range(6)]
    assert found == [False] * 4 + [True] * 2
    assert one(watch).weak
    assert watch.observe(STATUS, after=1.0) == ()


def test_a_poll_says_its_own_limits() -> None:
    patient = Poll(every_s=60.0, total_s=100.0)
    watch = Watch()
    found = [[loop.weak for loop in watch.observe(STATUS, after=30.0, poll=patient)] for _ in range(6)]
    assert found == [[], [], [], [], [False], [False]]


def test_new_work_between_two_polls_begins_the_waiting_anew() -> None:
    watch = Watch()
    watch.observe(STATUS)
    for step in exploring(10):
        watch.observe(*step, after=100.0)
    assert watch.observe(STATUS) == ()


# ── episodes, snapshots, settings ───────────────────────────────────────────────────────────────

STEPS = st.lists(st.sampled_from([A, B, REFUSED, STATUS, fail("search", "r", "401"), edit("x", "y")]), max_size=30)


def everything(watch: Watch) -> object:
    return watch.detectors.verdicts(), watch.detectors.runs()


def test_a_word_of_the_user_ends_the_episode() -> None:
    watch = Watch()
    for step in [*searches(3), *[(A,)] * 3, *[(STATUS,)] * 3]:
        watch.observe(*step, after=0.1)
        watch.detectors.observe_visit(visit("a place"))
    watch.detectors.forget()
    assert everything(watch) == everything(Watch())
    assert first(watch, [(A,)] * 4) == 4


@given(STEPS, STEPS, STEPS)
def test_restored_detectors_continue_as_if_nothing_had_come_between(
    before: list[Made], lost: list[Made], then: list[Made]
) -> None:
    straight, back = Watch(), Watch()
    for made in before:
        straight.observe(made, A)
        back.observe(made, A)
    snapshot, moment = back.detectors.snapshot(), back.at
    for made in lost:
        back.observe(made)
        back.detectors.observe_visit(visit("elsewhere", "else"))
    back.detectors.restore(snapshot)
    back.at, back.step = moment, straight.step
    assert everything(back) == everything(straight)
    for made in then:
        straight.observe(made)
        back.observe(made)
        assert everything(back) == everything(straight)
    assert back.detectors.snapshot() == straight.detectors.snapshot()


def test_a_change_of_the_thresholds_holds_at_once() -> None:
    watch = Watch()
    for _ in range(3):
        watch.observe(A)
    assert watch.detectors.verdicts() == ()
    watch.detectors.thresholds = LoopThresholds(copies=3)
    assert one(watch).copies == 3
    watch.detectors.thresholds = LoopThresholds(copies=5, longest_period=8)
    assert watch.detectors.verdicts() == ()
    assert watch.observe(A) == ()
    assert watch.observe(A)


def test_runs_say_how_near_each_projection_is_to_a_loop() -> None:
    watch = Watch()
    for made in (A, B, A, B, A):
        watch.observe(made)
    runs = {run.projection: run for run in watch.detectors.runs()}
    assert set(runs) == set(Projection) - {Projection.TEXT}
    assert runs[Projection.INTERACTION] == RepeatRun(Projection.INTERACTION, 2, 3, 4)
    assert runs[Projection.STAGNATION] == RepeatRun(Projection.STAGNATION, 1, 3, 8)
    assert runs[Projection.NODE] == RepeatRun(Projection.NODE, 0, 0, 8)


def test_strong_verdicts_are_before_weak_ones() -> None:
    detectors = Detectors()
    watch = Watch(detectors)
    for step in stagnating(16):
        watch.observe(*step)
        detectors.observe_visit(visit("here"))
    assert [loop.projection for loop in detectors.verdicts()] == [Projection.NODE, Projection.STAGNATION]
