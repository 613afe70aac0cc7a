"""Decisions about tools in words: for the model, and in one line for the user."""

import pytest

from harness.events import (
    BreakerCommand,
    BreakerState,
    Dispatch,
    DispatchLimits,
    DispatchReason,
    HealthRow,
    Score,
)
from harness.policies.breakers import messages
from harness.policies.breakers.decisions import DispatchDecision, PauseTurn, Skip
from harness.policies.breakers.registry import BreakerRegistry
from tests.policies.breakers.test_health_table_rows import REFUSED, TOOLS, registry_with


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
