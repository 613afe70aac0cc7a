"""A prompt whose fixed part does not fit the window: said at once, with the numbers, and only where it is sure."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import FaultKind, TransitionCode
from harness.policies.recovery import Compact, RecoveryLimits, Stop, before_request, decide
from harness.policies.recovery.compaction import CompactionHealth
from harness.policies.recovery.cut_replies import FLOOR, MARGIN
from harness.policies.recovery.prompt_too_long import UNLIKE
from tests.policies.recovery.cases import FRESH, LIMITS, ORDINARY, fault

Kind = FaultKind
SMALL = replace(ORDINARY, window=4_096, system_tokens=2_000, tool_tokens=5_000, prompt_tokens=7_100, answered=False)
REFUSED = fault(Kind.PROMPT_TOO_LONG, status=400, input_tokens=5_214, limit=4_096)


def test_the_sentence_has_the_numbers_of_the_server_and_the_way_out() -> None:
    stop = decide(FRESH, REFUSED, LIMITS, SMALL)
    assert isinstance(stop, Stop)
    assert stop.code is TransitionCode.PROMPT_TOO_LONG
    for words in ("system prompt (about 1,469 tokens)", "tools (about 3,672)", "4,096 tokens", "--model"):
        assert words in stop.reason
    assert "/clear" not in stop.reason


@given(
    system=st.integers(1, 9_000),
    tools=st.integers(0, 9_000),
    history=st.integers(1, 9_000),
    window=st.integers(1_000, 30_000),
    scale=st.sampled_from([0.5, 1.0, 2.0]),
    named=st.sampled_from(["both", "window", "nothing"]),
    answered=st.booleans(),
    overflow=st.booleans(),
)
def test_only_what_no_shortening_can_help_is_given_up(
    system: int, tools: int, history: int, window: int, scale: float, named: str, *, answered: bool, overflow: bool
) -> None:
    whole = system + tools + history
    situation = replace(
        ORDINARY, prompt_tokens=whole, system_tokens=system, tool_tokens=tools, answered=answered, window=window
    )
    kind = Kind.MAX_TOKENS_OVERFLOW if overflow else Kind.PROMPT_TOO_LONG
    limit = None if named == "nothing" else window
    tokens = round(whole * scale) if named == "both" else None
    decision = decide(FRESH, fault(kind, status=400, input_tokens=tokens, limit=limit), LIMITS, situation)
    answer = FLOOR if overflow else 0
    match named:
        case "both":
            assert tokens is not None
            expected = (system + tools) * tokens / whole + answer + MARGIN > window
        case "window":
            expected = not (answered or overflow) and system + tools + MARGIN > window
        case _:
            expected = not (answered or overflow) and history < whole / 10
    assert (isinstance(decision, Stop) and "no room" in decision.reason) is expected


@pytest.mark.parametrize("times", [1 / UNLIKE, UNLIKE, 30])
def test_a_size_that_has_nothing_to_do_with_the_estimate_proves_nothing(times: float) -> None:
    far = fault(Kind.PROMPT_TOO_LONG, input_tokens=round(SMALL.prompt_tokens * times), limit=1_000)
    assert isinstance(decide(FRESH, far, LIMITS, SMALL), Compact)


@pytest.mark.parametrize(
    "other",
    [
        fault(Kind.REQUEST_TOO_LARGE, status=413),
        fault(Kind.PROMPT_TOO_LONG, stop_reason="model_context_window_exceeded", streamed=True),
    ],
)
def test_a_large_body_and_a_full_window_are_another_matter(other: object) -> None:
    assert isinstance(decide(FRESH, other, LIMITS, SMALL), Compact)  # type: ignore[arg-type]


def test_before_a_request_nothing_is_shortened_for_what_cannot_shrink() -> None:
    assert before_request(FRESH, CompactionHealth(), 1, LIMITS, SMALL) is None
    shrinkable = replace(SMALL, system_tokens=100, tool_tokens=100)
    assert isinstance(before_request(FRESH, CompactionHealth(), 1, LIMITS, shrinkable), Compact)


def test_with_compaction_off_the_sentence_comes_without_a_request() -> None:
    stop = before_request(FRESH, CompactionHealth(), 1, RecoveryLimits(compaction=False), SMALL)
    assert isinstance(stop, Stop)
    assert "no room" in stop.reason
    assert "/compact" not in stop.reason
