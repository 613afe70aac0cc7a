"""The table of codes: whole, consistent, and every code reached."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.events import FaultKind, TransitionCode
from harness.policies.recovery import Decision, RecoveryLimits, Stop, after_tools, at_turn_end, before_request
from harness.policies.recovery.compaction import CompactionHealth
from harness.policies.recovery.transitions import TRANSITIONS, TransitionKind, exit_code
from tests.policies.recovery.cases import (
    ANSWER,
    CUT,
    FRESH,
    LIMITS,
    MALFORMED,
    ORDINARY,
    SERVER,
    TOO_LONG,
    TOOLS,
    fault,
    play,
    reply,
)

Code = TransitionCode

CONTINUES = {
    "refusal_fallback",
    "next_turn",
    "max_output_tokens_effort",
    "max_output_tokens_escalate",
    "max_output_tokens_recovery",
    "reactive_compact_retry",
    "collapse_drain_retry",
    "stop_hook_blocking",
    "token_budget_continuation",
}
DONE = Stop(FRESH, "answered", Code.COMPLETED)
NOTHING = reply("", "max_tokens")
THINKS = replace(ORDINARY, thinks=True, takes_effort=True)
FULL = replace(ORDINARY, prompt_tokens=190_000)
THRASHING = CompactionHealth().compacting(1).compacting(2).compacting(3)

REACHED: dict[TransitionCode, Callable[[], Decision | None]] = {
    Code.NEXT_TURN: lambda: play([TOOLS]).last,
    Code.MAX_OUTPUT_TOKENS_ESCALATE: lambda: play([CUT]).last,
    Code.MAX_OUTPUT_TOKENS_EFFORT: lambda: play([NOTHING], situation=THINKS).last,
    Code.MAX_OUTPUT_TOKENS_EXHAUSTED: lambda: play([NOTHING] * 2, situation=THINKS).last,
    Code.MAX_OUTPUT_TOKENS_RECOVERY: lambda: play([CUT, CUT]).last,
    Code.COLLAPSE_DRAIN_RETRY: lambda: play([TOO_LONG], situation=replace(ORDINARY, drainable_tokens=50_000)).last,
    Code.REACTIVE_COMPACT_RETRY: lambda: play([TOO_LONG]).last,
    Code.TOKEN_BUDGET_CONTINUATION: lambda: play([ANSWER], limits=RecoveryLimits(token_budget=1_000)).last,
    Code.COMPLETED: lambda: play([ANSWER]).last,
    Code.API_ERROR: lambda: play([SERVER] * 11).last,
    Code.REFUSAL_FALLBACK: lambda: play([fault(FaultKind.REFUSAL)], state=replace(FRESH, fallbacks=("second",))).last,
    Code.MODEL_ERROR: lambda: play([fault(FaultKind.REFUSAL)]).last,
    Code.PROMPT_TOO_LONG: lambda: play([TOO_LONG] * 2).last,
    Code.IMAGE_ERROR: lambda: play([fault(FaultKind.MEDIA)] * 2).last,
    Code.MALFORMED_TOOL_USE: lambda: play([MALFORMED] * 3).last,
    Code.EMPTY_ANSWER: lambda: play([reply("")] * 2).last,
    Code.ABORTED_STREAMING: lambda: play([fault(FaultKind.CANCELLED)]).last,
    Code.ABORTED_TOOLS: lambda: after_tools(FRESH, LIMITS, interrupted=True),
    Code.FAILURE_BUDGET_PAUSED: lambda: after_tools(FRESH, LIMITS, interrupted=False, paused="the budget is used up"),
    Code.LOOP_STOPPED: lambda: after_tools(FRESH, LIMITS, interrupted=False, stuck="bash repeats itself"),
    Code.WAIT_LIMIT: lambda: after_tools(FRESH, LIMITS, interrupted=False, waited="the job does not end"),
    Code.HOOK_STOPPED: lambda: after_tools(FRESH, LIMITS, interrupted=False, hooked="guard: not here"),
    Code.STOP_HOOK_BLOCKING: lambda: at_turn_end(DONE, LIMITS, objection="the tests fail"),
    Code.STOP_HOOK_PREVENTED: lambda: at_turn_end(DONE, LIMITS, prevented="enough for today"),
    Code.MAX_TURNS: lambda: after_tools(replace(FRESH, steps=1), RecoveryLimits(max_steps=1), interrupted=False),
    Code.BUDGET_EXHAUSTED: lambda: play([CUT] * 5).last,
    Code.BLOCKING_LIMIT: lambda: before_request(FRESH, CompactionHealth(), 1, RecoveryLimits(compaction=False), FULL),
    Code.COMPACTION_THRASH: lambda: before_request(FRESH, THRASHING, 4, LIMITS, FULL),
}
"""One way to each code that the policy gives. None of them is left to the executor."""


@pytest.mark.parametrize("code", Code)
def test_a_code_goes_on_or_ends_as_the_requirements_say(code: TransitionCode) -> None:
    assert TRANSITIONS[code].kind is (TransitionKind.CONTINUE if code in CONTINUES else TransitionKind.END)


@pytest.mark.parametrize("code", Code)
def test_every_row_says_when_and_what_and_has_an_exit_code_exactly_when_it_ends(code: TransitionCode) -> None:
    row = TRANSITIONS[code]
    assert row.trigger
    assert row.effect
    assert row.guard
    assert (row.exit_code is None) is (row.kind is TransitionKind.CONTINUE)


def test_every_code_that_goes_on_names_what_ends_it() -> None:
    assert not [row.code for row in TRANSITIONS.values() if row.kind is TransitionKind.CONTINUE and row.guard == "-"]


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (Code.COMPLETED, 0),
        (Code.API_ERROR, 1),
        (Code.MODEL_ERROR, 1),
        (Code.PROMPT_TOO_LONG, 1),
        (Code.IMAGE_ERROR, 1),
        (Code.MALFORMED_TOOL_USE, 1),
        (Code.EMPTY_ANSWER, 1),
        (Code.MAX_OUTPUT_TOKENS_EXHAUSTED, 3),
        (Code.MAX_TURNS, 3),
        (Code.BUDGET_EXHAUSTED, 3),
        (Code.BLOCKING_LIMIT, 3),
        (Code.COMPACTION_THRASH, 3),
        (Code.FAILURE_BUDGET_PAUSED, 3),
        (Code.LOOP_STOPPED, 3),
        (Code.WAIT_LIMIT, 3),
        (Code.STOP_HOOK_PREVENTED, 3),
        (Code.HOOK_STOPPED, 3),
        (Code.ABORTED_STREAMING, 130),
        (Code.ABORTED_TOOLS, 130),
    ],
)
def test_the_exit_code_says_answered_failed_stopped_or_interrupted(code: TransitionCode, status: int) -> None:
    assert exit_code(code) == status


@pytest.mark.parametrize("code", sorted(CONTINUES))
def test_a_code_that_goes_on_has_no_exit_code(code: str) -> None:
    with pytest.raises(ValueError, match="does not end a turn"):
        exit_code(TransitionCode(code))


def test_every_code_is_reached_by_the_policy() -> None:
    assert set(REACHED) == set(Code)


@pytest.mark.parametrize("code", REACHED)
def test_the_way_to_a_code_leads_there(code: TransitionCode) -> None:
    decision = REACHED[code]()
    assert decision is not None
    assert decision.code is code
    assert isinstance(decision, Stop) is (TRANSITIONS[code].kind is TransitionKind.END)
