"""A run of a chapter: what the course types, what the learner types, and what is broken on purpose."""

import asyncio

import pytest

from chapters.course import LessonError, Moment, Recording, WireExchange, lesson
from harness.events import TurnEnded, TurnStarted

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


async def test_every_beat_can_be_waited_for_and_one_that_is_not_there_is_told() -> None:
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


async def test_a_loop_by_hand_is_heard_on_the_wire() -> None:
    async with Recording(lesson("s01"), scripted_only=True) as recording:
        await recording.finished()
        prompts = [fact.prompt for fact in facts_of(recording, TurnStarted) if isinstance(fact, TurnStarted)]
        assert tuple(prompts) == recording.lesson.prompts
        numbers = [fact.number for fact in facts_of(recording, WireExchange) if isinstance(fact, WireExchange)]
        assert numbers == list(range(1, len(numbers) + 1))


async def test_what_is_typed_when_the_demo_has_ended_is_told() -> None:
    async with Recording(lesson("s10"), scripted_only=True) as recording:
        await recording.finished()
        await recording.settled()
        with pytest.raises(LessonError, match="has ended"):
            recording.type("anybody there?")
