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
    Code.PROMPT_TOO_LONG: lambda: play([TOO_LONG] * 6).last,
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


EXITS = {
    0: {Code.COMPLETED},
    1: {Code.API_ERROR, Code.MODEL_ERROR, Code.PROMPT_TOO_LONG, Code.IMAGE_ERROR, Code.MALFORMED_TOOL_USE}
    | {Code.EMPTY_ANSWER},
    3: {Code.MAX_OUTPUT_TOKENS_EXHAUSTED, Code.MAX_TURNS, Code.BUDGET_EXHAUSTED, Code.BLOCKING_LIMIT}
    | {Code.COMPACTION_THRASH, Code.FAILURE_BUDGET_PAUSED, Code.LOOP_STOPPED, Code.WAIT_LIMIT}
    | {Code.STOP_HOOK_PREVENTED, Code.HOOK_STOPPED},
    130: {Code.ABORTED_STREAMING, Code.ABORTED_TOOLS},
}
"""Answered, failed, stopped, interrupted."""


def test_a_code_continues_or_ends_with_its_exit_code() -> None:
    ends = {code: status for status, codes in EXITS.items() for code in codes}
    assert ends.keys() | CONTINUES == set(Code)
    for code, row in TRANSITIONS.items():
        assert row.code is code
        assert row.trigger
        assert row.effect
        assert row.guard
        assert row.kind is (TransitionKind.CONTINUE if code in CONTINUES else TransitionKind.END)
        if code in ends:
            assert exit_code(code) == row.exit_code == ends[code]
            continue
        assert row.exit_code is None
        with pytest.raises(ValueError, match="does not end a turn"):
            exit_code(code)


def test_every_code_that_continues_names_what_ends_it() -> None:
    assert not [row.code for row in TRANSITIONS.values() if row.kind is TransitionKind.CONTINUE and row.guard == "-"]


def test_every_code_is_reached_by_the_policy() -> None:
    decisions = {code: lead() for code, lead in REACHED.items()}
    assert {code: decision and decision.code for code, decision in decisions.items()} == {code: code for code in Code}
    ending = {code for code, decision in decisions.items() if isinstance(decision, Stop)}
    assert ending == {code for code, row in TRANSITIONS.items() if row.kind is TransitionKind.END}
