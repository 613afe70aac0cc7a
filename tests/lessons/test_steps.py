"""Where the beats of a lesson are in its run."""

from itertools import combinations
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from harness.events import Notice, StepStarted, TextDelta
from harness.lessons import Beat, Text
from harness.lessons.steps import BeatFinder, Moment

SAY = Text("said", "said")


def beat(step: int) -> Beat:
    return Beat("StepStarted", MappingProxyType({"step": step}), SAY, None)


def found(beats: list[int], steps: list[int]) -> list[int]:
    """The places at which a finder finds these beats in these steps."""
    finder = BeatFinder([beat(step) for step in beats])
    for number, step in enumerate(steps):
        finder.take(Moment(number, 0.0, StepStarted(step)))
    return [one.moment.number for one in finder.found if one.moment.number is not None]


def naive(beats: list[int], steps: list[int]) -> list[int]:
    """Of all ways to find as many as possible, the earliest: by trying every choice of places."""
    for length in range(min(len(beats), len(steps)), 0, -1):
        for places in combinations(range(len(steps)), length):
            if [steps[place] for place in places] == beats[:length]:
                return list(places)
    return []


@given(st.lists(st.integers(0, 2), max_size=4), st.lists(st.integers(0, 2), max_size=8))
def test_beats_are_the_earliest_facts_that_fit_in_their_order(beats: list[int], steps: list[int]) -> None:
    assert found(beats, steps) == naive(beats, steps)


def test_the_beat_that_is_waited_for_is_named() -> None:
    finder = BeatFinder([beat(1), beat(2)])
    finder.take(Moment(0, 0.0, StepStarted(1)))
    assert str(finder.missing) == "StepStarted step=2"
    finder.take(Moment(1, 0.0, StepStarted(2)))
    assert finder.missing is None


def test_what_is_not_kept_is_no_beat() -> None:
    finder = BeatFinder([Beat("Notice", MappingProxyType({}), SAY, None)])
    assert finder.take(Moment(None, 0.0, TextDelta("a"))) is None
    assert finder.take(Moment(None, 0.0, Notice("info", "a"))) is None
    assert finder.take(Moment(0, 0.0, Notice("info", "a"))) is not None
