"""One breaker: the events of each state and their transitions."""

from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import BreakerState, ChangeReason
from harness.policies.breakers.breaker import Breaker, BreakerLimits

CLOSED, OPEN, HALF_OPEN = BreakerState
LIMITS = BreakerLimits(threshold=3, pauses=(3,), lease=4)
SECONDS = BreakerLimits(threshold=1, pauses=(60, 120, 240, 300), lease=30)

NEW = Breaker()
TWICE = Breaker(failures=2)
OPENED = TWICE.failed(10, LIMITS)
PROBED = OPENED.probing(13, LIMITS)
ISOLATED = OPENED.isolate(11)

Move = Callable[[Breaker], Breaker]
FAIL: Move = lambda one: one.failed(20, LIMITS)  # noqa: E731 (one line each, as in a table)
SUCCEED: Move = Breaker.succeeded
PROBE: Move = lambda one: one.probing(20, LIMITS)  # noqa: E731
LOSE: Move = lambda one: one.lost(20)  # noqa: E731
HAND_BACK: Move = lambda one: one.released(20)  # noqa: E731
TRIP: Move = lambda one: one.tripped(20, LIMITS)  # noqa: E731
ISOLATE: Move = lambda one: one.isolate(20)  # noqa: E731
RELEASE: Move = lambda one: one.release(20)  # noqa: E731
RESET: Move = Breaker.reset
MOVES = (FAIL, SUCCEED, PROBE, LOSE, HAND_BACK, TRIP, ISOLATE, RELEASE, RESET)

# Where it stands and what happens: where it stands then, how many failures in a row, how much older it is, and when
# its probe is due.
HAPPENS: list[tuple[Breaker, Move, BreakerState, int, int, float | None]] = [
    (NEW, FAIL, CLOSED, 1, 0, None),
    (NEW, SUCCEED, CLOSED, 0, 0, None),
    (TWICE, SUCCEED, CLOSED, 0, 0, None),
    (TWICE, FAIL, OPEN, 3, 1, 23),
    (OPENED, PROBE, HALF_OPEN, 3, 1, None),
    (PROBED, SUCCEED, CLOSED, 0, 1, None),
    (PROBED, FAIL, OPEN, 4, 1, 23),
    (PROBED, LOSE, OPEN, 3, 1, 20),
    (PROBED, HAND_BACK, OPEN, 3, 1, 20),
    (NEW, TRIP, OPEN, 0, 1, 23),
    (OPENED, TRIP, OPEN, 3, 1, 23),
    (PROBED, TRIP, OPEN, 3, 1, 23),
    (ISOLATED, TRIP, OPEN, 3, 1, 23),
    (NEW, ISOLATE, OPEN, 0, 1, None),
    (OPENED, ISOLATE, OPEN, 3, 1, None),
    (PROBED, ISOLATE, OPEN, 3, 1, None),
    (ISOLATED, RELEASE, OPEN, 3, 1, 20),
    (NEW, RELEASE, CLOSED, 0, 0, None),
    (OPENED, RELEASE, OPEN, 3, 0, 13),
    (TWICE, RESET, CLOSED, 0, 1, None),
    (OPENED, RESET, CLOSED, 0, 1, None),
    (PROBED, RESET, CLOSED, 0, 1, None),
    (ISOLATED, RESET, CLOSED, 0, 1, None),
]
IMPOSSIBLE = [
    *((one, move) for one in (NEW, TWICE) for move in (PROBE, LOSE, HAND_BACK)),
    *((one, move) for one in (OPENED, ISOLATED) for move in (FAIL, LOSE, HAND_BACK)),
    (PROBED, PROBE),
    (ISOLATED, PROBE),
]


@pytest.mark.parametrize(("before", "move", "state", "failures", "older", "due"), HAPPENS)
def test_what_happens_makes_another_breaker(
    before: Breaker, move: Move, state: BreakerState, failures: int, older: int, due: float | None
) -> None:
    after = move(before)
    assert (after.state, after.failures, after.due) == (state, failures, due)
    assert after.generation == before.generation + older


@pytest.mark.parametrize(("before", "move"), IMPOSSIBLE)
def test_what_cannot_happen_raises(before: Breaker, move: Move) -> None:
    with pytest.raises(KeyError):
        move(before)


def test_a_success_without_failures_before_it_changes_nothing_at_all() -> None:
    assert NEW.succeeded() is NEW
    assert OPENED.release(12) is OPENED


def test_pauses_grow_with_each_failed_probe_and_begin_anew_once_it_was_closed() -> None:
    breaker, now, pauses = NEW, 0.0, []
    for _ in range(6):
        breaker = breaker.failed(now, SECONDS)
        assert breaker.due is not None
        pauses.append(breaker.due - now)
        now = breaker.due
        breaker = breaker.probing(now, SECONDS)
    assert pauses == [60, 120, 240, 300, 300, 300]
    assert breaker.succeeded().failed(now, SECONDS).due == now + 60
    assert breaker.reset().failed(now, SECONDS).due == now + 60


def test_a_lost_probe_does_not_make_the_pause_longer() -> None:
    breaker = NEW.failed(0, SECONDS).probing(60, SECONDS).lost(90)
    assert breaker.due == 90
    assert breaker.probing(90, SECONDS).failed(100, SECONDS).due == 220


def test_a_probe_is_due_from_its_moment_on_and_never_while_isolated() -> None:
    assert [OPENED.probe_due(now) for now in (10, 12, 13, 1_000)] == [False, False, True, True]
    assert not any(one.probe_due(1_000) for one in (NEW, TWICE, PROBED, ISOLATED))
    assert [one.isolated for one in (NEW, OPENED, PROBED, ISOLATED, ISOLATED.release(12))] == [False] * 3 + [
        True,
        False,
    ]


def test_a_probe_is_lost_when_its_lease_is_over() -> None:
    assert [PROBED.lease_over(now) for now in (13, 16, 17, 1_000)] == [False, False, True, True]
    assert not OPENED.lease_over(1_000)
    assert not PROBED.lost(17).lease_over(1_000)


@given(moves=st.lists(st.sampled_from(MOVES), max_size=40))
def test_whatever_happens_the_parts_of_a_breaker_fit_together(moves: list[Move]) -> None:
    """An isolated breaker stays so but for a user; generations only rise, and by one for each change of state."""
    history = [NEW]
    for move in moves:
        with suppress(KeyError):
            history.append(move(history[-1]))
    for before, after in pairwise(history):
        assert after.generation - before.generation in (0, 1)
        if before.state is not after.state:
            assert after.generation == before.generation + 1
        if before.isolated and not after.isolated:
            assert after.why in (ChangeReason.RELEASED, ChangeReason.RESET, ChangeReason.TRIPPED)
    for one in history:
        assert (one.due is not None) == (one.state is OPEN and not one.isolated)
        assert one.state is not CLOSED or (one.openings == 0 and one.failures < LIMITS.threshold)
