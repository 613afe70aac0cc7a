"""Questions in a lesson file, and what a prediction needs."""

import tomllib

import pytest

from chapters.course.prediction import PREDICTIONS, Past, Prediction, PredictionError
from chapters.course.question import question_in
from harness.practice.toml_table import ScriptError, Table

GOOD = """
about = "breaker"
question = { en = "Which state?", ja = "状態は?" }
options = [{ value = "open", en = "open", ja = "開" }, { value = "closed", en = "closed", ja = "閉" }]
"""


def test_a_question_has_its_options_in_order() -> None:
    question = question_in(Table(tomllib.loads(GOOD), "here"))
    assert (question.about, [option.value for option in question.options]) == ("breaker", ["open", "closed"])


@pytest.mark.parametrize(
    ("part", "instead", "said"),
    [
        ('"breaker"', '"weather"', "about"),
        ('"closed"', '"open"', "same value"),
        (', ja = "閉"', "", "in en and in ja"),
        (', { value = "closed", en = "closed", ja = "閉" }', "", "2 to 5"),
        ('about = "breaker"', 'about = "breaker"\nright = "open"', "right"),
    ],
)
def test_a_mistake_is_named(part: str, instead: str, said: str) -> None:
    with pytest.raises(ScriptError, match=said):
        question_in(Table(tomllib.loads(GOOD.replace(part, instead)), "here"))


@pytest.mark.parametrize("about", PREDICTIONS)
def test_without_an_input_there_is_no_prediction(about: str) -> None:
    with pytest.raises(PredictionError):
        PREDICTIONS[about](Past("s21_circuit_breakers", ()))


def test_a_band_is_right_when_it_contains_the_whole_wait() -> None:
    wait = Prediction("0.5-0.625", "", "", (0.5, 0.625))
    assert [wait.fits(band) for band in ("0-0.6", "0.5-0.7", "0.6-1", "0-60")] == [False, True, False, True]
