"""How soon a tool that works again is called again, and what adversaries cannot do (resilience 5.A)."""

from collections.abc import Callable, Iterator
from itertools import cycle

from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    BreakerState,
    Dispatch,
    DispatchLimits,
    Failure,
    FailureCategory,
)
from harness.policies.breakers.cascades import LONGEST
from harness.policies.breakers.decisions import Finish
from harness.policies.breakers.registry import BreakerRegistry

REFUSED = Failure(FailureCategory.TRANSPORT, "connection refused", "transport: connection refused")
BARE = Failure(FailureCategory.CRASHED, "error", "")
RUNS = (Dispatch.CALL, Dispatch.PROBE)
ENDLESS = DispatchLimits(budget=1_000_000)


def request(registry: BreakerRegistry, tool: str, result: Finish | Failure, at: float = 0.0) -> Dispatch:
    """Request a tool; if it may run, record `result`."""
    decision = registry.decide(tool)
    if decision.dispatch in RUNS:
        registry.record(decision.permit, result, at)
    return decision.dispatch


def opened(*tools: str, why: Failure = REFUSED, limits: DispatchLimits = ENDLESS) -> BreakerRegistry:
    """A registry in step 1 on which these tools have just opened."""
    registry = BreakerRegistry([*tools, "other"], limits=limits)
    registry.begin_step(1)
    for tool in tools:
        for _ in range(limits.threshold):
            request(registry, tool, why)
    return registry


@given(sick=st.integers(1, 40))
def test_a_tool_that_is_well_again_is_closed_within_three_steps(sick: int) -> None:
    registry = opened("grep", why=BARE)
    for step in range(2, 2 + sick):
        registry.begin_step(step)
        request(registry, "grep", BARE)
    for step in range(2 + sick, 2 + sick + 4):
        registry.begin_step(step)
        request(registry, "grep", Finish.OK)
    assert registry.breaker("grep").state is BreakerState.CLOSED


@given(sick=st.integers(1, 120), members=st.integers(3, 8))
def test_a_group_that_is_well_again_is_closed_within_twenty_steps_and_one_for_each_member(
    sick: int, members: int
) -> None:
    tools = [f"tool_{number}" for number in range(members)]
    registry = opened(*tools)
    for step in range(2, 2 + sick):
        registry.begin_step(step)
        for tool in tools:
            request(registry, tool, REFUSED)
    for step in range(2 + sick, 2 + sick + LONGEST + members):
        registry.begin_step(step)
        for tool in tools:
            request(registry, tool, Finish.OK)
    assert {registry.breaker(tool).state for tool in tools} == {BreakerState.CLOSED}
    assert registry.cascades == ()


def test_canaries_of_a_group_that_stays_sick_go_after_3_6_12_20_and_20_steps() -> None:
    tools = ("fetch", "search", "upload")
    registry = opened(*tools)
    probes = []
    for step in range(2, 90):
        registry.begin_step(step)
        for tool in tools:
            if request(registry, tool, REFUSED) is Dispatch.PROBE:
                probes.append(step)
    assert probes == [4, 10, 22, 42, 62, 82]


def test_a_flapping_tool_never_opens_and_the_budget_pauses_at_five() -> None:
    registry = BreakerRegistry(["flapping"])
    registry.begin_step(1)
    results: Iterator[Finish | Failure] = cycle((BARE, BARE, Finish.OK))
    dispatches = [request(registry, "flapping", next(results)) for _ in range(9)]
    assert dispatches == [Dispatch.CALL] * 7 + [Dispatch.PAUSE] * 2
    assert registry.consumed == 5


def test_probes_that_never_come_back_leave_no_tool_half_open() -> None:
    registry = opened("grep", why=BARE)
    probes = []
    for step in range(2, 40):
        registry.begin_step(step)
        if registry.decide("grep").dispatch is Dispatch.PROBE:  # and its result never arrives
            probes.append(step)
    assert probes == list(range(4, 40, 3))
    assert registry.consumed == 3  # nothing was charged for them


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=30, max_size=30))
def test_a_clock_that_jumps_decides_nothing(moments: list[float]) -> None:
    def played(moment: Callable[[int], float]) -> list[Dispatch]:
        registry = BreakerRegistry(["grep"], limits=ENDLESS)
        found = []
        for step in range(30):
            registry.begin_step(step)
            found.append(request(registry, "grep", BARE if step % 5 else Finish.OK, moment(step)))
        return found

    assert played(lambda step: moments[step]) == played(float)


def test_a_thousand_tools() -> None:
    tools = [f"tool_{number}" for number in range(1_000)]
    registry = opened(*tools)
    (group,) = registry.cascades
    assert len(group.members) == 1_000
    assert registry.consumed == 1
    for step, tool in enumerate(tools[:50], 4):
        registry.begin_step(step)
        assert request(registry, tool, Finish.OK) is Dispatch.PROBE
    assert sum(registry.breaker(tool).state is BreakerState.CLOSED for tool in tools) == 50
    assert (len(registry.budget.log), registry.budget.not_logged) == (200, 2_800)
