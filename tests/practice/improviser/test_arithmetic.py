"""Sums are right, and never dangerous."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.practice.improviser.arithmetic import expression_in, value_of

numbers = st.integers(-99, 99).map(lambda n: f"({n})" if n < 0 else str(n))
expressions = st.recursive(
    numbers,
    lambda inner: st.tuples(inner, st.sampled_from("+-*/%"), inner).map(
        lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
    ),
    max_leaves=6,
)


@given(expressions)
def test_the_value_is_that_of_python(expression: str) -> None:
    try:
        expected = eval(expression)
    except ZeroDivisionError:
        expected = None
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("what is 2 + 3 * 4?", 14),
        ("what's 7 times 6", 42),
        ("how much is 1,000 + 1?", 1001),
        ("calculate (2+3)*4", 20),
        ("2^10", 1024),
        ("3 足す 4 は？", 7),
        ("12÷4は？", 3),
    ],
)
def test_an_expression_is_found_in_a_sentence(text: str, value: int) -> None:
    expression = expression_in(text)
    assert expression is not None
    assert value_of(expression) == value


@pytest.mark.parametrize(
    "expression", ["9**9**9", "1/0", "__import__('os')", "2 +", "1e999 - 1e999", "(" * 500, "10 ** 400"]
)
def test_what_cannot_be_worked_out_has_no_value(expression: str) -> None:
    assert value_of(expression) is None


def test_a_sentence_without_a_sum_has_none() -> None:
    assert expression_in("read a.txt 2 times") is None
