"""Loop episodes: from observations and events to advice."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    ErrorClass,
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


# ── healthy steps ─────────────────────────────────────────────────────────────────────────


@given(
    streams=st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=3, unique=True), max_size=40), ok=st.booleans()
)
def test_a_step_outside_of_a_loop_brings_no_event_and_no_advice(streams: list[list[int]], *, ok: bool) -> None:
    monitor = LoopMonitor()
    for step, numbers in enumerate(streams, 1):
        calls = [observed(f"tool{number}", step, ok=ok, result=str(step)) for number in numbers]
        events = monitor.step([replace(call, error=f"{call.error}{step}" if call.error else "") for call in calls])
        events += monitor.visit(Visit(step, step, float(step), 0.0, f"place {step}"))
        events += monitor.reply(None, step)
        assert events == ()
        assert monitor.due is None
        assert monitor.advise(EVERYTHING, 0.5) is None


# ── episodes ─────────────────────────────────────────────────────────────────────


def test_a_loop_that_gives_way_to_another_was_not_freed_and_that_one_continues_from_its_rung() -> None:
    monitor = LoopMonitor()
    for step in range(1, 5):  # one error whatever the arguments, found at its fourth; then the arguments stay the same
        monitor.step([replace(observed("bash", step, ok=False), action=str(min(step, 3)))])
    advice = monitor.advise(EVERYTHING, 0.5)
    assert advice is not None
    assert advice.loop.projection is Projection.ERROR
    monitor.on_event(done(advice, 4))
    events = monitor.step([replace(observed("bash", 5, ok=False), action="3")])
    left = [event for event in events if isinstance(event, LoopLeft)]
    found = [event for event in events if isinstance(event, LoopFound)]
    assert [one.freed_by for one in left] == [None]
    assert [one.loop.projection for one in found] == [Projection.INTERACTION]
    after = monitor.advise(EVERYTHING, 0.5)
    assert (advice.rung, after and after.rung) == (Rung.RETRY, Rung.NUDGE)  # one retry is all that the unknown is given


# ── what is due ──────────────────────────────────────────────────────────────────────


def test_after_a_rung_that_was_not_possible_the_next_one_is_due_at_once() -> None:
    monitor = LoopMonitor()
    for step in range(1, 5):
        monitor.step([observed("read", step)])
    tried = []
    while action := monitor.advise(EVERYTHING, 0.5):
        tried.append((action.rung, action.number, action.quota))
        monitor.on_event(done(action, 4, applied=action.rung is Rung.HUMAN))
    assert tried == [
        *((Rung.NUDGE, 1, 1), (Rung.EXPLORE, 1, 2), (Rung.EXPLORE, 2, 2), (Rung.SUBSTITUTE, 1, 1)),
        *((Rung.ROLLBACK, 1, 1), (Rung.BREAKER, 1, 1), (Rung.HUMAN, 1, 1)),
    ]
    events = monitor.step([observed("write", 5)])
    assert [event.freed_by for event in events if isinstance(event, LoopLeft)] == [Rung.HUMAN]


def test_retries_wait_a_part_of_a_limit_that_doubles_up_to_a_cap() -> None:
    policy = LoopLimits(retries=14, retry_base_s=0.1, retry_cap_s=60.0)

    def waits(chance: float) -> list[float]:
        monitor, found = LoopMonitor(policy), []
        for step in range(1, 17):
            monitor.step([observed("read", step, ok=False, error=ErrorClass.TRANSIENT)])
            action = monitor.advise(Abilities(retry=True), chance)
            if action is None:
                continue
            assert action.rung is Rung.RETRY
            found.append(action.delay_s)
            monitor.on_event(done(action, step))
        return found

    limits = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60.0, 60.0, 60.0, 60.0]
    assert waits(1.0) == pytest.approx(limits)
    assert waits(0.25) == pytest.approx([limit / 4 for limit in limits])
    assert waits(0.0) == [0.0] * 14


def test_after_an_intervention_a_cycle_of_places_is_due_again_only_with_a_whole_copy() -> None:
    monitor, due = LoopMonitor(), []
    for number in range(1, 20):
        monitor.visit(Visit(number, number, float(number), 0.0, "ABC"[number % 3]))
        if action := monitor.advise(Abilities(explore=("D",)), 0.5):
            due.append(number)
            monitor.on_event(done(action, number))
    assert due == [11, 14, 17]


# ── vetoes ───────────────────────────────────────────────────────────────────────────


def test_what_is_ignored_of_a_loop_that_is_over_is_nothing() -> None:
    assert LoopMonitor().ignored("nothing", 3) == ()


# ── a user (LoopAnswered) ─────────────────────────────────────────────────────────────────────


def asked() -> Driver:
    """A user was asked at the fifth copy."""
    driver = Driver(abilities=Abilities(human=True, rollback=True), monitor=LoopMonitor(LoopLimits(rollbacks=0)))
    driver.asks("read", repeat=5)
    assert rungs(driver) == [Rung.NUDGE, Rung.HUMAN]
    return driver


def answer(driver: Driver, choice: LoopChoice) -> None:
    (found,) = driver.found()
    driver.monitor.on_event(LoopAnswered(found.loop.signature, choice))


def test_what_is_meant_is_left_alone_until_it_is_twice_as_long_and_asked_about_again() -> None:
    driver = asked()
    answer(driver, LoopChoice.CONTINUE)
    driver.asks("read", repeat=4)
    assert [one.silent for one in driver.monitor.status().loops] == [True]
    assert len(driver.taken) == 2
    driver.asks("read")
    assert driver.taken[2:] == [(10, Rung.HUMAN)]


def test_off_is_for_the_rest_of_the_session_or_until_a_newer_policy() -> None:
    driver = asked()
    answer(driver, LoopChoice.OFF)
    driver.monitor.new_prompt()
    driver.monitor.on_event(driver.monitor.policy.announced())
    driver.asks("read", repeat=20)
    assert len(driver.taken) == 2
    assert not driver.monitor.status().active
    driver.monitor.on_event(driver.monitor.policy.with_changes(enabled=True).announced())
    driver.asks("read")
    assert driver.taken[2:] == [(26, Rung.NUDGE)]  # the prompt began the ladder again


@pytest.mark.parametrize(("choice", "rung"), [(LoopChoice.ROLL_BACK, Rung.ROLLBACK), (LoopChoice.STOP, Rung.STOP)])
def test_what_a_user_chooses_is_done_at_once_whatever_the_quota(choice: LoopChoice, rung: Rung) -> None:
    driver = asked()
    answer(driver, choice)
    action = driver.monitor.advise(driver.abilities, 0.5)
    assert action is not None
    assert (action.rung, action.number, action.quota) == (rung, 1, 1)
    driver.monitor.on_event(done(action, 5))
    assert driver.monitor.advise(driver.abilities, 0.5) is None


# ── what is learned ─────────────────────────────────────────────────────────────────────────────


def test_what_freed_more_loops_of_a_kind_comes_first_from_the_next_prompt_on() -> None:
    abilities = Abilities(explore=("north",), substitute="grep")
    driver = Driver(abilities=abilities, monitor=LoopMonitor(LoopLimits(nudges=0, explorations=1)))
    order: list[list[Rung]] = []
    for turn in range(4):
        driver.monitor.new_prompt()
        driver.taken.clear()
        driver.asks(f"read {turn}", repeat=5)
        driver.asks("write")
        order.append(list(rungs(driver)))
    assert order == [[Rung.EXPLORE, Rung.SUBSTITUTE]] * 3 + [[Rung.SUBSTITUTE, Rung.EXPLORE]]
    assert [event.freed_by for event in driver.left()] == [Rung.SUBSTITUTE] * 3 + [Rung.EXPLORE]
