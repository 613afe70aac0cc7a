"""How a registry looks to a user, and decisions in words."""

from dataclasses import replace

import pytest

from harness.events import (
    BreakerCommand,
    BreakerState,
    CascadeMode,
    Dispatch,
    DispatchLimits,
    DispatchReason,
    Failure,
    FailureCategory,
    HealthRow,
    Score,
    Severity,
)
from harness.policies.breakers import messages
from harness.policies.breakers.capabilities import Capability, CapabilityMap, DeclaredAlternative
from harness.policies.breakers.decisions import DispatchDecision, Finish, PauseTurn, Skip
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


# ── words ───────────────────────────────────────────────────────────────────────────────────────


def decided(registry: BreakerRegistry, tool: str) -> tuple[DispatchDecision, HealthRow | None]:
    """The decision about a tool, and its line."""
    decision = registry.decide(tool)
    return decision, next((one for one in registry.rows() if one.tool == tool), None)


def test_the_answer_to_a_skipped_call() -> None:
    decision, line = decided(registry_with("grep"), "grep")
    assert isinstance(decision, Skip)
    assert messages.skipped(decision, line).splitlines() == [
        "grep was not run: it failed 3 times in a row (connection refused); next probe at step 4.",
        "Alternatives, best first:",
        "1. bash: rg -n X (loses: its own form)",
        "2. by hand: ask",
        "3. leave it out: do the rest without grep, and report what was left out and why",
        "Report in your answer what you did without grep and what is missing. Do not call it again at once.",
    ]
    assert messages.best_of(decision.routes) == "bash; loses: its own form"


def test_the_answer_where_no_tool_is_left() -> None:
    registry = registry_with()
    registry.command(BreakerCommand.TRIP, "bash")
    decision, line = decided(registry, "bash")
    assert isinstance(decision, Skip)
    lines = messages.skipped(decision, line).splitlines()
    assert lines[0] == "bash was not run: a user opened it; next probe at step 4."
    assert lines[2] == "1. by hand: list them"
    assert lines[-2] == "No other tool can replace it now."
    assert messages.best_of(decision.routes) == "by hand; loses: waits for the user"
    assert messages.best_of(()) == ""


LINE = HealthRow("grep", BreakerState.OPEN, 1, message="refused", probe_at=9, note="systemic: the network")


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (DispatchReason.OPEN, "it failed once (refused); next probe at step 9"),
        (
            DispatchReason.DEPENDENCY,
            "it failed once (refused) and waits for what it depends on; next probe at step 9",
        ),
        (DispatchReason.PROBE_OUT, "another call is probing it"),
        (
            DispatchReason.SYSTEMIC,
            "it failed together with other tools (the network); next probe at step 9",
        ),
        (
            DispatchReason.UNCONFIRMED,
            "it failed together with other tools (the network), and a user has to /confirm that the cause is gone",
        ),
        (
            DispatchReason.RECOVERING,
            "it failed together with other tools, which are probed one after the other",
        ),
        (DispatchReason.ISOLATED, "a user has isolated it"),
        (DispatchReason.UNAVAILABLE, "its check reports it as unavailable (no server)"),
        (DispatchReason.UNKNOWN_TOOL, "there is no tool called grep"),
        (DispatchReason.BUDGET_SPENT, "the failure budget of this turn is used up"),
        (DispatchReason.NOTHING_LEFT, "every remaining sub-task needs a tool that does not work"),
        (DispatchReason.PROBE_DUE, "probe due"),
    ],
)
def test_every_reason_in_words(reason: DispatchReason, words: str) -> None:
    assert messages.because(reason, "grep", LINE, "no server") == words


def test_reasons_without_a_line_of_the_table_are_words_as_well() -> None:
    assert messages.because(DispatchReason.OPEN, "grep", None) == "a user opened it"
    assert messages.because(DispatchReason.SYSTEMIC, "grep", None) == "it failed together with other tools"
    assert messages.because(DispatchReason.UNAVAILABLE, "grep", None) == "its check reports it as unavailable"


def test_a_decision_in_one_line_for_the_user() -> None:
    registry = registry_with("grep", "bash", "glob")
    assert messages.explained(*decided(registry, "read_file")) == ""
    assert messages.explained(*decided(registry, "grep")).startswith(
        "it failed together with other tools (the network)"
    )
    registry.begin_step(4)
    assert messages.explained(*decided(registry, "grep")) == "grep is probed for its whole group"
    registry.command(BreakerCommand.RESET)
    registry.score("grep", Score.DEGRADED)
    decision, line = decided(registry, "grep")
    assert messages.explained(decision, line, "slow") == "grep is called with caution: slow"
    assert messages.explained(decision, line) == "grep is called with caution: its check reports a degraded state"
    alone = registry_with("grep")
    alone.begin_step(4)
    assert messages.explained(*decided(alone, "grep")) == "grep is probed once to test whether it works again"


def test_the_answer_to_a_call_when_the_turn_pauses() -> None:
    registry = BreakerRegistry(TOOLS, limits=DispatchLimits(budget=1))
    registry.record(registry.decide("grep").permit, REFUSED)
    decision = registry.decide("bash")
    assert isinstance(decision, PauseTurn)
    assert decision.dispatch is Dispatch.PAUSE
    reported = "Not run: the turn pauses here, because the failure budget of this turn is used up."
    assert messages.paused(decision) == reported
    assert messages.explained(decision, None) == "the failure budget of this turn is used up"
