"""How many output tokens are asked for."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.policies.recovery import RecoveryLimits, Situation, TurnState
from harness.policies.recovery.cut_replies import (
    FLOOR,
    MARGIN,
    SUMMARY_CAP,
    cap_for,
    lowered,
    raised,
    summary_limits,
)
from tests.policies.recovery.cases import FRESH, LIMITS, ORDINARY

tokens = st.integers(0, 2_000_000)
situations = st.builds(
    Situation,
    chance=st.just(0.0),
    window=st.integers(1_000, 2_000_000),
    max_output=st.integers(1, 200_000),
    prompt_tokens=tokens,
    thinks=st.booleans(),
)
caps = st.none() | st.integers(1, 300_000)
limits = st.builds(
    RecoveryLimits, user_cap=caps, default_cap=st.integers(1, 100_000), raised_cap=st.integers(1, 200_000)
)
states = st.builds(
    lambda cap, lowered: replace(FRESH if cap is None else FRESH.raised_to(cap), lowered_cap=lowered), caps, caps
)


@given(state=states, limits=limits, situation=situations)
def test_no_cap_is_above_the_models_maximum_or_below_one(
    state: TurnState, limits: RecoveryLimits, situation: Situation
) -> None:
    assert 1 <= cap_for(state, limits, situation) <= situation.max_output


@given(state=states, limits=limits, situation=situations)
def test_no_cap_reaches_past_the_window_unless_it_is_the_floor(
    state: TurnState, limits: RecoveryLimits, situation: Situation
) -> None:
    cap = cap_for(state, limits, situation)
    assert cap <= FLOOR or situation.prompt_tokens + cap + MARGIN <= situation.window


@given(limits=limits, situation=situations)
def test_with_room_enough_the_cap_is_the_one_that_is_set(limits: RecoveryLimits, situation: Situation) -> None:
    roomy = replace(situation, window=20_000_000, max_output=10_000_000)
    first = 10_000_000 if situation.thinks else limits.default_cap
    assert cap_for(FRESH, limits, roomy) == (limits.user_cap or first)


@given(state=states, limits=limits, situation=situations, to_maximum=st.booleans())
def test_a_raised_cap_is_larger_and_is_not_raised_again(
    state: TurnState, limits: RecoveryLimits, situation: Situation, *, to_maximum: bool
) -> None:
    larger = raised(state, limits, situation, to_maximum=to_maximum)
    if larger is not None:
        assert limits.user_cap is None
        assert state.lowered_cap is None
        assert larger <= (situation.max_output if to_maximum else limits.raised_cap)
        after = state.raised_to(larger)
        assert cap_for(state, limits, situation) < cap_for(after, limits, situation) <= larger
        assert raised(after, limits, situation, to_maximum=to_maximum) is None


@given(state=states, limits=limits, situation=situations)
def test_a_raise_is_kept_for_the_model_that_needed_it_and_for_no_other(
    state: TurnState, limits: RecoveryLimits, situation: Situation
) -> None:
    larger = raised(state, limits, situation)
    if larger is not None:
        after = replace(state.raised_to(larger).after_good_reply(10), continuations=0)
        assert cap_for(after, limits, situation) > cap_for(state, limits, situation)
        other = replace(after, model="another")
        assert cap_for(other, limits, situation) == cap_for(replace(state, model="another"), limits, situation)


@given(limits=limits, situation=situations)
def test_a_summary_is_asked_for_with_no_less_than_a_turn(limits: RecoveryLimits, situation: Situation) -> None:
    own = cap_for(FRESH, summary_limits(limits), situation)
    assert own >= cap_for(FRESH, limits, situation)
    assert own >= min(SUMMARY_CAP, situation.max_output, max(FLOOR, situation.window - situation.prompt_tokens - 1_000))


@given(current=tokens, input_tokens=st.none() | tokens, limit=st.none() | tokens)
def test_a_lowered_cap_is_smaller_fits_the_limit_and_is_worth_asking_for(
    current: int, input_tokens: int | None, limit: int | None
) -> None:
    smaller = lowered(current, input_tokens, limit)
    if smaller is None:
        return
    assert limit is not None
    assert 1 <= smaller < current
    assert (input_tokens or 0) + smaller <= limit
    assert input_tokens is None or smaller >= FLOOR


@given(input_tokens=tokens, limit=tokens, current=tokens)
def test_a_cap_is_lowered_to_the_limit_less_the_prompt_and_a_thousand(
    input_tokens: int, limit: int, current: int
) -> None:
    expected = limit - input_tokens - 1_000
    assert lowered(current, input_tokens, limit) == (expected if 3_000 <= expected < current else None)


def test_a_full_window_still_asks_for_the_floor() -> None:
    assert cap_for(FRESH, LIMITS, replace(ORDINARY, prompt_tokens=199_900)) == FLOOR
