"""The tail of a text and its period: correct after each character, and found in time."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from harness.policies.loops.text_loops import TextTail

LONGEST, SIGN = 12, 3
TEXTS = st.one_of(
    st.text(alphabet="ab1 2", max_size=120),
    st.builds(
        lambda start, unit, copies, end: start + unit * copies + end,
        *(st.text(alphabet="abc12", max_size=12), st.text(alphabet="abc12", min_size=1, max_size=14)),
        *(st.integers(0, 9), st.text(alphabet="abc12", max_size=12)),
    ),
)


def folded(text: str) -> str:
    return "".join("0" if letter in "0123456789" else letter for letter in text)


def matching(text: str, lag: int) -> int:
    """How many characters at the end of `text` equal those `lag` positions earlier."""
    count = 0
    while count + lag < len(text) and text[-1 - count] == text[-1 - count - lag]:
        count += 1
    return count


@given(TEXTS)
def test_what_it_says_of_the_tail_is_true_at_every_character(text: str) -> None:
    tail = TextTail(longest=LONGEST, sign=SIGN)
    for end, letter in enumerate(text, start=1):
        tail.push(ord(letter))
        so_far = text[:end]
        assert tail.size == end
        assert so_far.endswith(tail.last(2 * LONGEST))
        if tail.lag:
            assert SIGN <= tail.matched <= matching(folded(so_far), tail.lag)
            assert tail.exact == min(tail.matched, matching(so_far, tail.lag))
        else:
            assert tail.matched == tail.exact == 0


@given(TEXTS)
def test_a_sign_that_stood_within_the_longest_period_is_never_overlooked(text: str) -> None:
    tail = TextTail(longest=LONGEST, sign=SIGN)
    for end, letter in enumerate(text, start=1):
        tail.push(ord(letter))
        seen = folded(text[:end])
        stood = [lag for lag in range(1, LONGEST + 1) if matching(seen, lag) >= SIGN]
        assert bool(tail.lag) == bool(stood)


@given(st.text(alphabet="abc", min_size=1, max_size=LONGEST), st.integers(3, 8))
def test_a_whole_cycle_is_followed_with_its_shortest_period(unit: str, copies: int) -> None:
    tail = TextTail(longest=LONGEST, sign=SIGN)
    text = unit * copies * SIGN
    for letter in text:
        tail.push(ord(letter))
    shortest = (unit + unit).index(unit, 1)
    assert tail.lag == shortest
    assert tail.matched >= len(text) - 2 * LONGEST - SIGN


def test_memory_does_not_grow_with_the_text() -> None:
    tail = TextTail(longest=128, sign=16)
    tracemalloc.start()
    try:
        for number in range(30_000):
            tail.push(97 + number * number % 8191 % 26)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 128 * 4 * 100
