"""The checks before a request and after tools, and the call for a summary."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import FaultKind, Outcome, TransitionCode
from harness.policies.recovery import (
    Compact,
    Drain,
    RecoveryLimits,
    Resend,
    Stop,
    TurnState,
    after_tools,
    before_request,
    decide,
    decide_summary,
)
from harness.policies.recovery.compaction import CompactAt, CompactionHealth, thresholds
from harness.policies.recovery.cut_replies import summary_cap
from tests.policies.recovery.cases import (
    ANSWER,
    CUT,
    FRESH,
    LIMITS,
    MALFORMED,
    ORDINARY,
    OVERLOADED,
    SERVER,
    TOOLS,
    fault,
    reply,
    resent,
)

Code = TransitionCode
WELL = CompactionHealth()
OFF = CompactionHealth(failures=3)
THRASHING = WELL.compacting(1).compacting(3).compacting(5)
NO_COMPACTION = RecoveryLimits(compaction=False)


def before(
    tokens: int,
    *,
    limits: RecoveryLimits = LIMITS,
    health: CompactionHealth = WELL,
    step: int = 1,
    cost_usd: float = 0.0,
) -> Compact | Stop | None:
    situation = replace(ORDINARY, prompt_tokens=tokens, cost_usd=cost_usd, largest="the largest is number 4 of 9")
    decision = before_request(FRESH, health, step, limits, situation)
    assert decision is None or isinstance(decision, Compact | Stop)
    return decision


def code(decision: Compact | Stop | None) -> TransitionCode | None:
    return decision.code if decision else None


def test_up_to_the_threshold_a_request_goes_out_and_from_it_on_the_history_is_compacted_first() -> None:
    assert before(166_999) is None
    decision = before(167_000)
    assert isinstance(decision, Compact)
    assert decision.code is None


def test_a_size_that_the_user_set_is_where_the_history_is_shortened() -> None:
    limits = replace(LIMITS, compact_at=CompactAt(tokens=60_000))
    assert before(59_999, limits=limits) is None
    assert isinstance(before(60_000, limits=limits), Compact)


@given(
    tokens=st.integers(0, 1_100_000),
    fixed=st.integers(0, 300_000),
    window=st.integers(4_000, 1_000_000),
    wanted=st.one_of(st.none(), st.integers(1_000, 1_100_000)),
    share=st.one_of(st.none(), st.integers(1, 100)),
    health=st.sampled_from([WELL, OFF, THRASHING]),
    compaction=st.booleans(),
)
def test_saving_money_never_ends_a_turn_and_a_full_window_is_treated_as_without_the_setting(
    *,
    tokens: int,
    fixed: int,
    window: int,
    wanted: int | None,
    share: int | None,
    health: CompactionHealth,
    compaction: bool,
) -> None:
    situation = replace(ORDINARY, prompt_tokens=tokens, system_tokens=fixed, window=window, max_output=128_000)
    plain = replace(LIMITS, compaction=compaction)
    at = CompactAt(wanted, None if share is None else share / 100)
    decision = before_request(FRESH, health, 6, replace(plain, compact_at=at), situation)
    without = before_request(FRESH, health, 6, plain, situation)
    sizes = [size for size in (wanted, share and int(window * (share / 100))) if size is not None]
    full = tokens >= thresholds(window, 128_000).compact
    if full or not compaction or not sizes:
        assert type(decision) is type(without)
    elif tokens >= min(sizes) > fixed and health is WELL:
        assert isinstance(decision, Compact)
    else:
        assert decision is None


# ── the milder layer: old results drained before a request ────────────────────────────


@given(
    tokens=st.integers(1_000, 400_000),
    results=st.integers(0, 400_000),
    window=st.integers(4_000, 1_000_000),
    max_output=st.integers(100, 128_000),
    health=st.sampled_from([WELL, OFF, THRASHING]),
)
def test_old_results_are_drained_exactly_when_that_alone_brings_the_prompt_well_below_the_threshold(
    tokens: int, results: int, window: int, max_output: int, health: CompactionHealth
) -> None:
    situation = replace(ORDINARY, prompt_tokens=tokens, drainable_tokens=results, window=window, max_output=max_output)
    threshold = thresholds(window, max_output).compact
    enough = tokens >= threshold and tokens - results <= int(0.8 * threshold)
    decision = before_request(FRESH, health, 6, LIMITS, situation)
    assert isinstance(decision, Drain) is enough
    if isinstance(decision, Drain):
        assert decision.code is None
        assert tokens - decision.tokens == int(0.8 * threshold)


@given(steps=st.lists(st.integers(0, 3_000), max_size=60), first=st.integers(167_000, 199_000))
def test_after_a_drain_small_steps_have_a_fifth_of_the_threshold_before_the_next_one(
    steps: list[int], first: int
) -> None:
    drained_at: list[int] = []
    tokens, grown = first, 0
    for number, step in enumerate([0, *steps]):
        tokens, grown = tokens + step, grown + step
        situation = replace(ORDINARY, prompt_tokens=tokens, drainable_tokens=tokens)
        match before_request(FRESH, WELL, number, LIMITS, situation):
            case Drain(tokens=saved):
                assert not drained_at or grown >= 33_400
                drained_at.append(number)
                tokens, grown = tokens - saved, 0
    assert len(drained_at) <= 1 + sum(steps) // 33_400


def test_with_compaction_off_a_request_goes_out_until_the_blocking_limit() -> None:
    assert before(176_999, limits=NO_COMPACTION) is None
    assert code(before(177_000, limits=NO_COMPACTION)) is Code.BLOCKING_LIMIT


def test_after_three_failures_nothing_is_compacted_before_a_request_and_the_server_has_the_last_word() -> None:
    assert before(250_000, health=OFF) is None


def test_a_thrashing_history_stops_without_a_request_and_names_its_largest_message() -> None:
    decision = before(170_000, health=THRASHING, step=8)
    assert code(decision) is Code.COMPACTION_THRASH
    assert decision is not None
    assert "number 4 of 9" in decision.reason


@pytest.mark.parametrize(("cost_usd", "stopped"), [(0.99, False), (1.0, True), (7.0, True)])
def test_a_spent_budget_stops_before_the_next_request(cost_usd: float, *, stopped: bool) -> None:
    decision = before(1_000, limits=RecoveryLimits(max_cost_usd=1.0), cost_usd=cost_usd)
    assert code(decision) is (Code.BUDGET_EXHAUSTED if stopped else None)


@given(tokens=st.integers(0, 400_000), failures=st.integers(0, 5), step=st.integers(0, 9))
def test_with_compaction_off_no_history_is_ever_compacted(tokens: int, failures: int, step: int) -> None:
    decision = before(tokens, limits=NO_COMPACTION, health=CompactionHealth(failures=failures), step=step)
    assert not isinstance(decision, Compact)


# ── after tools ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("steps", "stopped"), [(1, False), (2, True), (3, True)])
def test_the_turn_ends_after_as_many_tool_rounds_as_were_allowed(steps: int, *, stopped: bool) -> None:
    decision = after_tools(replace(FRESH, steps=steps), RecoveryLimits(max_steps=2), interrupted=False)
    assert (decision is not None and decision.code is Code.MAX_TURNS) is stopped


def test_an_interruption_while_tools_ran_goes_before_every_limit() -> None:
    decision = after_tools(replace(FRESH, steps=9), RecoveryLimits(max_steps=2), interrupted=True)
    assert decision is not None
    assert decision.code is Code.ABORTED_TOOLS


# ── the summary ─────────────────────────────────────────────────────────────────────────────────


def summary(outcome: Outcome, state: TurnState = FRESH, limits: RecoveryLimits = LIMITS) -> Stop | Resend:
    decision = decide_summary(state, outcome, limits, ORDINARY)
    assert isinstance(decision, Stop | Resend)
    return decision


def test_a_whole_answer_is_the_summary() -> None:
    decision = summary(ANSWER)
    assert isinstance(decision, Stop)
    assert (decision.code, decision.keep) == (Code.COMPLETED, ANSWER.content)


@pytest.mark.parametrize(
    "useless",
    [reply(""), reply(" \n"), TOOLS, MALFORMED, reply("I cannot", "refusal"), reply("so far", "pause_turn")],
)
def test_an_empty_refused_or_calling_answer_is_no_summary(useless: Outcome) -> None:
    decision = summary(useless)
    assert isinstance(decision, Stop)
    assert decision.code is not Code.COMPLETED


def test_a_cut_summary_is_asked_for_again_with_more_room_and_never_continued() -> None:
    first = summary(CUT)
    assert isinstance(first, Resend)
    assert summary_cap(first.state, LIMITS, ORDINARY) == 64_000
    second = summary(CUT, first.state)
    assert isinstance(second, Stop)
    assert (second.code, second.keep) == (Code.MODEL_ERROR, ())


def test_a_summary_that_was_all_thinking_is_asked_for_with_less_effort_and_then_given_up() -> None:
    situation = replace(ORDINARY, thinks=True, takes_effort=True)
    first = decide_summary(FRESH, reply("", "max_tokens"), LIMITS, situation)
    assert isinstance(first, Resend)
    assert first.state.low_effort
    second = decide_summary(first.state, reply("", "max_tokens"), LIMITS, situation)
    assert isinstance(second, Stop)
    assert "all 64,000 output tokens" in second.reason


@given(cap=st.none() | st.integers(1, 100_000))
def test_a_summary_leaves_the_caps_of_the_turns_own_request_alone(cap: int | None) -> None:
    before = replace(FRESH, lowered_cap=cap, cut_at=7)
    after = summary(CUT, before).state
    assert (after.lowered_cap, after.cut_at) == (cap, 7)


def test_a_summary_is_retried_like_a_request_in_the_foreground_or_given_up() -> None:
    for kind in set(FaultKind) - {FaultKind.CANCELLED}:
        first = summary(fault(kind))
        alike = decide(FRESH, fault(kind), LIMITS, ORDINARY)
        assert isinstance(first, Resend) is isinstance(alike, Resend), kind
        assert isinstance(first, Resend) or first.code is not Code.COMPLETED, kind


def test_an_overloaded_summary_does_not_switch_the_model_and_leaves_the_fallbacks_alone() -> None:
    state = TurnState("primary", ("second",))
    for _ in range(10):
        state = resent(summary(OVERLOADED, state)).state
    ended = summary(OVERLOADED, state)
    assert isinstance(ended, Stop)
    assert (ended.state.model, ended.state.fallbacks) == ("primary", ("second",))


def test_the_request_after_a_summary_that_failed_has_retries_of_its_own() -> None:
    ended = summary(SERVER, replace(FRESH, retries=10, turn_retries=10))
    assert isinstance(ended, Stop)
    assert (ended.state.retries, ended.state.turn_retries) == (0, 10)


def test_a_summary_leaves_what_the_turn_has_used_up_as_it_is() -> None:
    used = replace(FRESH, turn_retries=4, waited_s=9.0, continuations=2, compacted=True, lowered_cap=64_000)
    assert summary(ANSWER, used).state == used


def test_an_interrupted_summary_ends_the_turn() -> None:
    assert summary(fault(FaultKind.CANCELLED)).code is Code.ABORTED_STREAMING


def test_a_long_wait_is_no_question_for_a_summary() -> None:
    hour = fault(FaultKind.RATE_LIMIT, retry_after_s=3_600.0)
    assert isinstance(summary(hour, limits=RecoveryLimits(interactive=True)), Stop)
