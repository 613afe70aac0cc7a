"""Tools that fail from one cause: detection, order of probes, and reports."""

import pytest

from harness.events import (
    BreakerChanged,
    BreakerCommand,
    BreakerState,
    CascadeChanged,
    CascadeMode,
    CascadePhase,
    Dispatch,
    DispatchLimits,
    DispatchReason,
    Failure,
    FailureCategory,
)
from harness.policies.breakers.decisions import Finish
from harness.policies.breakers.registry import BreakerRegistry

TOOLS = ["a", "b", "c", "d", "e", "f"]
NET = Failure(FailureCategory.TRANSPORT, "refused", "transport: connection refused")
DISK = Failure(FailureCategory.SYSTEM, "full", "system: no space left")
RUNS = (Dispatch.CALL, Dispatch.PROBE)
SYSTEMIC, RECOVERING, SUSPECTED, OVER = (
    CascadePhase.SYSTEMIC,
    CascadePhase.RECOVERING,
    CascadePhase.SUSPECTED,
    CascadePhase.OVER,
)


class Game:
    """A registry on which one failure opens a tool, and what it reports about cascades."""

    def __init__(self, **limits: object) -> None:
        self.registry = BreakerRegistry(TOOLS, limits=DispatchLimits(**{"threshold": 1, "budget": 99, **limits}))  # type: ignore[arg-type]
        self.reported: list[CascadeChanged] = []

    def step(self, number: int) -> "Game":
        self.registry.begin_step(number)
        return self

    def call(self, tool: str, result: Finish | Failure = Finish.OK) -> DispatchReason:
        """Ask for a tool, let it end like this if it runs, and say why it was decided so."""
        decision = self.registry.decide(tool)
        if decision.dispatch in RUNS:
            self.registry.record(decision.permit, result)
        self.reported += [event for event in self.registry.drain_events() if isinstance(event, CascadeChanged)]
        return decision.reason

    def fall(self, *tools: str, why: Failure = NET) -> "Game":
        for tool in tools:
            self.call(tool, why)
        return self

    @property
    def phases(self) -> list[tuple[CascadePhase, tuple[str, ...], int | None]]:
        return [(event.phase, event.tools, event.probe_at) for event in self.reported]

    def open(self) -> set[str]:
        return {tool for tool in TOOLS if self.registry.breaker(tool).state is not BreakerState.CLOSED}


def sick() -> Game:
    """Three tools that fell in step 1; their canary may go from step 4 on."""
    return Game().step(1).fall("a", "b", "c")


# ── when it is seen ─────────────────────────────────────────────────────────────────────────────


def test_the_second_opening_is_a_suspicion_and_the_third_makes_a_group() -> None:
    game = sick()
    assert game.reported == [
        CascadeChanged("transport: connection refused", SUSPECTED, ("a", "b"), "the network", 1),
        CascadeChanged("transport: connection refused", SYSTEMIC, ("a", "b", "c"), "the network", 1, 4),
    ]
    assert game.registry.consumed == 1
    assert game.call("d") is DispatchReason.HEALTHY  # other tools may continue, with care
    assert game.registry.decide("d").caution


@pytest.mark.parametrize(("last", "seen"), [(11, True), (12, False)])
def test_what_lies_outside_the_window_does_not_count(last: int, seen: bool) -> None:
    game = Game(probe_distance=20).step(1).fall("a").step(5).fall("b").step(last).fall("c")
    assert bool(game.registry.cascades) is seen


def test_a_suspicion_names_only_what_lies_within_the_window() -> None:
    game = Game(probe_distance=20).step(1).fall("a").step(12).fall("b").step(13).fall("c")
    assert game.phases == [(SUSPECTED, ("b", "c"), None)]


# ── the canary ──────────────────────────────────────────────────────────────────────────────────


def test_while_a_canary_is_out_there_is_no_other() -> None:
    game = sick().step(4)
    canary = game.registry.decide("b")
    assert canary.reason is DispatchReason.CANARY
    assert [game.call(tool) for tool in ("a", "b", "c")] == [
        DispatchReason.SYSTEMIC,
        DispatchReason.PROBE_OUT,
        DispatchReason.SYSTEMIC,
    ]
    game.registry.record(canary.permit, Finish.OK)
    assert game.registry.cascades[0].members == {"a", "c"}


def test_a_canary_that_fails_in_whatever_way_makes_the_group_wait_longer() -> None:
    game = sick().step(4)
    assert game.call("a", DISK) is DispatchReason.CANARY
    assert game.phases[-1] == (SYSTEMIC, ("a", "b", "c"), 10)
    assert game.step(9).call("b") is DispatchReason.SYSTEMIC
    assert game.step(10).call("b", NET) is DispatchReason.CANARY
    assert game.phases[-1] == (SYSTEMIC, ("a", "b", "c"), 22)
    assert game.registry.consumed == 2  # the network, and the disk that the first canary met


def test_a_canary_that_never_comes_back_is_followed_by_another_at_once() -> None:
    game = sick().step(4)
    assert game.registry.decide("a").reason is DispatchReason.CANARY
    assert game.step(6).call("b") is DispatchReason.SYSTEMIC
    assert game.step(7).call("b") is DispatchReason.CANARY


# ── coming back ─────────────────────────────────────────────────────────────────────────────────


def test_members_come_back_one_in_each_step() -> None:
    game = sick().step(4)
    assert game.call("a") is DispatchReason.CANARY
    assert game.call("b") is DispatchReason.RECOVERING
    assert "b" in game.open()  # not in the step of the canary
    game.step(5)
    assert game.call("b") is DispatchReason.RECOVERING
    assert game.call("c") is DispatchReason.RECOVERING
    assert game.open() == {"c"}
    game.step(6).call("c")
    assert game.open() == set()
    assert game.phases[2:] == [(RECOVERING, ("b", "c"), None), (RECOVERING, ("c",), None), (OVER, (), None)]


def test_while_a_member_is_being_probed_no_other_is() -> None:
    game = sick().step(4)
    game.call("a")
    game.step(5)
    probe = game.registry.decide("b")
    assert (probe.dispatch, probe.reason) == (Dispatch.PROBE, DispatchReason.RECOVERING)
    game.step(6)
    decision = game.registry.decide("c")
    assert (decision.dispatch, decision.reason) == (Dispatch.SKIP, DispatchReason.RECOVERING)


def test_a_member_that_meets_the_old_cause_makes_all_wait_again() -> None:
    game = sick().step(4)
    game.call("a")
    game.step(5).call("b", NET)
    assert game.phases[-1] == (SYSTEMIC, ("b", "c"), 11)
    assert game.step(10).call("c") is DispatchReason.SYSTEMIC
    assert game.step(11).call("c") is DispatchReason.CANARY
    assert game.call("a") is DispatchReason.HEALTHY


def test_a_tool_that_falls_of_the_same_cause_joins_and_ends_a_recovery() -> None:
    game = sick().step(2).fall("d")
    assert game.phases[-1] == (SYSTEMIC, ("a", "b", "c", "d"), 4)
    game.step(4).call("a")
    game.fall("a")
    assert game.phases[-1] == (SYSTEMIC, ("a", "b", "c", "d"), 10)


@pytest.mark.parametrize("command", [BreakerCommand.TRIP, BreakerCommand.ISOLATE, BreakerCommand.RESET])
def test_a_tool_that_a_user_moves_leaves_its_group(command: BreakerCommand) -> None:
    game = sick()
    for tool in ("a", "b", "c"):
        game.registry.command(command, tool)
    assert game.registry.cascades == ()
    changed = [event for event in game.registry.drain_events() if isinstance(event, BreakerChanged)]
    assert {event.detail for event in changed} == {"by hand"}


def test_a_group_that_lives_on_costs_one_failure_in_the_next_turn_as_well() -> None:
    game = sick().step(4)
    game.registry.begin_cycle()
    assert game.registry.consumed == 0
    for step in (4, 10, 22):
        game.step(step).call("a", NET)
    assert game.registry.consumed == 1


# ── with a user's word ────────────────────────────────────────────────────────────────────────


def test_a_confirmation_is_meant_for_groups_that_wait_and_ends_with_the_canary() -> None:
    game = Game(cascade=CascadeMode.CONFIRM).step(1).fall("a", "b", "c")
    assert game.phases[-1] == (SYSTEMIC, ("a", "b", "c"), None)
    assert game.step(9).call("a") is DispatchReason.UNCONFIRMED
    game.registry.command(BreakerCommand.CONFIRM)
    assert game.call("a", NET) is DispatchReason.CANARY
    assert game.step(30).call("a") is DispatchReason.UNCONFIRMED
    game.registry.command(BreakerCommand.CONFIRM)
    game.call("b")
    recovering = game.registry.cascades
    game.registry.command(BreakerCommand.CONFIRM)
    assert game.registry.cascades == recovering
