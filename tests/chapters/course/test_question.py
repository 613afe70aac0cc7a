"""Questions in a lesson file."""

import tomllib

import pytest

from chapters.course.question import Question, question_in
from harness.practice.toml_table import ScriptError, Table

GOOD = """
about = "breaker"
question = { en = "Which state?", ja = "状態は?" }
answer = "closed"
because = { en = "One failure is not enough.", ja = "一度では開きません。" }
rule = "harness/policies/breakers/breaker.py:TRANSITIONS"
options = [{ value = "open", en = "open", ja = "開" }, { value = "closed", en = "closed", ja = "閉" }]
"""


def read(text: str) -> Question:
    return question_in(Table(tomllib.loads(text), "here"))


def test_a_question_has_its_options_in_order_and_its_answer() -> None:
    question = read(GOOD)
    assert [option.value for option in question.options] == ["open", "closed"]
    assert question.answer is question.options[1]
    assert (question.about, question.because.ja) == ("breaker", "一度では開きません。")
    assert question.rule.endswith(":TRANSITIONS")


@pytest.mark.parametrize(
    ("part", "instead", "error"),
    [
        ('about = "breaker"', "", "about is needed"),
        ('answer = "closed"', 'answer = "half-open"', "no option has the value of the answer, 'half-open'"),
        ('"open"', '"closed"', "same value"),
        (', ja = "閉"', "", "in en and in ja"),
        ('en = "closed", ', "", "in en and in ja"),
        ('value = "open", ', "", "value is needed"),
        ('about = "breaker"', 'about = "breaker"\nright = "open"', "right"),
    ],
)
def test_a_mistake_is_named(part: str, instead: str, error: str) -> None:
    with pytest.raises(ScriptError, match=error):
        read(GOOD.replace(part, instead, 1))


@pytest.mark.parametrize(("count", "accepted"), [(1, False), (2, True), (5, True), (6, False)])
def test_a_question_has_two_to_five_options(count: int, accepted: bool) -> None:
    options = ", ".join(f'{{ value = "{value}", en = "e", ja = "j" }}' for value in ("closed", *"abcde")[:count])
    text = f"{GOOD.partition('options')[0]}options = [{options}]"
    if accepted:
        assert len(read(text).options) == count
    else:
        with pytest.raises(ScriptError, match="2 to 5"):
            read(text)
