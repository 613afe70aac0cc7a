"""A run of a chapter: typed prompts, faults on purpose, and the places of its steps."""

import asyncio
from itertools import combinations
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.course import LessonError, LessonStep, LocalizedText, Moment, Recording, WireExchange, lesson
from chapters.course.recording import StepFinder
from harness.events import Notice, StepStarted, TextDelta, TurnEnded, TurnStarted

pytestmark = pytest.mark.anyio


def facts_of(recording: Recording, kind: type) -> list[object]:
    return [moment.fact for moment in recording.moments if isinstance(moment.fact, kind)]


def works(recording: Recording) -> bool:
    return recording.busy


async def test_the_chapter_types_first_and_then_the_learner() -> None:
    async with Recording(lesson("s10")) as recording:
        assert works(recording)
        await recording.finished()
        await recording.settled()
        assert not works(recording)
        before = len(facts_of(recording, TurnEnded))
        recording.type("What is 2 + 2?")
        assert works(recording)
        await recording.settled()
        *_, started = facts_of(recording, TurnStarted)
        assert isinstance(started, TurnStarted)
        assert started.prompt == "What is 2 + 2?"
        assert len(facts_of(recording, TurnEnded)) == before + 1
        assert [moment.number for moment in recording.moments] == list(range(len(recording.moments)))


async def test_every_beat_can_be_waited_for_and_one_that_is_not_there_is_reported() -> None:
    chapter = lesson("s10")
    async with Recording(chapter, scripted_only=True) as recording:
        assert await recording.reached(0)
        assert await recording.reached(len(chapter.steps) - 1)
        assert not await recording.reached(len(chapter.steps))


async def test_an_observer_sees_what_is_kept_and_what_is_only_shown() -> None:
    seen: list[Moment] = []
    async with Recording(lesson("s10"), scripted_only=True) as recording:
        recording.observe(seen.append)
        await recording.finished()
        kept = [moment for moment in seen if moment.number is not None]
        assert tuple(kept) == recording.moments
        assert len(kept) < len(seen)


async def test_leaving_in_the_middle_leaves_nothing_behind() -> None:
    before = asyncio.all_tasks()
    async with Recording(lesson("s10")) as recording:
        await recording.reached(0)
        folder = recording.workspace
        assert folder.exists()
    assert not folder.exists()
    assert asyncio.all_tasks() == before


async def test_a_loop_by_hand_is_recorded_on_the_wire() -> None:
    async with Recording(lesson("s01"), scripted_only=True) as recording:
        await recording.finished()
        prompts = [fact.prompt for fact in facts_of(recording, TurnStarted) if isinstance(fact, TurnStarted)]
        assert tuple(prompts) == recording.lesson.prompts
        numbers = [fact.number for fact in facts_of(recording, WireExchange) if isinstance(fact, WireExchange)]
        assert numbers == list(range(1, len(numbers) + 1))


async def test_what_is_typed_when_the_demo_has_ended_is_reported() -> None:
    async with Recording(lesson("s10"), scripted_only=True) as recording:
        await recording.finished()
        await recording.settled()
        with pytest.raises(LessonError, match="has ended"):
            recording.type("anybody there?")


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
