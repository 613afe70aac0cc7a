"""Parts of a tool, such as the programs of bash: each has a breaker of its own, and the tool keeps its own."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    BreakerCommand,
    BreakerState,
    Dispatch,
    DispatchLimits,
    DispatchReason,
    Failure,
    FailureCategory,
)
from harness.policies.breakers.decisions import Finish, Skip
from harness.policies.breakers.registry import MOST_PARTS, BreakerRegistry

CLOSED, OPEN = BreakerState.CLOSED, BreakerState.OPEN
MISSING = Failure(FailureCategory.CANNOT_START, "exit 127 (command not found)", "cannot_start: not found")
SHELL = Failure(FailureCategory.SYSTEM, "fork: no more processes", "system: no more processes")


def run(registry: BreakerRegistry, *programs: str, fails: str | None = None, shell: bool = False) -> Dispatch:
    """Call bash with these programs, in a step of its own."""
    registry.begin_step(registry.step + 1)
    decision = registry.decide("bash", programs)
    if decision.dispatch in (Dispatch.CALL, Dispatch.PROBE):
        failure = SHELL if shell else replace(MISSING, part=fails) if fails else None
        registry.record(decision.permit, failure or Finish.OK, 1.0)
    return decision.dispatch


def test_three_missing_programs_leave_the_shell_alone() -> None:
    registry = BreakerRegistry(["bash"])
    for name in ("foo", "python2", "rgx"):
        run(registry, name, fails=name)
    assert registry.breaker("bash").state is CLOSED
    assert [(row.tool, row.failures) for row in registry.rows()] == [
        ("bash", 0),
        ("bash:foo", 1),
        ("bash:python2", 1),
        ("bash:rgx", 1),
    ]
    assert run(registry, "ls") is Dispatch.CALL
    assert registry.consumed == 3  # that each of them is missing is no cause in common


def test_a_program_that_keeps_failing_is_skipped_and_others_are_not() -> None:
    registry = BreakerRegistry(["bash"])
    for _ in range(3):
        run(registry, "npm", fails="npm")
    assert run(registry, "make") is Dispatch.CALL
    decision = registry.decide("bash", ("make", "npm"))
    assert isinstance(decision, Skip)
    assert (decision.permit.tool, decision.reason) == ("bash:npm", DispatchReason.OPEN)
    assert decision.routes[0].tool == "bash"
    assert decision.routes[0].method == "reach the same end without npm, or call it by another name"
    assert run(registry, "npm") is Dispatch.SKIP
    assert run(registry, "npm") is Dispatch.PROBE
    assert registry.breaker("bash:npm").state is CLOSED
    assert [row.tool for row in registry.rows()] == ["bash"]


def test_a_shell_that_fails_is_charged_itself_and_keeps_every_program_from_running() -> None:
    registry = BreakerRegistry(["bash"])
    for program in ("ls", "npm", "make"):
        run(registry, program, shell=True)
    assert registry.breaker("bash").state is OPEN
    assert run(registry, "cat") is Dispatch.SKIP


def test_a_program_that_fails_says_that_the_shell_works() -> None:
    registry = BreakerRegistry(["bash"])
    for _ in range(3):
        run(registry, "ls", shell=True)
    registry.begin_step(6)
    assert run(registry, "npm", fails="npm") is Dispatch.PROBE
    assert registry.breaker("bash").state is CLOSED
    assert registry.breaker("bash:npm").failures == 1


@pytest.mark.parametrize("command", [BreakerCommand.TRIP, BreakerCommand.ISOLATE])
def test_a_user_can_move_the_breaker_of_a_part_that_never_failed(command: BreakerCommand) -> None:
    registry = BreakerRegistry(["bash"])
    registry.command(command, "bash:npm")
    assert run(registry, "npm") is Dispatch.SKIP
    assert run(registry, "ls") is Dispatch.CALL
    registry.command(BreakerCommand.RESET)
    assert run(registry, "npm") is Dispatch.CALL
    for unknown in ("nowhere", "nowhere:npm", "bash:", ":npm"):
        with pytest.raises(ValueError, match="there is no tool called"):
            registry.command(command, unknown)


def test_only_so_many_parts_are_kept_and_those_that_are_held_stay() -> None:
    registry = BreakerRegistry(["bash"], limits=DispatchLimits(budget=10_000))
    registry.command(BreakerCommand.ISOLATE, "bash:first")
    for number in range(3 * MOST_PARTS):
        run(registry, f"p{number}", fails=f"p{number}")
    assert len(registry.rows()) == 1 + MOST_PARTS
    assert run(registry, "first") is Dispatch.SKIP
    assert BreakerRegistry.restored(registry.saved()).rows() == registry.rows()


STEPS = st.lists(st.tuples(st.sampled_from(["npm", "make", "rgx"]), st.booleans()), max_size=40)


@given(STEPS, st.integers(1, 3), st.integers(1, 6))
def test_the_parts_of_a_tool_fare_as_tools_of_their_own_would(
    steps: list[tuple[str, bool]], threshold: int, budget: int
) -> None:
    limits = DispatchLimits(threshold=threshold, budget=budget)
    parts, tools = BreakerRegistry(["bash"], limits=limits), BreakerRegistry(["npm", "make", "rgx"], limits=limits)
    for number, (name, fails) in enumerate(steps, 1):
        for registry in (parts, tools):
            registry.begin_step(number)
        one, other = parts.decide("bash", (name,)), tools.decide(name)
        assert (one.dispatch, one.caution) == (other.dispatch, other.caution)
        if one.dispatch is Dispatch.SKIP:
            assert one.reason == other.reason
        if one.dispatch in (Dispatch.CALL, Dispatch.PROBE):
            failure = replace(MISSING, signature=f"cannot_start: {name}")
            parts.record(one.permit, replace(failure, part=name) if fails else Finish.OK)
            tools.record(other.permit, failure if fails else Finish.OK)
        assert parts.consumed == tools.consumed
        for row in parts.rows()[1:]:
            alone = tools.breaker(row.tool.removeprefix("bash:"))
            assert (row.state, row.failures) == (alone.state, alone.failures)
    assert parts.breaker("bash").state is CLOSED
    assert all(row.calls >= row.failed >= row.failures for row in parts.rows())
