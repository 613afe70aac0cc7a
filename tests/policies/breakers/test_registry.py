"""Guarantees of the registry: clear errors, no need to read its events, stable decisions."""

import pytest

from harness.events import (
    BreakerChanged,
    BreakerCommand,
    BreakerState,
    ChangeReason,
    Dispatch,
    DispatchLimits,
    DispatchReason,
    Failure,
    FailureCategory,
    FailureCharged,
    Score,
)
from harness.policies.breakers.decisions import CallPermit, Finish
from harness.policies.breakers.registry import KEPT, BreakerRegistry

BARE = Failure(FailureCategory.CRASHED, "error")


def registry(limits: DispatchLimits | None = None) -> BreakerRegistry:
    """Two tools in step 1."""
    made = BreakerRegistry(["grep", "bash"], limits=limits)
    made.begin_step(1)
    made.drain_events()
    return made


def fail(made: BreakerRegistry, tool: str, times: int) -> None:
    """Let a tool fail some times in a row."""
    for _ in range(times):
        made.record(made.decide(tool).permit, BARE)


def test_steps_only_rise() -> None:
    made = registry()
    made.begin_step(1)
    with pytest.raises(ValueError, match="step 0 comes after step 1"):
        made.begin_step(0)


@pytest.mark.parametrize("command", BreakerCommand)
def test_a_command_for_a_tool_that_does_not_exist_is_refused(command: BreakerCommand) -> None:
    with pytest.raises(ValueError, match="no tool called 'sed'"):
        registry().command(command, "sed")


@pytest.mark.parametrize("command", [BreakerCommand.TRIP, BreakerCommand.ISOLATE, BreakerCommand.RELEASE])
def test_only_a_reset_can_be_meant_for_all(command: BreakerCommand) -> None:
    with pytest.raises(ValueError, match="no tool called ''"):
        registry().command(command)
    made = registry()
    fail(made, "grep", 3)
    made.command(BreakerCommand.RESET)
    assert made.breaker("grep").state is BreakerState.CLOSED


def test_a_tool_that_does_not_exist_is_skipped_and_nothing_is_charged() -> None:
    made = registry()
    decision = made.decide("sed")
    assert (decision.dispatch, decision.reason) == (Dispatch.SKIP, DispatchReason.UNKNOWN_TOOL)
    assert decision.permit == CallPermit("sed", 0, Dispatch.SKIP)
    assert made.drain_events() == ()


@pytest.mark.parametrize("result", [BARE, *Finish])
def test_nothing_can_come_of_a_call_that_was_not_let_through(result: Finish | Failure) -> None:
    made = registry()
    fail(made, "grep", 3)
    made.drain_events()
    before = made.saved()
    for permit in (made.decide("grep").permit, made.decide("sed").permit):
        with pytest.raises(ValueError, match=r"was not let through|no tool called"):
            made.record(permit, result)
    assert (made.saved(), made.drain_events()) == (before, ())


def test_the_score_of_a_tool_that_does_not_exist_is_not_kept() -> None:
    made = registry()
    before = made.saved()
    made.score("sed", Score.UNAVAILABLE)
    assert made.saved() == before


def test_a_decision_holds_until_something_changes() -> None:
    made = registry()
    first = made.decide("grep")
    made.record(first.permit, Finish.OK)
    made.begin_step(2)
    assert made.decide("grep") is first
    fail(made, "bash", 1)
    assert made.decide("grep") == first
    made.score("grep", Score.DEGRADED)
    assert made.decide("grep").reason is DispatchReason.DEGRADED


def test_what_happened_is_reported_in_order_and_once() -> None:
    made = registry()
    fail(made, "grep", 3)
    reported = made.drain_events()
    assert [type(event) for event in reported] == [BreakerChanged, FailureCharged] * 3
    assert [event.why for event in reported if isinstance(event, BreakerChanged)] == [
        ChangeReason.FAILED,
        ChangeReason.FAILED,
        ChangeReason.THRESHOLD,
    ]
    assert [(event.cost, event.consumed, event.budget) for event in reported if isinstance(event, FailureCharged)] == [
        (1, 1, 5),
        (1, 2, 5),
        (1, 3, 5),
    ]
    last = reported[4]
    assert last == BreakerChanged(
        "grep", BreakerState.CLOSED, BreakerState.OPEN, ChangeReason.THRESHOLD, 3, 1, 1, 4, "error"
    )
    assert made.drain_events() == ()


def test_events_that_are_not_read_are_dropped_and_change_nothing() -> None:
    limits = DispatchLimits(budget=1_000_000, threshold=1_000_000)
    unread, read = registry(limits), registry(limits)
    for _ in range(KEPT):
        fail(unread, "grep", 1)
        fail(read, "grep", 1)
        read.drain_events()
    assert unread.saved() == read.saved()
    kept = unread.drain_events()
    assert len(kept) <= KEPT
    assert isinstance(kept[-1], FailureCharged)
    assert kept[-1].consumed == KEPT


@pytest.mark.parametrize(("threshold", "degraded"), [(1, 1), (2, 2), (3, 2), (5, 4)])
def test_a_degraded_tool_may_fail_once_less_but_once_at_least(threshold: int, degraded: int) -> None:
    made = registry(DispatchLimits(threshold=threshold, budget=99))
    made.score("grep", Score.DEGRADED)
    for failures in range(1, degraded + 1):
        fail(made, "grep", 1)
        opened = made.breaker("grep").state is BreakerState.OPEN
        assert opened == (failures == degraded)


@pytest.mark.parametrize("name", ["threshold", "budget", "probe_distance", "lease", "window", "score_lasts"])
def test_numbers_that_make_no_sense_are_refused_and_never_replaced(name: str) -> None:
    for value in (0, -1, True, 1.5, "3", None):
        with pytest.raises(ValueError, match=f"{name} is .*; use a whole number of at least 1"):
            DispatchLimits(**{name: value})  # type: ignore[arg-type]
