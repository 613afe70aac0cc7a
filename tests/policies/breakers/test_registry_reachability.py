"""What can be reached before the pause, by trying everything."""

from collections import deque
from collections.abc import Callable

import pytest

from harness.events import BreakerState, Dispatch, DispatchLimits, Failure, FailureCategory
from harness.policies.breakers.decisions import Finish
from harness.policies.breakers.registry import BreakerRegistry

TOOLS = ("a", "b", "c", "d")
ONE_CAUSE = Failure(FailureCategory.TRANSPORT, "refused", "transport: refused")


def most_open(threshold: int = 3, cause: Callable[[str], Failure] = lambda tool: ONE_CAUSE) -> tuple[int, bool]:
    """The most breakers that are open at once before PAUSE, and whether a group is ever systemic.

    Tries every order of failures of four tools within one step; skips states already visited.
    """
    start = BreakerRegistry(TOOLS, limits=DispatchLimits(threshold=threshold)).saved()
    left, seen = deque([start]), {start.breakers}
    most, systemic = 0, False
    while left:
        state = left.popleft()
        for tool in TOOLS:
            registry = BreakerRegistry.restored(state)
            decision = registry.decide(tool)
            if decision.dispatch is not Dispatch.CALL:
                continue
            registry.record(decision.permit, cause(tool))
            open_now = sum(registry.breaker(name).state is BreakerState.OPEN for name in TOOLS)
            if not registry.exhausted:
                most = max(most, open_now)
            systemic = systemic or bool(registry.cascades)
            after = registry.saved()
            if after.breakers not in seen:
                seen.add(after.breakers)
                left.append(after)
    return most, systemic


def test_with_the_defaults_three_and_even_four_breakers_can_be_open_before_the_pause_and_systemic_is_reached() -> None:
    assert most_open() == (4, True)


@pytest.mark.parametrize(("threshold", "most"), [(3, 1), (2, 2)])
def test_were_each_failure_charged_alone_a_cascade_could_never_be_seen(threshold: int, most: int) -> None:
    """Unknown causes are each a root of their own, which is how the seed charges: 3 tools × 3 failures pass 5."""
    assert most_open(threshold, lambda tool: Failure(FailureCategory.CRASHED, "error")) == (most, False)


def test_a_success_between_two_failures_does_not_hide_the_group() -> None:
    registry = BreakerRegistry(TOOLS)
    for step, tool in enumerate(("a", "b", "c"), 1):
        registry.begin_step(step)
        for result in (ONE_CAUSE, Finish.OK, ONE_CAUSE, ONE_CAUSE, ONE_CAUSE):
            decision = registry.decide(tool)
            if decision.dispatch is Dispatch.CALL:
                registry.record(decision.permit, result)
    assert [len(group.members) for group in registry.cascades] == [3]
    assert registry.consumed == 1
