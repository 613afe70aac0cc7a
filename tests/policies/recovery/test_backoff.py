"""How long to wait."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.policies.recovery.backoff import delay_s, floor_s

WRITTEN_OUT = [0.5, 1, 2, 4, 8, 16, 32, 32, 32, 32, 32, 32]
"""Seconds before retry 1, 2, 3 ... as the requirement says them."""

retries = st.integers(1, 10_000)
chances = st.floats(0, 1, exclude_max=True)
wishes = st.none() | st.floats(-1e9, 1e9)


@pytest.mark.parametrize(("retry", "seconds"), enumerate(WRITTEN_OUT, start=1))
def test_the_backoff_doubles_from_half_a_second_to_thirty_two(retry: int, seconds: float) -> None:
    assert floor_s(retry) == seconds


@given(retry=retries, seed=st.integers())
def test_the_wait_lies_between_the_backoff_and_a_quarter_more_for_every_seed(retry: int, seed: int) -> None:
    backoff = WRITTEN_OUT[min(retry, len(WRITTEN_OUT)) - 1]
    assert backoff <= delay_s(retry, None, random.Random(seed).random()) <= 1.25 * backoff


@given(retry=retries, wish=wishes, chance=chances)
def test_the_server_can_lengthen_the_wait_and_never_shorten_it(retry: int, wish: float | None, chance: float) -> None:
    alone = delay_s(retry, None, chance)
    assert delay_s(retry, wish, chance) == (alone if wish is None or wish < alone else wish)


@pytest.mark.parametrize("retry", [0, -1])
def test_retries_count_from_one(retry: int) -> None:
    with pytest.raises(ValueError, match="count from 1"):
        floor_s(retry)
