"""Model breakers: the shared breaker class with distances in seconds."""

from hypothesis import given
from hypothesis import strategies as st

from harness.events import BreakerState, ChangeReason
from harness.policies.recovery import RecoveryLimits
from harness.policies.recovery.state import Endpoints

LIMITS = RecoveryLimits().endpoint
MODEL = "a-model"


def overloaded(endpoints: Endpoints, times: int, now: float = 0.0) -> Endpoints:
    """The model was overloaded so often in a row."""
    for _ in range(times):
        endpoints = endpoints.overloaded(MODEL, now, LIMITS)
    return endpoints


def test_the_pauses_double_up_to_five_minutes() -> None:
    assert [LIMITS.pause(opening) for opening in range(1, 7)] == [60, 120, 240, 300, 300, 300]


def test_three_overloads_in_a_row_open_it_for_a_minute() -> None:
    breaker = overloaded(Endpoints(), 3, now=1_000.0).of(MODEL)
    assert (breaker.state, breaker.due, breaker.why) == (BreakerState.OPEN, 1_060.0, ChangeReason.THRESHOLD)
    assert overloaded(Endpoints(), 2).of(MODEL).state is BreakerState.CLOSED


def test_another_fault_breaks_the_row_and_only_an_answer_closes() -> None:
    row = overloaded(overloaded(Endpoints(), 2).disturbed(MODEL, 0.0), 2)
    assert row.of(MODEL).state is BreakerState.CLOSED
    opened = overloaded(row, 1)
    assert opened.disturbed(MODEL, 5.0).of(MODEL).state is BreakerState.OPEN
    assert opened.answered(MODEL, 5.0, LIMITS).of(MODEL).state is BreakerState.CLOSED


def test_a_turn_gives_an_open_one_its_attempt_before_its_pause_is_over() -> None:
    turned = overloaded(Endpoints(), 3).turned_to(MODEL, 1.0, LIMITS)
    assert turned.of(MODEL).state is BreakerState.HALF_OPEN
    again = turned.overloaded(MODEL, 2.0, LIMITS).of(MODEL)
    assert (again.state, again.due, again.why) == (BreakerState.OPEN, 122.0, ChangeReason.PROBE_FAILED)
    assert turned.answered(MODEL, 2.0, LIMITS).of(MODEL).state is BreakerState.CLOSED


@given(st.lists(st.tuples(st.sampled_from(["overloaded", "disturbed", "answered", "turned_to"]), st.integers(0, 400))))
def test_the_row_and_the_state_are_those_of_a_naive_count(history: list[tuple[str, int]]) -> None:
    endpoints, now, row, is_open = Endpoints(), 0.0, 0, False
    for what, later in history:
        now += later
        match what:
            case "overloaded":
                endpoints = endpoints.overloaded(MODEL, now, LIMITS)
                row += 1
                is_open = is_open or row >= 3
            case "disturbed":
                endpoints, row = endpoints.disturbed(MODEL, now), 0
            case "answered":
                endpoints, row, is_open = endpoints.answered(MODEL, now, LIMITS), 0, False
            case _:
                endpoints = endpoints.turned_to(MODEL, now, LIMITS)
                row = row if is_open else 0
        breaker = endpoints.of(MODEL)
        assert (breaker.state is not BreakerState.CLOSED) == is_open
        assert breaker.failures == row
