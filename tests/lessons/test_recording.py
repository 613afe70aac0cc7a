"""A run of a chapter: what the course types, what the learner types, and what is broken on purpose."""

import asyncio

import pytest

from harness.events import TurnEnded, TurnStarted
from harness.lessons import Exchanged, LessonError, Moment, Take, lesson

pytestmark = pytest.mark.anyio


def facts_of(take: Take, kind: type) -> list[object]:
    return [moment.fact for moment in take.moments if isinstance(moment.fact, kind)]


def works(take: Take) -> bool:
    return take.busy


async def test_the_chapter_types_first_and_then_the_learner() -> None:
    async with Take(lesson("s10")) as take:
        assert works(take)
        await take.finished()
        await take.settled()
        assert not works(take)
        before = len(facts_of(take, TurnEnded))
        take.type("What is 2 + 2?")
        assert works(take)
        await take.settled()
        *_, started = facts_of(take, TurnStarted)
        assert isinstance(started, TurnStarted)
        assert started.prompt == "What is 2 + 2?"
        assert len(facts_of(take, TurnEnded)) == before + 1
        assert [moment.number for moment in take.moments] == list(range(len(take.moments)))


async def test_every_beat_can_be_waited_for_and_one_that_is_not_there_is_told() -> None:
    chapter = lesson("s10")
    async with Take(chapter, scripted_only=True) as take:
        assert await take.reached(0)
        assert await take.reached(len(chapter.beats) - 1)
        assert not await take.reached(len(chapter.beats))


async def test_an_observer_sees_what_is_kept_and_what_is_only_shown() -> None:
    seen: list[Moment] = []
    async with Take(lesson("s10"), scripted_only=True) as take:
        take.observe(seen.append)
        await take.finished()
        kept = [moment for moment in seen if moment.number is not None]
        assert tuple(kept) == take.moments
        assert len(kept) < len(seen)


async def test_leaving_in_the_middle_leaves_nothing_behind() -> None:
    before = asyncio.all_tasks()
    async with Take(lesson("s10")) as take:
        await take.reached(0)
        folder = take.workspace
        assert folder.exists()
    assert not folder.exists()
    assert asyncio.all_tasks() == before


async def test_a_loop_by_hand_is_heard_on_the_wire() -> None:
    async with Take(lesson("s01"), scripted_only=True) as take:
        await take.finished()
        prompts = [fact.prompt for fact in facts_of(take, TurnStarted) if isinstance(fact, TurnStarted)]
        assert tuple(prompts) == take.lesson.prompts
        numbers = [fact.number for fact in facts_of(take, Exchanged) if isinstance(fact, Exchanged)]
        assert numbers == list(range(1, len(numbers) + 1))


async def test_what_is_typed_when_the_demo_has_ended_is_told() -> None:
    async with Take(lesson("s10"), scripted_only=True) as take:
        await take.finished()
        await take.settled()
        with pytest.raises(LessonError, match="has ended"):
            take.type("anybody there?")
