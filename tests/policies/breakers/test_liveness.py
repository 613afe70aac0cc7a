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


def request(board: BreakerRegistry, tool: str, result: Finish | Failure, at: float = 0.0) -> Dispatch:
    """Ask for a tool; if it may run, this is what comes of it."""
    decision = board.decide(tool)
    if decision.dispatch in RUNS:
        board.record(decision.ticket, result, at)
    return decision.dispatch


def opened(*tools: str, why: Failure = REFUSED, limits: DispatchLimits = ENDLESS) -> BreakerRegistry:
    """A board in step 1 on which these tools have just opened."""
    board = BreakerRegistry([*tools, "other"], limits=limits)
    board.begin_step(1)
    for tool in tools:
        for _ in range(limits.threshold):
            request(board, tool, why)
    return board


@given(sick=st.integers(1, 40))
def test_a_tool_that_is_well_again_is_closed_within_three_steps(sick: int) -> None:
    board = opened("grep", why=BARE)
    for step in range(2, 2 + sick):
        board.begin_step(step)
        request(board, "grep", BARE)
    for step in range(2 + sick, 2 + sick + 4):
        board.begin_step(step)
        request(board, "grep", Finish.OK)
    assert board.breaker("grep").state is BreakerState.CLOSED


@given(sick=st.integers(1, 120), members=st.integers(3, 8))
def test_a_group_that_is_well_again_is_closed_within_twenty_steps_and_one_for_each_member(
    sick: int, members: int
) -> None:
    tools = [f"tool_{number}" for number in range(members)]
    board = opened(*tools)
    for step in range(2, 2 + sick):
        board.begin_step(step)
        for tool in tools:
            request(board, tool, REFUSED)
    for step in range(2 + sick, 2 + sick + LONGEST + members):
        board.begin_step(step)
        for tool in tools:
            request(board, tool, Finish.OK)
    assert {board.breaker(tool).state for tool in tools} == {BreakerState.CLOSED}
    assert board.cascades == ()


def test_canaries_of_a_group_that_stays_sick_go_after_3_6_12_20_and_20_steps() -> None:
    tools = ("fetch", "search", "upload")
    board = opened(*tools)
    probes = []
    for step in range(2, 90):
        board.begin_step(step)
        for tool in tools:
            if request(board, tool, REFUSED) is Dispatch.PROBE:
                probes.append(step)
    assert probes == [4, 10, 22, 42, 62, 82]


def test_a_flapping_tool_never_opens_and_the_budget_pauses_at_five() -> None:
    board = BreakerRegistry(["flapping"])
    board.begin_step(1)
    results: Iterator[Finish | Failure] = cycle((BARE, BARE, Finish.OK))
    dispatches = [request(board, "flapping", next(results)) for _ in range(9)]
    assert dispatches == [Dispatch.CALL] * 7 + [Dispatch.PAUSE] * 2
    assert board.consumed == 5


def test_probes_that_never_come_back_leave_no_tool_half_open() -> None:
    board = opened("grep", why=BARE)
    probes = []
    for step in range(2, 40):
        board.begin_step(step)
        if board.decide("grep").dispatch is Dispatch.PROBE:  # and nobody ever hears of it
            probes.append(step)
    assert probes == list(range(4, 40, 3))
    assert board.consumed == 3  # nothing was charged for them


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=30, max_size=30))
def test_a_clock_that_jumps_decides_nothing(moments: list[float]) -> None:
    def played(moment: Callable[[int], float]) -> list[Dispatch]:
        board = BreakerRegistry(["grep"], limits=ENDLESS)
        found = []
        for step in range(30):
            board.begin_step(step)
            found.append(request(board, "grep", BARE if step % 5 else Finish.OK, moment(step)))
        return found

    assert played(lambda step: moments[step]) == played(float)


def test_a_thousand_tools() -> None:
    tools = [f"tool_{number}" for number in range(1_000)]
    board = opened(*tools)
    (group,) = board.cascades
    assert len(group.members) == 1_000
    assert board.consumed == 1
    for step, tool in enumerate(tools[:50], 4):
        board.begin_step(step)
        assert request(board, tool, Finish.OK) is Dispatch.PROBE
    assert sum(board.breaker(tool).state is BreakerState.CLOSED for tool in tools) == 50
    assert (len(board.budget.log), board.budget.not_logged) == (200, 2_800)
