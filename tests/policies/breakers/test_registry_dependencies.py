"""How long a tool waits for what it depends on: pauses along a chain do not add up."""

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import (
    BreakerState,
    Dispatch,
    DispatchLimits,
    DispatchReason,
    Failure,
    FailureCategory,
)
from harness.policies.breakers.capabilities import Capability, CapabilityMap
from harness.policies.breakers.decisions import Finish
from harness.policies.breakers.registry import BreakerRegistry

LONGEST = 20
"""Steps, from the opening of any tool to its probe."""
TOOLS = [f"tool_{number}" for number in range(8)]
places = st.integers(0, len(TOOLS) - 1)
distances = st.integers(1, 40)
"""From an opening to the probe; also such as are longer than any wait may be."""

chains = st.integers(2, len(TOOLS)).map(lambda length: [(place, place + 1) for place in range(length - 1)])
cycles = st.integers(1, len(TOOLS)).map(lambda length: [(place, (place + 1) % length) for place in range(length)])
graphs = st.lists(st.tuples(places, places), max_size=20)
edges = st.one_of(chains, cycles, graphs)
"""Which tool needs which, by their places."""


def registry_of(needs: list[tuple[int, int]], distance: int) -> BreakerRegistry:
    """A registry in step 1, on which one failure opens a tool."""
    capabilities = CapabilityMap(
        Capability(tool, "x", "y", (), tuple(TOOLS[other] for one, other in needs if one == place))
        for place, tool in enumerate(TOOLS)
    )
    registry = BreakerRegistry(TOOLS, capabilities, DispatchLimits(threshold=1, budget=9_999, probe_distance=distance))
    registry.begin_step(1)
    return registry


def fails(registry: BreakerRegistry, tool: str) -> Dispatch:
    """Ask for it; if it may run, it fails, and from no cause that another has."""
    decision = registry.decide(tool)
    if decision.dispatch in (Dispatch.CALL, Dispatch.PROBE):
        registry.record(decision.permit, Failure(FailureCategory.CRASHED, "it failed", f"of {tool}"))
    return decision.dispatch


@settings(max_examples=40)
@given(needs=edges, distance=distances, first=st.lists(st.integers(1, 30), min_size=8, max_size=8))
def test_whatever_depends_on_what_no_probe_waits_longer_than_twenty_steps(
    needs: list[tuple[int, int]], distance: int, first: list[int]
) -> None:
    """All tools stay sick and are asked for in every step, each from a step of its own on."""
    registry = registry_of(needs, distance)
    ran: dict[str, int] = {}
    for step in range(1, 55):
        if step > 1:
            registry.begin_step(step)
        for tool, when in zip(TOOLS, first, strict=True):
            if step < when:
                continue
            if fails(registry, tool) is not Dispatch.SKIP:
                assert step - ran.get(tool, step) <= LONGEST
                ran[tool] = step
            assert step - ran[tool] < LONGEST  # it is skipped for less than that
    assert set(ran) == set(TOOLS)


@settings(max_examples=40)
@given(needs=edges, distance=distances, lost=st.sets(st.sampled_from(TOOLS)))
def test_lost_probes_make_no_tool_wait_longer(needs: list[tuple[int, int]], distance: int, lost: set[str]) -> None:
    registry = registry_of(needs, distance)
    for tool in TOOLS:
        fails(registry, tool)
    ran = dict.fromkeys(TOOLS, 1)
    for step in range(2, 50):
        registry.begin_step(step)
        for tool in TOOLS:
            dispatch = registry.decide(tool).dispatch if tool in lost else fails(registry, tool)
            if dispatch is Dispatch.PROBE:
                ran[tool] = step
            assert step - ran[tool] <= LONGEST


@settings(max_examples=40)
@given(needs=edges, distance=distances)
def test_all_of_a_graph_that_is_well_again_is_closed_within_twenty_steps(
    needs: list[tuple[int, int]], distance: int
) -> None:
    registry = registry_of(needs, distance)
    for tool in TOOLS:
        fails(registry, tool)
    for step in range(2, 2 + LONGEST):
        registry.begin_step(step)
        for tool in TOOLS:
            decision = registry.decide(tool)
            if decision.dispatch in (Dispatch.CALL, Dispatch.PROBE):
                registry.record(decision.permit, Finish.OK)
    assert {registry.breaker(tool).state for tool in TOOLS} == {BreakerState.CLOSED}


@settings(max_examples=40)
@given(needs=edges, distance=distances)
def test_nothing_is_probed_before_its_own_time(needs: list[tuple[int, int]], distance: int) -> None:
    registry = registry_of(needs, distance)
    for tool in TOOLS:
        fails(registry, tool)
    for step in range(2, min(1 + distance, 1 + LONGEST)):
        registry.begin_step(step)
        assert {registry.decide(tool).dispatch for tool in TOOLS} == {Dispatch.SKIP}


def test_a_tool_waits_for_the_far_end_of_its_chain_though_what_is_between_works() -> None:
    registry = registry_of([(0, 1), (1, 2)], distance=3)
    fails(registry, TOOLS[0])
    registry.begin_step(3)
    fails(registry, TOOLS[2])
    registry.begin_step(5)
    assert registry.decide(TOOLS[0]).reason is DispatchReason.DEPENDENCY


def test_twenty_steps_are_enough_though_what_a_tool_needs_fails_again_and_again() -> None:
    registry = registry_of([(0, 1)], distance=8)
    fails(registry, TOOLS[0])
    registry.begin_step(5)
    fails(registry, TOOLS[1])
    waits = {}
    for step in range(6, 25):
        registry.begin_step(step)
        fails(registry, TOOLS[1])  # each time before the one that needs it
        decision = registry.decide(TOOLS[0])
        waits[step] = decision.reason
        if decision.dispatch is Dispatch.PROBE:
            break
    assert step == 1 + LONGEST
    assert waits[8] is DispatchReason.OPEN
    assert waits[9] is waits[20] is DispatchReason.DEPENDENCY
