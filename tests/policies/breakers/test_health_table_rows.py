"""The rows of the health table for a registry."""

from dataclasses import replace

import pytest

from harness.events import (
    BreakerCommand,
    BreakerState,
    CascadeMode,
    DispatchLimits,
    Failure,
    FailureCategory,
    HealthRow,
    Score,
    Severity,
)
from harness.policies.breakers.capabilities import Capability, CapabilityMap, DeclaredAlternative
from harness.policies.breakers.decisions import Finish
from harness.policies.breakers.health_table import why_not
from harness.policies.breakers.registry import BreakerRegistry

REFUSED = Failure(FailureCategory.TRANSPORT, "connection refused", "transport: connection refused")
TOOLS = ("grep", "bash", "glob", "read_file")
CAPABILITIES = CapabilityMap(
    [
        Capability("grep", "search", "ask", (DeclaredAlternative("bash", "rg -n X", "its own form", Severity.LOW),)),
        Capability("bash", "commands", "list them", depends_on=("read_file",)),
    ]
)


def registry_with(*failing: str, limits: DispatchLimits | None = None) -> BreakerRegistry:
    """A registry in step 1 on which these tools have just opened."""
    registry = BreakerRegistry(TOOLS, CAPABILITIES, limits or DispatchLimits())
    registry.begin_step(1)
    for tool in failing:
        for _ in range(3):
            registry.record(registry.decide(tool).permit, REFUSED, 7.0)
    return registry


def row(registry: BreakerRegistry, tool: str) -> HealthRow:
    """One line."""
    return next(one for one in registry.rows() if one.tool == tool)


# ── the table ───────────────────────────────────────────────────────────────────────────────────


def test_a_tool_that_opened_and_one_that_worked() -> None:
    registry = registry_with("grep")
    registry.record(registry.decide("bash").permit, Finish.OK, 9.0)
    assert row(registry, "grep") == HealthRow(
        "grep", BreakerState.OPEN, 3, 7.0, None, "connection refused", 4, calls=3, failed=3
    )
    assert row(registry, "bash") == HealthRow("bash", BreakerState.CLOSED, 0, None, 9.0, critical=True, calls=1)


def test_the_error_rate_counts_calls_that_succeeded_or_failed_and_failures_of_programs() -> None:
    registry = BreakerRegistry(TOOLS)
    assert row(registry, "grep").error_rate is None
    for result in (Finish.OK, REFUSED, Finish.CANCELLED, Finish.DENIED, Finish.INVALID, Finish.OK, Finish.OK):
        registry.record(registry.decide("grep").permit, result)
    assert (row(registry, "grep").calls, row(registry, "grep").failed, row(registry, "grep").error_rate) == (4, 1, 0.25)
    missing = replace(REFUSED, part="npm")
    for result in (missing, Finish.OK, missing):
        registry.record(registry.decide("bash", ("npm",)).permit, result)
    assert (row(registry, "bash").calls, row(registry, "bash").failed) == (3, 2)
    assert (row(registry, "bash:npm").calls, row(registry, "bash:npm").failed) == (3, 2)
    registry.command(BreakerCommand.RESET)
    assert (row(registry, "bash").calls, row(registry, "bash").failed) == (3, 2)
    assert BreakerRegistry.restored(registry.saved()).rows() == registry.rows()


def test_the_probe_of_a_group_and_of_its_members_one_by_one() -> None:
    registry = registry_with("grep", "bash", "glob")
    assert {row(registry, tool).probe_at for tool in ("grep", "bash", "glob")} == {4}
    assert row(registry, "grep").note == "systemic: the network"
    registry.begin_step(5)
    probe = registry.decide("bash")
    assert row(registry, "bash").probe_at is None
    registry.record(probe.permit, Finish.OK)
    assert (row(registry, "grep").probe_at, row(registry, "grep").note) == (6, "recovering: the network")
    registry.begin_step(9)
    assert row(registry, "grep").probe_at == 9
    assert row(registry, "bash").note == ""


def test_a_group_that_waits_for_a_user() -> None:
    registry = registry_with("grep", "bash", "glob", limits=DispatchLimits(cascade=CascadeMode.CONFIRM))
    assert (row(registry, "grep").probe_at, row(registry, "grep").note) == (None, "waits for /confirm: the network")
    assert why_not(registry, "grep") == ("grep is paused: connection refused", "find the cause, then /confirm")
    registry.command(BreakerCommand.CONFIRM)
    assert (row(registry, "grep").probe_at, row(registry, "grep").note) == (1, "systemic: the network")


def test_a_tool_that_was_switched_off() -> None:
    registry = registry_with()
    registry.command(BreakerCommand.ISOLATE, "grep")
    assert (row(registry, "grep").probe_at, row(registry, "grep").note) == (None, "isolated by hand")
    assert why_not(registry, "grep") == ("grep is paused", "a successful try, or /reset grep when it works again")


@pytest.mark.parametrize(
    ("score", "note"), [(Score.AVAILABLE, ""), (Score.DEGRADED, "degraded"), (Score.UNAVAILABLE, "unavailable")]
)
def test_a_score_that_is_believed(score: Score, note: str) -> None:
    registry = registry_with()
    registry.score("grep", score)
    assert row(registry, "grep").note == note
    registry.begin_step(6)
    assert row(registry, "grep").note == ""


def test_a_tool_that_does_not_exist_cannot_be_used() -> None:
    assert why_not(registry_with(), "sed") == ("there is no tool called sed", "do it by hand")
