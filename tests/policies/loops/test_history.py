"""The history keeps the last observations and says how many it dropped (B2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.policies.loops.history import History
from tests.policies.loops.building import visit


@given(st.integers(1, 20), st.integers(0, 60), st.integers(-1, 70))
def test_it_keeps_the_last_ones_in_order(capacity: int, count: int, wanted: int) -> None:
    history, visits = History(capacity), [visit(f"n{number}") for number in range(count)]
    for one in visits:
        history.record(one)
    kept = visits[-capacity:]
    assert list(history) == kept
    assert len(history) == len(kept)
    assert history.dropped == count - len(kept)
    assert list(history.last(wanted)) == (kept[-wanted:] if wanted > 0 else [])


def test_it_can_be_cleared() -> None:
    history = History(2)
    for number in range(5):
        history.record(visit(f"n{number}"))
    history.clear()
    assert (list(history), history.dropped) == ([], 0)


def test_a_history_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity must be at least 1, not 0"):
        History(0)
