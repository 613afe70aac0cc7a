"""How a board looks to a person, and decisions in words."""

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
    Rank,
    Route,
    Score,
    Severity,
)
from harness.policies.breakers import messages
from harness.policies.breakers.board import Board
from harness.policies.breakers.capabilities import Alternative, Capability, CapabilityMap
from harness.policies.breakers.decisions import Decision, Finish, Pause, Skip
from harness.policies.breakers.rows import why_not

REFUSED = Failure(FailureCategory.TRANSPORT, "connection refused", "transport: connection refused")
TOOLS = ("grep", "bash", "glob", "read_file")
CAPABILITIES = CapabilityMap(
    [
        Capability("grep", "search", "ask", (Alternative("bash", "rg -n X", "its own form", Severity.LOW),)),
        Capability("bash", "commands", "list them", depends_on=("read_file",)),
    ]
)


def board_with(*failing: str, limits: DispatchLimits | None = None) -> Board:
    """A board in step 1 on which these tools have just opened."""
    board = Board(TOOLS, CAPABILITIES, limits or DispatchLimits())
    board.begin_step(1)
    for tool in failing:
        for _ in range(3):
            board.record(board.decide(tool).ticket, REFUSED, 7.0)
    return board


def row(board: Board, tool: str) -> HealthRow:
    """One line."""
    return next(one for one in board.rows() if one.tool == tool)


# ── the table ───────────────────────────────────────────────────────────────────────────────────


def test_a_tool_that_was_never_called() -> None:
    assert row(board_with(), "grep") == HealthRow("grep", BreakerState.CLOSED, 0)


def test_a_tool_that_opened_and_one_that_worked() -> None:
    board = board_with("grep")
    board.record(board.decide("bash").ticket, Finish.OK, 9.0)
    assert row(board, "grep") == HealthRow("grep", BreakerState.OPEN, 3, 7.0, None, "connection refused", 4)
    assert row(board, "bash") == HealthRow("bash", BreakerState.CLOSED, 0, None, 9.0, critical=True)


def test_the_probe_of_a_group_and_of_its_members_one_by_one() -> None:
    board = board_with("grep", "bash", "glob")
    assert {row(board, tool).probe_at for tool in ("grep", "bash", "glob")} == {4}
    assert row(board, "grep").note == "systemic: the network"
    board.begin_step(5)
    probe = board.decide("bash")
    assert row(board, "bash").probe_at is None
    board.record(probe.ticket, Finish.OK)
    assert (row(board, "grep").probe_at, row(board, "grep").note) == (6, "recovering: the network")
    board.begin_step(9)
    assert row(board, "grep").probe_at == 9
    assert row(board, "bash").note == ""


def test_a_group_that_waits_for_a_person() -> None:
    board = board_with("grep", "bash", "glob", limits=DispatchLimits(cascade=CascadeMode.CONFIRM))
    assert (row(board, "grep").probe_at, row(board, "grep").note) == (None, "waits for /confirm: the network")
    assert why_not(board, "grep") == ("grep is open: connection refused", "find the cause, then /confirm")
    board.command(BreakerCommand.CONFIRM)
    assert (row(board, "grep").probe_at, row(board, "grep").note) == (1, "systemic: the network")


def test_a_tool_that_was_switched_off() -> None:
    board = board_with()
    board.command(BreakerCommand.ISOLATE, "grep")
    assert (row(board, "grep").probe_at, row(board, "grep").note) == (None, "isolated by hand")
    assert why_not(board, "grep") == ("grep is open", "a successful probe, or a reset when it works again")


def test_a_probe_that_waits_for_what_the_tool_depends_on() -> None:
    board = board_with()
    board.command(BreakerCommand.TRIP, "bash")
    board.begin_step(3)
    board.command(BreakerCommand.TRIP, "read_file")
    assert row(board, "bash").probe_at == 6
    assert why_not(board, "bash")[1] == "a probe from step 6 on, or a reset when it works again"


@pytest.mark.parametrize(
    ("score", "note"), [(Score.AVAILABLE, ""), (Score.DEGRADED, "degraded"), (Score.UNAVAILABLE, "unavailable")]
)
def test_a_score_that_is_believed(score: Score, note: str) -> None:
    board = board_with()
    board.score("grep", score)
    assert row(board, "grep").note == note
    board.begin_step(6)
    assert row(board, "grep").note == ""


def test_a_tool_that_does_not_exist_cannot_be_used() -> None:
    assert why_not(board_with(), "sed") == ("there is no tool called sed", "do it by hand")


# ── words ───────────────────────────────────────────────────────────────────────────────────────


def decided(board: Board, tool: str) -> tuple[Decision, HealthRow | None]:
    """The decision about a tool, and its line."""
    decision = board.decide(tool)
    return decision, next((one for one in board.rows() if one.tool == tool), None)


def test_the_answer_to_a_skipped_call() -> None:
    decision, line = decided(board_with("grep"), "grep")
    assert isinstance(decision, Skip)
    assert messages.skipped(decision, line).splitlines() == [
        "grep was not run: it failed 3 times in a row (connection refused); it is tried again from step 4 on.",
        "Ways round, best first:",
        "1. bash: rg -n X (loses: its own form)",
        "2. by hand: ask",
        "3. leave it out: do the rest without grep, and say what was left out and why",
        "Say in your answer what was done without grep and what is lost by that. Do not ask for it at once.",
    ]
    assert messages.best_of(decision.routes) == "bash; loses: its own form"


def test_the_answer_where_no_tool_is_left() -> None:
    board = board_with()
    board.command(BreakerCommand.TRIP, "bash")
    decision, line = decided(board, "bash")
    assert isinstance(decision, Skip)
    lines = messages.skipped(decision, line).splitlines()
    assert lines[0] == "bash was not run: it was opened by hand; it is tried again from step 4 on."
    assert lines[2] == "1. by hand: list them"
    assert lines[-2] == "No other tool can take its place now."
    assert messages.best_of(decision.routes) == "by hand; loses: it waits for the person"
    assert messages.best_of(()) == ""


LINE = HealthRow("grep", BreakerState.OPEN, 1, message="refused", probe_at=9, note="systemic: the network")


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (DispatchReason.OPEN, "it failed once (refused); it is tried again from step 9 on"),
        (
            DispatchReason.DEPENDENCY,
            "it failed once (refused) and waits for what it depends on; it is tried again from step 9 on",
        ),
        (DispatchReason.PROBE_OUT, "another call is trying whether it works again"),
        (
            DispatchReason.SYSTEMIC,
            "it failed together with other tools (the network); it is tried again from step 9 on",
        ),
        (
            DispatchReason.UNCONFIRMED,
            "it failed together with other tools (the network), and a person has to /confirm that this is over",
        ),
        (
            DispatchReason.RECOVERING,
            "it failed together with other tools, which are being tried one after the other",
        ),
        (DispatchReason.ISOLATED, "a person has switched it off"),
        (DispatchReason.UNAVAILABLE, "its check says that it cannot work now (no server)"),
        (DispatchReason.UNKNOWN_TOOL, "there is no tool called grep"),
        (DispatchReason.BUDGET_SPENT, "the failure budget of this turn is used up"),
        (DispatchReason.NOTHING_LEFT, "every sub-task that is left needs a tool that does not work"),
        (DispatchReason.PROBE_DUE, "probe due"),
    ],
)
def test_every_reason_in_words(reason: DispatchReason, words: str) -> None:
    assert messages.because(reason, "grep", LINE, "no server") == words


def test_reasons_without_a_line_of_the_table_are_words_as_well() -> None:
    assert messages.because(DispatchReason.OPEN, "grep", None) == "it was opened by hand"
    assert messages.because(DispatchReason.SYSTEMIC, "grep", None) == "it failed together with other tools"
    assert messages.because(DispatchReason.UNAVAILABLE, "grep", None) == "its check says that it cannot work now"


def test_a_decision_in_one_line_for_the_person() -> None:
    board = board_with("grep", "bash", "glob")
    assert messages.explained(*decided(board, "read_file")) == ""
    assert messages.explained(*decided(board, "grep")).startswith("it failed together with other tools (the network)")
    board.begin_step(4)
    assert messages.explained(*decided(board, "grep")) == "grep is tried for the whole group"
    board.command(BreakerCommand.RESET)
    board.score("grep", Score.DEGRADED)
    decision, line = decided(board, "grep")
    assert messages.explained(decision, line, "slow") == "grep is called with care: slow"
    assert messages.explained(decision, line) == "grep is called with care: its check is not content"
    alone = board_with("grep")
    alone.begin_step(4)
    assert messages.explained(*decided(alone, "grep")) == "grep is tried once, to see whether it works again"


def test_the_answer_to_a_call_when_the_turn_pauses() -> None:
    board = Board(TOOLS, limits=DispatchLimits(budget=1))
    board.record(board.decide("grep").ticket, REFUSED)
    decision = board.decide("bash")
    assert isinstance(decision, Pause)
    assert decision.dispatch is Dispatch.PAUSE
    told = "Not run: the turn pauses here, because the failure budget of this turn is used up."
    assert messages.paused(decision) == told
    assert messages.explained(decision, None) == "the failure budget of this turn is used up"


@pytest.mark.parametrize(
    ("route", "words"),
    [
        (Route(Rank.LOW, "rg -n X", "its form", "bash"), "bash: rg -n X (loses: its form)"),
        (Route(Rank.HIGH, "cat", "numbers", "bash"), "bash: cat (loses: numbers)"),
        (Route(Rank.MANUAL, "ask", "time"), "by hand: ask"),
        (Route(Rank.SCOPE, "do less", "that part"), "leave it out: do less"),
    ],
)
def test_a_way_round_in_one_line(route: Route, words: str) -> None:
    assert messages.in_words(route) == words
