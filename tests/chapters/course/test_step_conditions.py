"""Conditions of steps: what makes a sentence false."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.course import LessonError, WireExchange
from chapters.course.lesson import load_lesson
from chapters.course.step_conditions import Condition, Scene, failures
from harness.events import Json, StepStarted
from tests.chapters.course.test_lesson import WHOLE, written

ENDED = '[[steps]]\non = "Transition"\nsay = { en = "a", ja = "b" }\ncode = "harness/agent.py"\nneeds = [{ %s }]\n'


def exchange(number: int, sent: Json) -> WireExchange:
    return WireExchange(number, "m", 100, 1, 1, "200", "end_turn", "", "", sent, ())


SENT: Json = {
    "system": [{"type": "text", "text": "Run make check.", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "read_file"}, {"name": "agent"}],
    "messages": [
        {"role": "user", "content": "Read it."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "read_file", "input": {"path": "x"}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "content": "no such file", "is_error": True}],
        },
    ],
}
SCENE = Scene(
    (StepStarted(1), exchange(1, {}), StepStarted(4), exchange(2, SENT), StepStarted(2)), (), "text of {}".format
)
HOLD = [
    ("step", "is", 2),
    ("request.last", "same_as", "last:WireExchange.last"),
    ("request.system", "has", "make check"),
    ("request.system", "lacks", "make test"),
    ("request.offered", "has", "agent"),
    ("request.offered", "lacks", "tas"),
    ("request.history", "has", '"path": "x"'),
    ("request.last", "is", "no such file"),
    ("request.results", "is", 1),
    ("request.failed_results", "at_least", 1),
    ("request.breakpoints", "is", 1),
    ("request.number", "same_as", "step"),
    ("count:StepStarted", "is", 3),
    ("count:StepStarted.step=4", "is", 1),
    ("most:StepStarted.step", "at_most", 4),
    ("last:WireExchange.number", "above", "count:TurnEnded"),
    ("file:notes.txt", "has", "notes.txt"),
]


@pytest.mark.parametrize(("of", "test", "wanted"), HOLD)
def test_a_condition_holds_and_its_opposite_does_not(of: str, test: str, wanted: object) -> None:
    opposite = {"has": "lacks", "lacks": "has", "same_as": "not_as", "above": "below"}
    assert Condition(of, test, wanted).failure(SCENE) is None
    if test in opposite:
        assert Condition(of, opposite[test], wanted).failure(SCENE) is not None
    else:
        assert Condition(of, "is", "another").failure(SCENE) is not None


def test_a_value_of_an_earlier_step_is_that_of_its_own_moment() -> None:
    scene = Scene((*SCENE.facts, exchange(3, {}), StepStarted(9)), (SCENE,))
    assert failures([Condition("steps.1.request.number", "below", "request.number")], scene) == ()
    assert failures([Condition("steps.1.count:StepStarted", "below", "count:StepStarted")], scene) == ()
    [failed] = failures([Condition("steps.1.step", "same_as", "step")], scene)
    assert failed == "steps.1.step same as step; they are 2 and 9"


@pytest.mark.parametrize("test", ["has", "lacks", "at_least", "at_most", "below", "above", "same_as", "not_as"])
def test_a_missing_value_fulfils_no_condition(test: str) -> None:
    """Otherwise a condition would hold in a run without requests."""
    condition = Condition("request.number", test, "request.tools" if test in ("below", "above") else 1)
    [failed] = failures([condition], Scene((StepStarted(1),)))
    assert "missing" in failed


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.integers(0, 9))
def test_counts_and_largest_values_are_those_of_a_list(numbers: list[int], wanted: int) -> None:
    scene = Scene(tuple(StepStarted(number) for number in numbers))
    assert scene.value("count:StepStarted") == len(numbers)
    assert scene.value("most:StepStarted.step") == max(numbers)
    assert scene.value("last:StepStarted.step") == numbers[-1]
    assert (Condition("step", "at_least", wanted).failure(scene) is None) == (numbers[-1] >= wanted)
    assert (Condition("step", "at_most", wanted).failure(scene) is None) == (numbers[-1] <= wanted)


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ('of = "reasin", is = 1', "Transition has no 'reasin'"),
        ('of = "request.sytem", has = "a"', "WireExchange has no 'sytem'"),
        ('of = "count:StepsStarted", is = 1', "there is no event 'StepsStarted'"),
        ('of = "files:a", is = ""', "is not a value"),
        ('of = "steps.2.reason", is = ""', "is not a value of an earlier step"),
        ('of = "step", below = "nothing"', "Transition has no 'nothing'"),
        ('of = "step", is = 1, has = 2', "one of is, has"),
        ('of = "step", si = 1', "one of is, has"),
    ],
)
def test_a_condition_over_something_unknown_is_an_error_of_the_file(tmp_path: Path, condition: str, told: str) -> None:
    with pytest.raises(LessonError, match=r"s01_loop/lesson\.toml") as caught:
        load_lesson(written(tmp_path, f"{WHOLE}\n{ENDED % condition}"))
    assert told in str(caught.value)
