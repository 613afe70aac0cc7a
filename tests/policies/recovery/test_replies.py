"""What follows a whole reply: answers, tools, cut and empty ones, pauses and the token budget."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import Block, Reply, ToolCall, TransitionCode
from harness.policies.recovery import Continue, Nudge, RecoveryLimits, Resend, RunTools, Stop, decide
from harness.policies.recovery.cut_replies import cap_for
from tests.policies.recovery.cases import (
    ANSWER,
    CALL,
    CUT,
    CUT_CALL,
    FRESH,
    LIMITS,
    ORDINARY,
    TOOLS,
    for_ever,
    play,
    reply,
    text,
    use,
)

Code = TransitionCode


@pytest.mark.parametrize("stop_reason", ["tool_use", "end_turn", "something_new"])
def test_calls_are_run_whatever_the_stop_reason_says(stop_reason: str) -> None:
    assert isinstance(play([reply("", stop_reason, calls=(CALL,))]).last, RunTools)


@pytest.mark.parametrize("stop_reason", ["end_turn", "stop_sequence", "something_new"])
def test_text_without_calls_is_an_answer(stop_reason: str) -> None:
    assert play([reply("no calls", stop_reason)]).end is Code.COMPLETED


def test_every_call_of_a_reply_is_run_in_its_order_and_cut_ones_only_answered() -> None:
    second = ToolCall("t3", "grep", {})
    decision = decide(
        FRESH, reply("let me see", "tool_use", calls=(CALL, second), cut_calls=(CUT_CALL,)), LIMITS, ORDINARY
    )
    assert isinstance(decision, RunTools)
    assert decision.calls == (CALL, second)
    assert decision.cut_calls == (CUT_CALL,)
    assert decision.keep == (text("let me see"), use(CALL), use(second))


# ── cut at the cap ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("window", "max_output", "prompt_tokens", "cap"),
    [(200_000, 64_000, 10_000, 64_000), (200_000, 32_000, 10_000, 32_000), (200_000, 64_000, 150_000, 49_000)],
)
def test_more_room_means_what_the_model_and_its_window_have(
    window: int, max_output: int, prompt_tokens: int, cap: int
) -> None:
    situation = replace(ORDINARY, window=window, max_output=max_output, prompt_tokens=prompt_tokens)
    decision = decide(FRESH, CUT, LIMITS, situation)
    assert isinstance(decision, Resend)
    assert cap_for(decision.state, LIMITS, situation) == cap


@pytest.mark.parametrize(
    ("limits", "max_output", "prompt_tokens"),
    [
        (RecoveryLimits(user_cap=2_000), 64_000, 10_000),
        (RecoveryLimits(user_cap=100_000), 64_000, 10_000),
        (RecoveryLimits(), 8_000, 10_000),
        (RecoveryLimits(), 4_096, 10_000),
        (RecoveryLimits(), 64_000, 192_000),
    ],
)
def test_without_more_room_a_cut_reply_is_kept_and_continued(
    limits: RecoveryLimits, max_output: int, prompt_tokens: int
) -> None:
    situation = replace(ORDINARY, max_output=max_output, prompt_tokens=prompt_tokens)
    decision = decide(FRESH, CUT, limits, situation)
    assert isinstance(decision, Continue)
    assert (decision.keep, decision.nudge) == (CUT.content, Nudge.CUT_AT_CAP)


def test_a_raised_cap_holds_for_continuations_and_for_all_that_follows() -> None:
    played = play([CUT, CUT, TOOLS])
    assert [cap_for(decision.state, LIMITS, ORDINARY) for decision in played.decisions] == [64_000, 64_000, 64_000]


# ── cut before any text ─────────────────────────────────────────────────────────────────────────────

NOTHING = reply("", "max_tokens", output=8_000)
ONLY_THOUGHT = replace(NOTHING, content=({"type": "thinking", "thinking": "", "signature": "whole"},))
THINKING = replace(ORDINARY, max_output=128_000, window=1_000_000, thinks=True, takes_effort=True)
WITHOUT_EFFORT = replace(THINKING, takes_effort=False)


@pytest.mark.parametrize("cut", [NOTHING, ONLY_THOUGHT, replace(NOTHING, content=(text(" \n"),))])
def test_a_reply_that_left_nothing_is_never_continued(cut: Reply) -> None:
    for situation in (ORDINARY, THINKING, WITHOUT_EFFORT):
        for limits in (LIMITS, RecoveryLimits(user_cap=1_000)):
            played = play(for_ever(cut), situation=situation, limits=limits)
            assert not any(isinstance(decision, Continue) for decision in played.decisions)
            assert played.end is Code.MAX_OUTPUT_TOKENS_EXHAUSTED
            assert played.posts <= 3


def test_at_the_maximum_effort_is_lowered_once_and_then_the_turn_ends() -> None:
    played = play(for_ever(NOTHING), situation=THINKING)
    assert played.codes == [Code.MAX_OUTPUT_TOKENS_EFFORT, Code.MAX_OUTPUT_TOKENS_EXHAUSTED]
    assert played.decisions[0].state.low_effort
    assert "low effort" in played.last.reason


def test_a_model_without_effort_ends_the_turn_at_once() -> None:
    played = play(for_ever(NOTHING), situation=WITHOUT_EFFORT)
    assert played.codes == [Code.MAX_OUTPUT_TOKENS_EXHAUSTED]
    assert "all 128,000 output tokens" in played.last.reason
    assert "another model" in played.last.reason


def test_a_full_window_is_what_the_last_sentence_names() -> None:
    full = replace(WITHOUT_EFFORT, prompt_tokens=960_000)
    assert "/compact" in play(for_ever(NOTHING), situation=full).last.reason
    unattended = play(for_ever(NOTHING), situation=full, state=replace(FRESH, attended=False)).last.reason
    assert "/" not in unattended


def test_whole_calls_before_the_cut_are_run_once_nothing_more_can_be_asked_for() -> None:
    cut = reply("", "max_tokens", calls=(CALL,), cut_calls=(CUT_CALL,))
    decision = decide(FRESH, cut, RecoveryLimits(user_cap=1_000), ORDINARY)
    assert isinstance(decision, RunTools)
    assert (decision.calls, decision.cut_calls) == ((CALL,), (CUT_CALL,))


def test_the_last_cut_reply_leaves_no_unanswered_call() -> None:
    cut = reply("so far", "max_tokens", calls=(CALL,))
    last = play(for_ever(cut)).last
    assert isinstance(last, Stop)
    assert last.keep == (text("so far"),)


# ── calls that cannot be run ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("stop_reason", ["tool_use", "end_turn", "something_new"])
def test_three_replies_in_a_row_with_nothing_but_unusable_calls_end_the_turn(stop_reason: str) -> None:
    played = play(for_ever(reply("", stop_reason, cut_calls=(CUT_CALL,))))
    assert (played.posts, played.end) == (3, Code.MALFORMED_TOOL_USE)
    assert "its input is not a JSON object" in played.last.reason


@pytest.mark.parametrize("words", ["I will read it again.", ""])
def test_a_reply_that_lost_its_call_is_asked_again_once_and_is_no_answer(words: str) -> None:
    first = decide(FRESH, reply(words, "tool_use"), LIMITS, ORDINARY)
    assert isinstance(first, Continue)
    assert (first.keep, first.nudge) == ((), Nudge.NO_CALL)
    played = play(for_ever(reply(words, "tool_use")))
    assert (played.posts, played.end) == (2, Code.MALFORMED_TOOL_USE)
    assert "held no call, also when asked again" in played.last.reason
    assert isinstance(played.last, Stop)
    assert played.last.keep == ((text(words),) if words else ())
    assert play([reply(words, "tool_use"), reply("", "tool_use", calls=(CALL,)), reply("done")]).end is Code.COMPLETED


# ── nothing, and a pause ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("words", ["", "  \n"])
def test_an_empty_reply_is_asked_again_once_and_never_kept(words: str) -> None:
    first = decide(FRESH, reply(words), LIMITS, ORDINARY)
    assert isinstance(first, Continue)
    assert (first.keep, first.nudge) == ((), Nudge.EMPTY_REPLY)
    played = play(for_ever(reply(words)))
    assert (played.posts, played.end) == (2, Code.EMPTY_ANSWER)
    assert "empty" in played.last.reason


def test_a_pause_with_nothing_to_continue_is_an_empty_reply() -> None:
    empty = replace(reply(""), stop_reason="pause_turn", content=())
    played = play([reply("kept", "max_tokens"), *[empty] * 3])
    assert played.end is Code.EMPTY_ANSWER


def test_a_pause_of_the_server_is_answered_with_the_reply_as_it_is_and_not_without_end() -> None:
    paused = reply("searching", "pause_turn")
    first = decide(FRESH, paused, LIMITS, ORDINARY)
    assert isinstance(first, Continue)
    assert (first.keep, first.nudge, first.code) == (paused.content, Nudge.PAUSED, Code.NEXT_TURN)
    played = play(for_ever(paused))
    assert (played.posts, played.end) == (6, Code.BUDGET_EXHAUSTED)
    assert isinstance(played.last, Stop)
    assert played.last.keep == paused.content
    assert "paused its tools 6 times" in played.last.reason


SEARCH: Block = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "seals"}}
FOUND: Block = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}


def test_a_search_without_its_result_is_kept_only_where_the_server_continues_with_it() -> None:
    searching = replace(reply("looking"), content=(*reply("looking").content, SEARCH))
    paused = decide(FRESH, replace(searching, stop_reason="pause_turn"), LIMITS, ORDINARY)
    assert isinstance(paused, Continue)
    assert paused.keep[-1] == SEARCH
    spent = decide(replace(FRESH, pauses=LIMITS.pauses), replace(searching, stop_reason="pause_turn"), LIMITS, ORDINARY)
    cut_state = replace(FRESH, cut_at=64_000)
    cut = decide(cut_state, replace(searching, stop_reason="max_tokens"), replace(LIMITS, user_cap=500), ORDINARY)
    for decision in (spent, cut):
        assert isinstance(decision, Stop | Continue)
        assert decision.keep == reply("looking").content


def test_a_search_with_its_result_outlives_a_cut() -> None:
    found = replace(reply("", "max_tokens"), content=(SEARCH, FOUND))
    cut = decide(FRESH, found, replace(LIMITS, user_cap=500), ORDINARY)
    assert isinstance(cut, Continue)
    assert cut.keep == (SEARCH, FOUND)


# ── the token budget ────────────────────────────────────────────────────────────────────────────


def nudges_given(outputs: list[list[int]], budget: int) -> int:
    """How often a model that answers with these output tokens is nudged. Each list: replies up to an answer."""
    replies = [
        reply("done", output=tokens) if last else reply("", "tool_use", calls=(CALL,), output=tokens)
        for answer in outputs
        for last, tokens in zip([False] * (len(answer) - 1) + [True], answer, strict=True)
    ]
    played = play(replies, limits=RecoveryLimits(token_budget=budget))
    return played.codes.count(Code.TOKEN_BUDGET_CONTINUATION)


def nudges_by_the_book(outputs: list[list[int]], budget: int) -> int:
    """H2 said slowly: under 90 %, and not (three nudges or more and the last two gains each under 500)."""
    spent, gains = 0, []
    for nudged, answer in enumerate(outputs):
        spent += sum(answer)
        if nudged:
            gains.append(sum(answer))
        if spent * 10 >= budget * 9 or (nudged >= 3 and gains[-1] < 500 and gains[-2] < 500):
            return nudged
    return len(outputs)


@given(
    outputs=st.lists(st.lists(st.integers(0, 1_200), min_size=1, max_size=3), min_size=1, max_size=12),
    budget=st.integers(1, 12_000),
)
def test_the_nudges_of_a_token_budget_are_those_of_the_book(outputs: list[list[int]], budget: int) -> None:
    assert nudges_given(outputs, budget) == nudges_by_the_book(outputs, budget)


def test_a_nudge_gives_the_answer_its_place_in_the_history() -> None:
    decision = decide(FRESH, ANSWER, RecoveryLimits(token_budget=1_000), ORDINARY)
    assert isinstance(decision, Continue)
    assert (decision.keep, decision.nudge) == (ANSWER.content, Nudge.TOKEN_BUDGET)
