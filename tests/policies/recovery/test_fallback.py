"""Other models, and long waits."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import FaultKind, Outcome, TransitionCode
from harness.policies.recovery import OfferWait, RecoveryLimits, Resend, Stop, SwitchModel, TurnState, decide
from tests.policies.recovery.cases import (
    ANSWER,
    CALL,
    CUT,
    FRESH,
    ORDINARY,
    OVERLOADED,
    SERVER,
    TOOLS,
    after_text,
    fault,
    for_ever,
    overloaded_before,
    play,
    resent,
    text,
    use,
)
from tests.whole import WHOLE

Code = TransitionCode
ONE = TurnState("primary", ("second",))
THREE = TurnState("primary", ("second", "third", "fourth"))
INSIDE = replace(OVERLOADED, streamed=True)
HOUR = fault(FaultKind.RATE_LIMIT, status=429, retry_after_s=3_600.0)
HEADLESS = RecoveryLimits()
WITH_A_PERSON = RecoveryLimits(interactive=True)
UNSENT = replace(OVERLOADED, unsent=True, message="another session found primary overloaded")


def test_a_request_that_was_held_back_is_no_failure_of_the_model() -> None:
    decision = decide(ONE, UNSENT, HEADLESS, ORDINARY)
    assert isinstance(decision, SwitchModel)
    assert (decision.to_model, decision.reason) == ("second", UNSENT.message)
    assert decision.state.endpoints.of("primary") == ONE.endpoints.of("primary")
    assert (decision.state.retries, decision.state.turn_retries) == (0, 0)
    alone = decide(TurnState("primary"), UNSENT, HEADLESS, ORDINARY)
    assert isinstance(alone, Stop)
    assert "gave up after 300 s of waiting" in alone.reason


def test_a_long_retry_after_of_another_session_is_offered_as_an_own_one() -> None:
    told = replace(HOUR, unsent=True)
    assert isinstance(decide(ONE, told, WITH_A_PERSON, ORDINARY), OfferWait)
    assert isinstance(decide(ONE, told, HEADLESS, ORDINARY), Stop)


@pytest.mark.parametrize(
    "inside",
    [INSIDE, after_text(INSIDE), replace(INSIDE, kept=(use(CALL),), calls=(CALL,))],
    ids=["before any block", "behind whole text", "behind a whole call"],
)
def test_an_overload_inside_a_stream_counts_like_any_other(inside: Outcome) -> None:
    played = play([inside, OVERLOADED, OVERLOADED, ANSWER], state=ONE)
    assert played.models == ("primary", "primary", "primary", "second")


def test_no_other_kind_of_fault_ever_switches() -> None:
    switching = {kind for kind in FaultKind if play(for_ever(fault(kind)), state=THREE).switches}
    assert switching == {FaultKind.OVERLOADED, FaultKind.REFUSAL}


@given(outcomes=st.lists(st.sampled_from([OVERLOADED, INSIDE, after_text(INSIDE), SERVER, TOOLS, CUT]), max_size=40))
def test_a_switch_comes_exactly_at_every_third_overload_in_a_row(outcomes: list[Outcome]) -> None:
    limits = RecoveryLimits(retries_per_request=99, retries_per_turn=99, waiting_per_turn_s=1e9, continuations=99)
    played = play(outcomes, state=THREE, limits=limits)
    row, left, expected = 0, ["second", "third", "fourth"], []
    for outcome in outcomes[: played.posts]:
        row = row + 1 if getattr(outcome, "kind", None) is FaultKind.OVERLOADED else 0
        if row >= 3 and left:
            expected.append(left.pop(0))
            row = 0
    assert played.switches == expected


# ── tried again ─────────────────────────────────────────────────────────────────

BEHIND_A_CALL = replace(INSIDE, kept=(use(CALL),), calls=(CALL,))
"""The reply counts, and the turn continues with the call on the same model."""


@given(
    before=st.sets(st.sampled_from(["primary", "second", "third"])),
    outcomes=st.lists(
        st.tuples(
            st.sampled_from([OVERLOADED, OVERLOADED, INSIDE, BEHIND_A_CALL, SERVER, TOOLS]),
            st.sampled_from([0.0, 1.0, 59.0, 60.0]),
        ),
        max_size=30,
    ),
)
@settings(max_examples=300 if WHOLE else 100)
def test_a_model_that_is_tried_again_is_left_after_one_overload_and_another_after_three(
    before: set[str], outcomes: list[tuple[Outcome, float]]
) -> None:
    limits = RecoveryLimits(retries_per_request=99, retries_per_turn=99, waiting_per_turn_s=1e9)
    state = replace(THREE, endpoints=overloaded_before(before))
    model, left, now, row = "primary", ["second", "third", "fourth"], 0.0, 0
    not_answered, overloaded_at = set(before), math.inf
    for outcome, later in outcomes:
        now += later
        tried_again = model in not_answered or now >= overloaded_at + 60
        row = row + 1 if getattr(outcome, "kind", None) is FaultKind.OVERLOADED else 0
        if row >= 3:
            overloaded_at = min(overloaded_at, now)
        if outcome is TOOLS:
            not_answered.discard(model)
            overloaded_at = math.inf
        if row >= (1 if tried_again else 3) and left and outcome is not BEHIND_A_CALL:
            model, row, overloaded_at = left.pop(0), 0, math.inf
        state = decide(state, outcome, limits, replace(ORDINARY, now=now)).state
        assert (state.model, list(state.fallbacks)) == (model, left)


# ── long waits ──────────────────────────────────────────────────────────────────────────────────


def test_a_user_is_asked_about_a_long_wait_and_nothing_is_slept() -> None:
    decision = decide(ONE, HOUR, WITH_A_PERSON, ORDINARY)
    assert isinstance(decision, OfferWait)
    assert decision.wait.seconds == 3_600
    assert decision.can_switch
    assert decision.code is None
    assert decision.otherwise.code is Code.API_ERROR


def test_another_model_is_offered_only_while_there_is_one() -> None:
    decision = decide(FRESH, HOUR, WITH_A_PERSON, ORDINARY)
    assert isinstance(decision, OfferWait)
    assert not decision.can_switch


def test_a_user_is_not_asked_without_end() -> None:
    assert play(for_ever(HOUR), limits=WITH_A_PERSON).end is Code.API_ERROR


def test_without_a_user_a_long_wait_ends_the_turn_and_names_the_option_that_allows_it() -> None:
    played = play([HOUR], limits=HEADLESS)
    assert played.end is Code.API_ERROR
    assert "--max-wait 3600" in played.last.reason


@pytest.mark.parametrize(("max_wait_s", "slept"), [(3_599.0, False), (3_600.0, True), (86_400.0, True)])
def test_without_a_user_a_long_wait_is_slept_when_it_was_allowed(max_wait_s: float, *, slept: bool) -> None:
    decision = decide(FRESH, HOUR, RecoveryLimits(max_wait_s=max_wait_s), ORDINARY)
    assert isinstance(decision, Resend if slept else Stop)


@pytest.mark.parametrize(("seconds", "offered"), [(60.0, False), (60.1, True)])
def test_sixty_seconds_is_where_a_wait_becomes_long(seconds: float, *, offered: bool) -> None:
    decision = decide(FRESH, replace(HOUR, retry_after_s=seconds), WITH_A_PERSON, ORDINARY)
    assert isinstance(decision, OfferWait) is offered


def test_a_long_wait_that_was_allowed_does_not_use_up_the_waiting_of_the_turn() -> None:
    decision = resent(decide(FRESH, HOUR, RecoveryLimits(max_wait_s=3_600), ORDINARY))
    assert decision.state.waited_s == 0
    assert decision.state.turn_retries == 1


def test_stopping_instead_of_a_long_wait_keeps_the_text_that_had_come() -> None:
    decision = decide(FRESH, after_text(HOUR), WITH_A_PERSON, ORDINARY)
    assert isinstance(decision, OfferWait)
    assert decision.otherwise.keep == (text("a whole block"),)
