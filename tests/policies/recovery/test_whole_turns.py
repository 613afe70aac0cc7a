"""Whole turns: the outcomes in order, and the decisions of the policy."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from harness.events import FaultKind, Outcome, TransitionCode
from harness.policies.recovery import RecoveryLimits, TurnState
from tests.policies.recovery.cases import (
    ANSWER,
    CUT,
    CUT_CALL,
    MALFORMED,
    ORDINARY,
    OVERLOADED,
    RESET,
    SERVER,
    TOO_LONG,
    TOOLS,
    after_text,
    fault,
    for_ever,
    play,
    reply,
)

Code = TransitionCode
UNKNOWN, UNREADABLE = fault(FaultKind.UNKNOWN), fault(FaultKind.MALFORMED_RESPONSE)
SLOW = fault(FaultKind.RATE_LIMIT, retry_after_s=50.0)
REFUSED = fault(FaultKind.REFUSAL, stop_reason="refusal")
REFUSED_MIDWAY = after_text(replace(OVERLOADED, streamed=True), stop_reason="refusal")
REMEDIES = (FaultKind.HISTORY_INVALID, FaultKind.SIGNATURE, FaultKind.MEDIA, FaultKind.AUTH)
NOTHING = reply("", "max_tokens", output=8_000)
THINKING = {"situation": replace(ORDINARY, max_output=128_000, window=1_000_000, thinks=True, takes_effort=True)}
BUDGET = {"limits": RecoveryLimits(token_budget=100_000)}
OTHERS = ["second", "third", "fourth"]
THREE = {"state": TurnState("primary", tuple(OTHERS))}
CUT_IN_A_CALL = reply("", "max_tokens", cut_calls=(CUT_CALL,))
ALWAYS_CUT = [Code.MAX_OUTPUT_TOKENS_ESCALATE, *[Code.MAX_OUTPUT_TOKENS_RECOVERY] * 3, Code.BUDGET_EXHAUSTED]
NOTHING_LEFT = [Code.MAX_OUTPUT_TOKENS_RECOVERY, Code.MAX_OUTPUT_TOKENS_EFFORT, Code.MAX_OUTPUT_TOKENS_EXHAUSTED]
ASKED_ANOTHER = {"models": ("primary", "second"), "codes": [Code.REFUSAL_FALLBACK, Code.COMPLETED]}

# Name, server replies, expected result of the turn, and differences from the default case.
TURNS: list[tuple[str, Iterable[Outcome], dict[str, Any], dict[str, Any]]] = [
    ("an unknown fault once in a turn", [UNKNOWN, TOOLS, UNKNOWN], {"end": Code.API_ERROR}, {}),
    ("an unknown fault behind text", for_ever(after_text(UNKNOWN)), {"posts": 2}, {}),
    ("one remedy after the other", [*map(fault, REMEDIES), ANSWER], {"end": Code.COMPLETED}, {}),
    ("retries of its own after a reply", [*[SERVER] * 8, TOOLS, *[SERVER] * 8, ANSWER], {"end": Code.COMPLETED}, {}),
    ("and after a compaction", [*[SERVER] * 6, TOO_LONG, *[SERVER] * 6, ANSWER], {"end": Code.COMPLETED}, {}),
    ("30 retries in a turn", [SERVER, TOOLS] * 100, {"end": Code.API_ERROR, "posts": 61}, {}),
    ("300 s of waiting in a turn", [SLOW, TOOLS] * 20, {"end": Code.API_ERROR, "waits": [50.0] * 6}, {}),
    ("unreadable, counted anew after a reply", [*[UNREADABLE] * 2, TOOLS] * 9, {"end": None}, {}),
    ("unreadable, with others between", [UNREADABLE, SERVER] * 3, {"end": Code.API_ERROR, "posts": 5}, {}),
    # too long
    ("compacted anew after tools", [TOO_LONG, TOOLS, TOO_LONG, ANSWER], {"end": Code.COMPLETED}, {}),
    ("not after a retry", [TOO_LONG, SERVER, *[TOO_LONG] * 5], {"end": Code.PROMPT_TOO_LONG}, {}),
    ("after a nudge of the token budget", [TOO_LONG, ANSWER, TOO_LONG], {"end": None, "posts": 3}, BUDGET),
    ("full again and again", [TOO_LONG, TOOLS] * 50, {"end": Code.COMPACTION_THRASH, "posts": 7}, {}),
    ("full now and then", [TOO_LONG, *[TOOLS] * 4] * 10, {"end": None, "posts": 50}, {}),
    # cut replies
    ("an answer without an end", for_ever(CUT), {"codes": ALWAYS_CUT}, {}),
    ("a call that is always cut", for_ever(CUT_IN_A_CALL), {"codes": ALWAYS_CUT}, {}),
    ("continued anew after tools", [*[CUT] * 4, TOOLS, *[CUT] * 3, ANSWER], {"end": Code.COMPLETED}, {}),
    ("a continuation that leaves nothing", [CUT, NOTHING, NOTHING], {"codes": NOTHING_LEFT}, THINKING),
    # calls that cannot be run, and nothing at all
    ("unusable calls, counted anew", [*[MALFORMED] * 2, TOOLS, *[MALFORMED] * 2, ANSWER], {"end": Code.COMPLETED}, {}),
    ("text, and nothing to add", [after_text(RESET), reply("")], {"end": Code.COMPLETED, "posts": 2}, {}),
    ("nothing after tools", [after_text(RESET), TOOLS, reply(""), ANSWER], {"end": Code.COMPLETED, "posts": 4}, {}),
    # other models
    ("the switch does not wait", [OVERLOADED] * 3, {"switches": ["second"], "waits": [0.5, 1.0]}, THREE),
    ("retries are not given back", for_ever(OVERLOADED), {"posts": 14, "switches": OTHERS}, THREE),
    ("an overload that is final", for_ever(replace(OVERLOADED, should_retry=False)), {"posts": 1}, THREE),
    ("a refusal asks the next model once", [REFUSED, ANSWER], ASKED_ANOTHER, THREE),
    ("a refusal in the middle does so too", [REFUSED_MIDWAY, ANSWER], ASKED_ANOTHER, THREE),
    ("two refusals", [REFUSED, REFUSED], {"posts": 2, "end": Code.MODEL_ERROR}, THREE),
    ("the second midway", [REFUSED, REFUSED_MIDWAY], {"posts": 2, "end": Code.MODEL_ERROR}, THREE),
]


@pytest.mark.parametrize(("outcomes", "expected", "differs"), [row[1:] for row in TURNS], ids=[row[0] for row in TURNS])
def test_a_turn(outcomes: Iterable[Outcome], expected: dict[str, Any], differs: dict[str, Any]) -> None:
    played = play(outcomes, **differs)
    assert {name: getattr(played, name) for name in expected} == expected
