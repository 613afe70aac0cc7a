"""Episodes of loops, and what is due: from observations and events to advice."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    ErrorClass,
    Event,
    Loop,
    LoopAnswered,
    LoopChoice,
    LoopFound,
    LoopLeft,
    Projection,
    Rung,
)
from harness.policies.loops.ladder import Abilities
from harness.policies.loops.limits import LoopLimits
from harness.policies.loops.monitor import LoopMonitor
from harness.policies.loops.observations import Visit
from tests.policies.loops.ignoring import Driver, done, observed, rungs

EVERYTHING = Abilities(retry=True, explore=("north",), substitute="grep", rollback=True, breaker=True, human=True)
TEXT = Loop(Projection.TEXT, "text", 1, 12, "and so on")


# ── healthy steps ─────────────────────────────────────────────────────────────────────────


@given(
    streams=st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=3, unique=True), max_size=40), ok=st.booleans()
)
def test_a_step_outside_of_a_loop_brings_no_event_and_no_advice(streams: list[list[int]], *, ok: bool) -> None:
    orchestrator = LoopMonitor()
    for step, numbers in enumerate(streams, 1):
        calls = [observed(f"tool{number}", step, ok=ok, result=str(step)) for number in numbers]
        events = orchestrator.step([replace(call, error=f"{call.error}{step}" if call.error else "") for call in calls])
        events += orchestrator.visit(Visit(step, step, float(step), 0.0, f"place {step}"))
        events += orchestrator.reply(None, step)
        assert events == ()
        assert orchestrator.due is None
        assert orchestrator.advise(EVERYTHING, 0.5) is None


def test_a_step_without_calls_is_none() -> None:
    driver = Driver()
    driver.asks("read", repeat=4)
    assert driver.orchestrator.step([]) == ()
    assert driver.orchestrator.status().loops


# ── episodes ─────────────────────────────────────────────────────────────────────


def test_a_loop_is_told_once_and_again_when_it_is_twice_as_long() -> None:
    driver = Driver(LoopMonitor(LoopLimits(enabled=False)))
    driver.asks("read", repeat=33)
    assert [found.step for found in driver.found()] == [4, 8, 16, 32]
    assert not any(found.relapse for found in driver.found())


def test_the_first_new_thing_ends_it_and_says_what_freed_the_agent() -> None:
    driver = Driver(abilities=Abilities(explore=("north",)))
    driver.asks("read", repeat=5)
    driver.asks("write")
    (left,) = driver.left()
    assert (left.projection, left.step, left.freed_by) == (Projection.INTERACTION, 6, Rung.EXPLORE)


def test_a_loop_that_ends_before_anything_was_done_freed_itself() -> None:
    driver = Driver(LoopMonitor(LoopLimits(enabled=False)))
    driver.asks(*["read"] * 4, "write")
    assert [left.freed_by for left in driver.left()] == [None]


def test_a_loop_that_gives_way_to_another_was_not_freed_and_that_one_goes_on_from_its_rung() -> None:
    orchestrator = LoopMonitor()
    for step in range(1, 5):  # one error whatever the arguments, found at its fourth; then the arguments stay the same
        orchestrator.step([replace(observed("bash", step, ok=False), action=str(min(step, 3)))])
    advice = orchestrator.advise(EVERYTHING, 0.5)
    assert advice is not None
    assert advice.loop.projection is Projection.ERROR
    orchestrator.on_event(done(advice, 4))
    events = orchestrator.step([replace(observed("bash", 5, ok=False), action="3")])
    left = [event for event in events if isinstance(event, LoopLeft)]
    found = [event for event in events if isinstance(event, LoopFound)]
    assert [one.freed_by for one in left] == [None]
    assert [one.loop.projection for one in found] == [Projection.INTERACTION]
    after = orchestrator.advise(EVERYTHING, 0.5)
    assert (advice.rung, after and after.rung) == (Rung.RETRY, Rung.NUDGE)  # one retry is all that the unknown is given


def test_a_loop_that_comes_back_goes_on_where_it_was_on_the_ladder() -> None:
    policy = LoopLimits().with_changes(stagnation_copies=24)
    driver = Driver(LoopMonitor(policy), Abilities(explore=("north",), rollback=True))
    for number in range(3):
        driver.asks("read", repeat=4)
        driver.asks(f"write{number}")
    driver.asks("read", repeat=8)
    assert [found.relapse for found in driver.found()] == [False, True, True, True]
    assert rungs(driver) == [Rung.NUDGE, Rung.EXPLORE, Rung.EXPLORE, Rung.ROLLBACK, Rung.STOP]


def test_a_prompt_ends_the_episode_and_forgets_nothing_of_the_ladder() -> None:
    driver = Driver()
    driver.asks("read", repeat=4)
    driver.orchestrator.new_prompt()
    assert driver.orchestrator.status().loops == ()
    driver.asks("read", repeat=3)
    assert len(driver.found()) == 1
    driver.asks("read")
    assert driver.found()[-1].relapse
    assert rungs(driver) == [Rung.NUDGE, Rung.STOP]


def test_the_phase_in_which_a_circle_is_met_again_does_not_matter() -> None:
    driver = Driver(abilities=Abilities(rollback=True))
    driver.asks("a", "b", "c", repeat=3)
    driver.asks("x")
    driver.asks("b", "c", "a", repeat=3)
    assert [found.relapse for found in driver.found()] == [False, True]


# ── what is due ──────────────────────────────────────────────────────────────────────


def test_the_next_rung_is_due_with_one_more_whole_copy() -> None:
    driver = Driver(abilities=Abilities(explore=("north",), rollback=True))
    driver.asks("a", "b", "c", repeat=20)
    assert driver.taken == [
        *((9, Rung.NUDGE), (12, Rung.EXPLORE), (15, Rung.EXPLORE), (18, Rung.ROLLBACK), (21, Rung.STOP)),
    ]


def test_advice_changes_nothing_before_it_is_carried_out() -> None:
    driver = Driver(LoopMonitor())
    driver.asks("read", repeat=3)
    driver.orchestrator.step([observed("read", 4)])
    assert driver.orchestrator.advise(EVERYTHING, 0.5) == driver.orchestrator.advise(EVERYTHING, 0.5)


def test_after_a_rung_that_was_not_possible_the_next_one_is_due_at_once() -> None:
    orchestrator = LoopMonitor()
    for step in range(1, 5):
        orchestrator.step([observed("read", step)])
    tried = []
    while action := orchestrator.advise(EVERYTHING, 0.5):
        tried.append((action.rung, action.number, action.quota))
        orchestrator.on_event(done(action, 4, applied=action.rung is Rung.HUMAN))
    assert tried == [
        *((Rung.NUDGE, 1, 1), (Rung.EXPLORE, 1, 2), (Rung.EXPLORE, 2, 2), (Rung.SUBSTITUTE, 1, 1)),
        *((Rung.ROLLBACK, 1, 1), (Rung.BREAKER, 1, 1), (Rung.HUMAN, 1, 1)),
    ]
    events = orchestrator.step([observed("write", 5)])
    assert [event.freed_by for event in events if isinstance(event, LoopLeft)] == [Rung.HUMAN]


def test_a_weak_loop_is_nudged_once_and_a_strong_one_comes_first() -> None:
    orchestrator = LoopMonitor()
    driver = Driver(orchestrator, EVERYTHING)
    for step in range(1, 21):  # one look again and again, between others that are all new
        name = "grep" if step % 2 else f"read{step}"
        for event in orchestrator.step([observed(name, step)]):
            driver.events.append(event)
        if advice := orchestrator.advise(EVERYTHING, 0.5):
            driver.carry_out(advice, name)
    assert [found.loop.projection for found in driver.found()] == [Projection.STAGNATION]
    assert rungs(driver) == [Rung.NUDGE]
    assert orchestrator.due is None


def test_of_two_loops_at_once_the_first_one_found_climbs() -> None:
    orchestrator = LoopMonitor()
    driver = Driver(orchestrator, Abilities(rollback=True))
    for step in range(1, 30):  # one error in every call; the arguments go round in a circle of two
        orchestrator.step([replace(observed("bash", step, ok=False), action=f"bash{step % 2}")])
        if (advice := orchestrator.advise(driver.abilities, 0.5)) and not driver.stopped:
            driver.step = step
            driver.before = None
            driver.carry_out(advice, "")
    assert driver.taken == [(4, Rung.NUDGE), (5, Rung.ROLLBACK), (6, Rung.STOP)]


def test_retries_wait_a_part_of_a_limit_that_doubles_up_to_a_cap() -> None:
    policy = LoopLimits(retries=14, retry_base_s=0.1, retry_cap_s=60.0)

    def waits(chance: float) -> list[float]:
        orchestrator, found = LoopMonitor(policy), []
        for step in range(1, 17):
            orchestrator.step([observed("read", step, ok=False, error=ErrorClass.TRANSIENT)])
            action = orchestrator.advise(Abilities(retry=True), chance)
            if action is None:
                continue
            assert action.rung is Rung.RETRY
            found.append(action.delay_s)
            orchestrator.on_event(done(action, step))
        return found

    limits = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60.0, 60.0, 60.0, 60.0]
    assert waits(1.0) == pytest.approx(limits)
    assert waits(0.25) == pytest.approx([limit / 4 for limit in limits])
    assert waits(0.0) == [0.0] * 14


# ── vetoes ───────────────────────────────────────────────────────────────────────────


def test_a_call_that_is_kept_from_being_made_counts_as_a_copy_and_does_not_end_the_loop() -> None:
    driver = Driver(abilities=Abilities(substitute="grep", human=True))
    driver.asks("read", repeat=6)
    assert rungs(driver) == [Rung.NUDGE, Rung.SUBSTITUTE, Rung.HUMAN]
    (status,) = driver.orchestrator.status().loops
    assert status.loop.copies == 6
    assert not driver.left()


def test_the_veto_falls_with_the_loop() -> None:
    driver = Driver(abilities=Abilities(substitute="grep"))
    driver.asks("read", repeat=5)
    assert driver.orchestrator.kept_from("read")
    assert not driver.orchestrator.kept_from("write")
    driver.asks("write")
    assert not driver.orchestrator.kept_from("read")
    assert [left.freed_by for left in driver.left()] == [Rung.SUBSTITUTE]


def test_other_calls_beside_the_one_that_is_kept_from_being_made_do_not_end_the_loop() -> None:
    orchestrator = LoopMonitor()
    driver = Driver(orchestrator, Abilities(substitute="grep", rollback=True))
    for step in range(1, 20):
        driver.step = step
        names = ["read", "list"]
        for name in names:
            if signature := orchestrator.kept_from(name):
                driver.events += orchestrator.ignored(signature, step)
        driver.events += orchestrator.step([observed(name, step) for name in names if not orchestrator.kept_from(name)])
        if advice := orchestrator.advise(driver.abilities, 0.5):
            driver.carry_out(advice, "read")
        if driver.stopped:
            break
    assert driver.taken == [(4, Rung.NUDGE), (5, Rung.SUBSTITUTE), (6, Rung.ROLLBACK), (7, Rung.STOP)]
    assert not driver.left()


def test_what_is_ignored_of_a_loop_that_is_over_is_nothing() -> None:
    assert LoopMonitor().ignored("nothing", 3) == ()


# ── rollback ──────────────────────────────────────────────────────────────────────────────


def test_after_a_rollback_the_same_loop_goes_on_at_once() -> None:
    driver = Driver(abilities=Abilities(rollback=True, human=True))
    driver.asks("read", repeat=7)
    assert driver.taken == [(4, Rung.NUDGE), (5, Rung.ROLLBACK), (6, Rung.HUMAN), (7, Rung.STOP)]


def test_after_a_rollback_something_else_is_judged_by_what_was_there_before() -> None:
    driver = Driver(abilities=Abilities(rollback=True))
    driver.asks("write", "write")
    driver.before = driver.orchestrator.snapshot()
    driver.asks("read", repeat=5)
    assert rungs(driver) == [Rung.NUDGE, Rung.ROLLBACK]
    driver.asks("write")
    assert [left.freed_by for left in driver.left()] == [Rung.ROLLBACK]
    driver.asks("write")  # the fourth of them, as if nothing had been between
    assert [found.loop.summary for found in driver.found()] == ["read x", "write x"]


def test_the_ladder_stays_as_it_is_at_a_rollback() -> None:
    driver = Driver(abilities=Abilities(rollback=True))
    driver.asks("read", repeat=5)
    driver.asks("write")
    driver.asks("read", repeat=4)
    assert rungs(driver) == [Rung.NUDGE, Rung.ROLLBACK, Rung.STOP]


# ── a person (LoopAnswered) ─────────────────────────────────────────────────────────────────────


def asked() -> Driver:
    """A person was asked at the fifth copy."""
    driver = Driver(abilities=Abilities(human=True, rollback=True), orchestrator=LoopMonitor(LoopLimits(rollbacks=0)))
    driver.asks("read", repeat=5)
    assert rungs(driver) == [Rung.NUDGE, Rung.HUMAN]
    return driver


def answer(driver: Driver, choice: LoopChoice) -> None:
    (found,) = driver.found()
    driver.orchestrator.on_event(LoopAnswered(found.loop.signature, choice))


def test_what_is_meant_is_left_alone_until_it_is_twice_as_long_and_asked_about_again() -> None:
    driver = asked()
    answer(driver, LoopChoice.CONTINUE)
    driver.asks("read", repeat=4)
    assert [one.silent for one in driver.orchestrator.status().loops] == [True]
    assert len(driver.taken) == 2
    driver.asks("read")
    assert driver.taken[2:] == [(10, Rung.HUMAN)]


def test_off_is_for_the_rest_of_the_session_or_until_a_newer_policy() -> None:
    driver = asked()
    answer(driver, LoopChoice.OFF)
    driver.orchestrator.new_prompt()
    driver.orchestrator.on_event(driver.orchestrator.policy.announced())
    driver.asks("read", repeat=20)
    assert len(driver.taken) == 2
    assert not driver.orchestrator.status().active
    driver.orchestrator.on_event(driver.orchestrator.policy.with_changes(enabled=True).announced())
    driver.asks("read")
    assert driver.taken[2:] == [(26, Rung.STOP)]


@pytest.mark.parametrize(("choice", "rung"), [(LoopChoice.ROLL_BACK, Rung.ROLLBACK), (LoopChoice.STOP, Rung.STOP)])
def test_what_a_person_chooses_is_done_at_once_whatever_the_quota(choice: LoopChoice, rung: Rung) -> None:
    driver = asked()
    answer(driver, choice)
    action = driver.orchestrator.advise(driver.abilities, 0.5)
    assert action is not None
    assert (action.rung, action.number, action.quota) == (rung, 1, 1)
    driver.orchestrator.on_event(done(action, 5))
    assert driver.orchestrator.advise(driver.abilities, 0.5) is None


# ── the policy ────────────────────────────────────────────────────────────────────────────


def test_with_interventions_off_loops_are_still_found() -> None:
    driver = Driver(LoopMonitor(LoopLimits(enabled=False)), EVERYTHING)
    driver.asks("read", repeat=30)
    assert driver.found()
    assert driver.taken == []


def test_another_policy_holds_from_the_next_observation_on() -> None:
    driver = Driver()
    driver.asks("read", repeat=3)
    driver.orchestrator.on_event(driver.orchestrator.policy.with_changes(copies=10, nudges=0).announced())
    driver.asks("read", repeat=6)
    assert all(found.loop.weak for found in driver.found())
    driver.asks("read")
    assert driver.taken == [(10, Rung.STOP)]
    assert driver.orchestrator.policy.version == 2


# ── replies that repeat themselves ──────────────────────────────────────────────────────────────


def test_replies_that_repeat_themselves_climb_the_ladder_reply_by_reply() -> None:
    orchestrator = LoopMonitor()
    taken, events = [], list[Event]()
    for step in range(1, 5):
        events += orchestrator.reply(replace(TEXT, copies=step * 5), step)
        if action := orchestrator.advise(Abilities(human=True), 0.5):
            taken.append(action.rung)
            orchestrator.on_event(done(action, step))
    assert taken == [Rung.NUDGE, Rung.HUMAN, Rung.STOP]
    assert [event.step for event in events if isinstance(event, LoopFound)] == [1, 2, 4]


def test_a_reply_that_does_not_repeat_itself_ends_that() -> None:
    orchestrator = LoopMonitor()
    orchestrator.reply(TEXT, 1)
    orchestrator.step([observed("read", 1)])  # what the rest of the step does says nothing about it
    assert [one.loop.signature for one in orchestrator.status().loops] == ["text"]
    assert orchestrator.reply(None, 2) == (LoopLeft("text", Projection.TEXT, 2),)
    assert orchestrator.status().loops == ()
    (found,) = orchestrator.reply(TEXT, 3)
    assert isinstance(found, LoopFound)
    assert found.relapse
