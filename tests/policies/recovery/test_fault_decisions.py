"""The remedy for each kind of fault."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import Fault, FaultKind, Outcome, TransitionCode
from harness.policies.recovery import (
    Compact,
    Continue,
    Drain,
    Nudge,
    RecoveryLimits,
    Remedy,
    Repair,
    Resend,
    RunTools,
    Stop,
    decide,
)
from tests.policies.recovery.cases import (
    ANSWER,
    CALL,
    CUT,
    FRESH,
    LIMITS,
    ORDINARY,
    RESET,
    SERVER,
    TOO_LONG,
    TOOLS,
    UNREACHABLE,
    after_text,
    fault,
    for_ever,
    play,
    resent,
    text,
    use,
)

Kind = FaultKind
Code = TransitionCode

POSTS_UNTIL_THE_END = {
    Kind.OVERLOADED: (11, Code.API_ERROR),
    Kind.RATE_LIMIT: (11, Code.API_ERROR),
    Kind.SERVER: (11, Code.API_ERROR),
    Kind.TIMEOUT: (11, Code.API_ERROR),
    Kind.NETWORK: (11, Code.API_ERROR),
    Kind.STALE_SOCKET: (11, Code.API_ERROR),
    Kind.MALFORMED_RESPONSE: (3, Code.API_ERROR),
    Kind.UNKNOWN: (2, Code.API_ERROR),
    Kind.QUOTA_EXHAUSTED: (1, Code.API_ERROR),
    Kind.TLS: (1, Code.API_ERROR),
    Kind.BILLING: (1, Code.API_ERROR),
    Kind.MODEL_NOT_FOUND: (1, Code.API_ERROR),
    Kind.WRONG_ADDRESS: (1, Code.API_ERROR),
    Kind.CACHE_MARKS: (2, Code.API_ERROR),
    Kind.REPLY_SETTINGS: (2, Code.API_ERROR),
    Kind.ANSWER_FORMAT: (2, Code.API_ERROR),
    Kind.SERVER_TOOLS: (2, Code.API_ERROR),
    Kind.TEXT_AFTER_RESULTS: (2, Code.API_ERROR),
    Kind.CACHE_DIAGNOSTICS: (2, Code.API_ERROR),
    Kind.AUTH: (2, Code.API_ERROR),
    Kind.HISTORY_INVALID: (2, Code.API_ERROR),
    Kind.SIGNATURE: (3, Code.API_ERROR),
    Kind.MEDIA: (2, Code.IMAGE_ERROR),
    Kind.PROMPT_TOO_LONG: (6, Code.PROMPT_TOO_LONG),
    Kind.REQUEST_TOO_LARGE: (6, Code.PROMPT_TOO_LONG),
    Kind.MAX_TOKENS_OVERFLOW: (6, Code.PROMPT_TOO_LONG),
    Kind.REFUSAL: (1, Code.MODEL_ERROR),
    Kind.REPETITION: (4, Code.LOOP_STOPPED),
    Kind.CANCELLED: (1, Code.ABORTED_STREAMING),
}
"""The number of requests of a turn that meets only this fault, and its final code."""

RETRIED = {kind for kind, (posts, _) in POSTS_UNTIL_THE_END.items() if posts == 11} | {
    Kind.UNKNOWN,
    Kind.MALFORMED_RESPONSE,
}
TERMINAL = [
    *(Kind.AUTH, Kind.BILLING, Kind.QUOTA_EXHAUSTED, Kind.TLS, Kind.MODEL_NOT_FOUND, Kind.WRONG_ADDRESS),
    *(Kind.REFUSAL,),
]


def test_a_fault_that_never_passes_ends_after_its_number_of_requests_in_the_words_of_the_fault() -> None:
    ended = {kind: play(for_ever(fault(kind))) for kind in FaultKind}
    assert {kind: (played.posts, played.end) for kind, played in ended.items()} == POSTS_UNTIL_THE_END
    said = {kind: played.last.reason for kind, played in ended.items()}
    assert [kind for kind, reason in said.items() if "\n" in reason] == []
    assert [kind for kind, reason in said.items() if f"it was {kind}" not in reason] == [Kind.CANCELLED]


@pytest.mark.parametrize("kind", sorted(RETRIED))
def test_a_fault_that_passes_costs_one_request_and_the_turn_is_answered(kind: FaultKind) -> None:
    played = play([fault(kind), ANSWER])
    assert played.posts == 2
    assert played.end is Code.COMPLETED


@pytest.mark.parametrize("kind", sorted(RETRIED))
def test_should_retry_false_means_one_request_whatever_the_kind(kind: FaultKind) -> None:
    played = play(for_ever(fault(kind, should_retry=False)))
    assert (played.posts, played.end) == (1, Code.API_ERROR)


@pytest.mark.parametrize("kind", TERMINAL)
def test_should_retry_true_does_not_rescue_what_only_a_user_can_mend(kind: FaultKind) -> None:
    assert play(for_ever(fault(kind, should_retry=True))).posts == POSTS_UNTIL_THE_END[kind][0]


@pytest.mark.parametrize(
    ("status", "error_type", "should_retry", "posts"),
    [
        (418, None, None, 1),
        (418, None, True, 11),
        (409, "invalid_request_error", True, 1),
        (400, "invalid_request_error", True, 1),
        (400, None, None, 1),
        (None, "something_new", None, 2),
        (None, "something_new", True, 11),
        (None, "something_new", False, 1),
    ],
)
def test_an_unknown_fault_is_tried_once_more_unless_the_server_says_otherwise(
    status: int | None, error_type: str | None, should_retry: bool | None, posts: int
) -> None:
    unknown = fault(Kind.UNKNOWN, status=status, error_type=error_type, should_retry=should_retry)
    assert play(for_ever(unknown)).posts == posts


@pytest.mark.parametrize(("should_retry", "posts"), [(None, 1), (False, 1), (True, 11)])
def test_not_implemented_is_final_unless_the_server_asks_for_a_retry(should_retry: bool | None, posts: int) -> None:
    assert play(for_ever(fault(Kind.SERVER, status=501, should_retry=should_retry))).posts == posts


@pytest.mark.parametrize("kind", [Kind.NETWORK, Kind.TIMEOUT, Kind.STALE_SOCKET])
def test_a_lost_connection_is_followed_by_a_new_one(kind: FaultKind) -> None:
    assert resent(decide(FRESH, fault(kind), LIMITS, ORDINARY)).fresh_connection


@pytest.mark.parametrize("kind", [Kind.OVERLOADED, Kind.RATE_LIMIT, Kind.SERVER])
def test_a_connection_that_brought_an_answer_is_used_again(kind: FaultKind) -> None:
    assert not resent(decide(FRESH, fault(kind), LIMITS, ORDINARY)).fresh_connection


# ── one change, once ────────────────────────────────────────────────────────────────────────────

REPAIRED = {
    Kind.HISTORY_INVALID: Remedy.REPAIR,
    Kind.SIGNATURE: Remedy.STRIP_THINKING,
    Kind.MEDIA: Remedy.STRIP_MEDIA,
    Kind.AUTH: Remedy.RELOAD_KEY,
    Kind.CACHE_MARKS: Remedy.DROP_CACHE_MARKS,
    Kind.REPLY_SETTINGS: Remedy.DROP_REPLY_SETTINGS,
    Kind.SERVER_TOOLS: Remedy.DROP_SERVER_TOOLS,
    Kind.ANSWER_FORMAT: Remedy.DROP_FORMAT,
    Kind.TEXT_AFTER_RESULTS: Remedy.BRIDGE_RESULTS,
    Kind.CACHE_DIAGNOSTICS: Remedy.DROP_DIAGNOSTICS,
}


@pytest.mark.parametrize("kind", REPAIRED)
def test_a_fault_with_a_remedy_is_repaired_once_in_a_turn(kind: FaultKind) -> None:
    first = decide(FRESH, fault(kind), LIMITS, ORDINARY)
    assert isinstance(first, Repair)
    assert first.remedy is REPAIRED[kind]
    again = play([TOOLS, fault(kind)], state=first.state)
    if kind is Kind.SIGNATURE:  # the model may also be asked not to think
        assert isinstance(again.last, Repair)
        assert again.last.remedy is Remedy.OMIT_THINKING
        again = play([TOOLS, fault(kind)], state=again.last.state)
    assert again.last == replace(first.otherwise, state=again.last.state)


# ── a cap that was refused ──────────────────────────────────────────────────────────────────────


def overflow(input_tokens: int | None, limit: int) -> Fault:
    return fault(Kind.MAX_TOKENS_OVERFLOW, status=400, input_tokens=input_tokens, limit=limit)


def test_a_refused_cap_is_lowered_to_what_the_window_leaves() -> None:
    decision = decide(FRESH, overflow(195_000, 200_000), LIMITS, replace(ORDINARY, prompt_tokens=100_000))
    assert isinstance(decision, Repair)
    assert decision.remedy is Remedy.LOWER_CAP
    assert decision.state.lowered_cap == 200_000 - 195_000 - 1_000


def test_a_cap_above_the_models_maximum_is_lowered_to_it() -> None:
    decision = decide(FRESH, overflow(None, 4_096), LIMITS, ORDINARY)
    assert isinstance(decision, Repair)
    assert decision.state.lowered_cap == 4_096


@pytest.mark.parametrize(
    ("input_tokens", "limit"),
    [(198_000, 200_000), (201_000, 200_000), (None, 8_000), (None, 128_000), (191_000, 200_000)],
)
def test_a_cap_that_cannot_be_lowered_compacts_instead(input_tokens: int | None, limit: int) -> None:
    assert isinstance(decide(FRESH, overflow(input_tokens, limit), LIMITS, ORDINARY), Compact)


def test_for_a_refused_cap_old_results_make_room_for_an_answer_worth_asking_for() -> None:
    played = play([overflow(198_000, 200_000)], situation=replace(ORDINARY, drainable_tokens=10_000))
    assert isinstance(played.last, Drain)
    assert 198_000 - played.last.tokens + 3_000 + 1_000 == 200_000


def test_both_limits_of_a_cap_can_be_passed_once_and_then_the_history_is_shortened() -> None:
    played = play([overflow(None, 7_000), overflow(None, 6_999), overflow(None, 6_998)])
    assert [type(decision) for decision in played.decisions] == [Repair, Repair, Compact]


def test_a_server_that_refuses_every_cap_is_not_asked_endlessly() -> None:
    played = play(overflow(None, 7_000 - n) for n in range(500))
    assert (played.posts, played.end) == (8, Code.PROMPT_TOO_LONG)


def test_a_raised_cap_is_not_lowered_to_where_the_reply_was_cut() -> None:
    played = play([CUT, overflow(191_500, 200_000)])
    assert isinstance(played.last, Compact)


def test_where_a_reply_was_cut_says_nothing_about_the_next_history() -> None:
    played = play([CUT, TOOLS, overflow(192_000, 200_000)])
    assert isinstance(played.last, Repair)
    assert played.last.state.lowered_cap == 7_000


# ── too long ────────────────────────────────────────────────────────────────────────────────────


def test_a_prompt_that_is_too_long_is_compacted_and_sent_again() -> None:
    played = play([TOO_LONG, ANSWER])
    assert played.codes == [Code.REACTIVE_COMPACT_RETRY, Code.COMPLETED]
    first = played.decisions[0]
    assert isinstance(first, Compact)
    assert (first.prompt_tokens, first.limit) == (210_000, 200_000)


def test_old_results_are_shortened_first_when_that_saves_enough() -> None:
    played = play([TOO_LONG] * 7, situation=replace(ORDINARY, drainable_tokens=11_000))
    assert played.codes == [Code.COLLAPSE_DRAIN_RETRY, *[Code.REACTIVE_COMPACT_RETRY] * 5, Code.PROMPT_TOO_LONG]
    assert [one.only_cut for one in played.decisions if isinstance(one, Compact)] == [False, *[True] * 4]
    first = played.decisions[0]
    assert isinstance(first, Drain)
    assert first.tokens == 11_000


@pytest.mark.parametrize(
    ("drainable", "too_long"),
    [(10_999, TOO_LONG), (10**9, fault(Kind.PROMPT_TOO_LONG)), (10**9, fault(Kind.PROMPT_TOO_LONG, limit=200_000))],
)
def test_old_results_are_left_alone_when_shortening_them_would_not_be_known_to_help(
    drainable: int, too_long: Fault
) -> None:
    played = play([too_long], situation=replace(ORDINARY, drainable_tokens=drainable))
    assert played.codes == [Code.REACTIVE_COMPACT_RETRY]


@pytest.mark.parametrize("kind", [Kind.PROMPT_TOO_LONG, Kind.REQUEST_TOO_LARGE, Kind.MAX_TOKENS_OVERFLOW])
def test_with_compaction_off_no_history_is_shortened(kind: FaultKind) -> None:
    limits = RecoveryLimits(compaction=False)
    played = play(for_ever(fault(kind)), limits=limits, situation=replace(ORDINARY, drainable_tokens=10**9))
    assert (played.posts, played.end) == (1, Code.PROMPT_TOO_LONG)
    assert "/compact" in played.last.reason


# ── a stream that broke ─────────────────────────────────────────────────────────────────────────


def test_a_stream_that_broke_before_a_whole_block_is_asked_for_again() -> None:
    decision = resent(decide(FRESH, RESET, LIMITS, ORDINARY))
    assert decision.code is None


def test_whole_text_of_a_broken_stream_is_kept_and_the_rest_asked_for() -> None:
    decision = decide(FRESH, after_text(RESET), LIMITS, ORDINARY)
    assert isinstance(decision, Continue)
    assert decision.keep == (text("a whole block"),)
    assert decision.nudge is Nudge.BROKEN_STREAM
    assert decision.code is Code.MAX_OUTPUT_TOKENS_RECOVERY
    assert decision.wait is not None


def test_whole_tool_calls_of_a_broken_stream_are_run_once_and_without_a_wait() -> None:
    broken = replace(RESET, kept=(text("I will look"), use(CALL)), calls=(CALL,))
    decision = decide(FRESH, broken, LIMITS, ORDINARY)
    assert isinstance(decision, RunTools)
    assert decision.calls == (CALL,)
    assert decision.keep == broken.kept
    assert decision.code is Code.NEXT_TURN


def test_a_stream_that_broke_after_its_stop_reason_is_an_answer() -> None:
    decision = decide(FRESH, after_text(RESET, stop_reason="end_turn"), LIMITS, ORDINARY)
    assert isinstance(decision, Stop)
    assert (decision.code, decision.keep) == (Code.COMPLETED, (text("a whole block"),))


def test_a_refusal_whose_stream_broke_leaves_nothing_behind() -> None:
    decision = decide(FRESH, after_text(RESET, stop_reason="refusal"), LIMITS, ORDINARY)
    assert isinstance(decision, Stop)
    assert (decision.code, decision.keep) == (Code.MODEL_ERROR, ())


def test_a_stream_that_always_breaks_behind_whole_text_ends_and_keeps_what_it_brought() -> None:
    played = play(for_ever(after_text(RESET)))
    assert played.posts == 11
    assert [type(decision) for decision in played.decisions] == [Continue] * 3 + [Resend] * 7 + [Stop]
    assert isinstance(played.last, Stop)
    assert played.last.keep == (text("a whole block"),)


def test_an_interrupted_reply_keeps_its_text_and_no_call_that_will_stay_unanswered() -> None:
    broken = fault(Kind.CANCELLED, kept=(text("so far"), use(CALL)), calls=(CALL,))
    decision = decide(FRESH, broken, LIMITS, ORDINARY)
    assert isinstance(decision, Stop)
    assert (decision.code, decision.keep) == (Code.ABORTED_STREAMING, (text("so far"),))


def test_no_turn_ends_with_an_unanswered_tool_call() -> None:
    for kind in FaultKind:
        last = play(for_ever(fault(kind, should_retry=False, kept=(use(CALL),)))).last
        assert isinstance(last, Stop), kind
        assert not any(block["type"] == "tool_use" for block in last.keep), kind


# ── limits of the retries ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_a_request_is_retried_as_often_as_the_setting_says(retries: int) -> None:
    assert play(for_ever(SERVER), limits=RecoveryLimits(retries_per_request=retries)).posts == 1 + retries


@pytest.mark.parametrize(("kind", "most"), [(Kind.MALFORMED_RESPONSE, 2), (Kind.UNKNOWN, 1), (Kind.SERVER, 10)])
def test_a_wait_says_how_many_retries_there_would_be(kind: FaultKind, most: int) -> None:
    waits = [resent(decision).wait for decision in play(for_ever(fault(kind))).decisions[:-1]]
    assert [(wait.retry, wait.most) for wait in waits if wait] == [(retry, most) for retry in range(1, most + 1)]


NETWORK = (UNREACHABLE, RESET)


@given(
    st.lists(st.sampled_from([UNREACHABLE, UNREACHABLE, RESET, SERVER, TOOLS]), max_size=12),
    st.booleans(),
    st.integers(0, 5),
)
def test_an_address_that_has_never_answered_is_tried_three_times(
    outcomes: list[Outcome], reached: bool, retries: int
) -> None:
    limits = RecoveryLimits(retries_per_request=retries, long_wait_s=1e9, waiting_per_turn_s=1e9)
    played = play([*outcomes, *[UNREACHABLE] * 9], limits=limits, situation=replace(ORDINARY, reached=reached))

    tries, posts = 0, 0
    for outcome in [*outcomes, *[UNREACHABLE] * 9]:
        posts += 1
        tries = 0 if outcome is TOOLS else tries + 1
        if tries > retries or (outcome is UNREACHABLE and not reached and tries >= 3):
            break
    assert (played.posts, played.end) == (posts, Code.API_ERROR)
    gave_up = "tried " in played.last.reason
    assert gave_up is (outcome is UNREACHABLE and not reached and tries <= retries)
    assert (f"tried {tries} times; check the address (ANTHROPIC_BASE_URL" in played.last.reason) is gave_up
    assert ("check the network and ANTHROPIC_BASE_URL" in played.last.reason) is (not gave_up and outcome in NETWORK)


@pytest.mark.parametrize("reason", ["end_turn", "stop", "eos"])
def test_a_stream_that_breaks_behind_any_end_of_an_answer_is_answered(reason: str) -> None:
    assert play([after_text(RESET, stop_reason=reason)]).end is Code.COMPLETED
