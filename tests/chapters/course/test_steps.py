"""Where the steps of a lesson are in its run."""

from itertools import combinations
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from chapters.course import LessonStep, LocalizedText
from chapters.course.recording import Moment, StepFinder
from harness.events import Notice, StepStarted, TextDelta

SAY = LocalizedText("said", "said")


def on_agent_step(number: int) -> LessonStep:
    return LessonStep("StepStarted", MappingProxyType({"step": number}), SAY, "harness/agent.py")


def found(wanted: list[int], numbers: list[int]) -> list[int]:
    """Indices in `numbers` at which a finder finds the wanted steps."""
    finder = StepFinder([on_agent_step(number) for number in wanted])
    for index, number in enumerate(numbers):
        finder.add(Moment(index, 0.0, StepStarted(number)))
    return [one.moment.number for one in finder.found if one.moment.number is not None]


def naive(wanted: list[int], numbers: list[int]) -> list[int]:
    """The earliest of all ways to find as many as possible, by trying every choice of indices."""
    for length in range(min(len(wanted), len(numbers)), 0, -1):
        for places in combinations(range(len(numbers)), length):
            if [numbers[place] for place in places] == wanted[:length]:
                return list(places)
    return []


@given(st.lists(st.integers(0, 2), max_size=4), st.lists(st.integers(0, 2), max_size=8))
def test_steps_are_the_earliest_matching_facts_in_order(wanted: list[int], numbers: list[int]) -> None:
    assert found(wanted, numbers) == naive(wanted, numbers)


def test_the_missing_step_is_named() -> None:
    finder = StepFinder([on_agent_step(1), on_agent_step(2)])
    finder.add(Moment(0, 0.0, StepStarted(1)))
    assert str(finder.missing) == "StepStarted step=2"
    finder.add(Moment(1, 0.0, StepStarted(2)))
    assert finder.missing is None


def test_transient_events_are_no_steps() -> None:
    finder = StepFinder([LessonStep("Notice", MappingProxyType({}), SAY, "harness/agent.py")])
    assert finder.add(Moment(None, 0.0, TextDelta("a"))) is None
    assert finder.add(Moment(None, 0.0, Notice("info", "a"))) is None
    assert finder.add(Moment(0, 0.0, Notice("info", "a"))) is not None
