"""A chapter after its scripted part, with typed prompts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chapters.course import Fact, Recording, lesson


@asynccontextmanager
async def live(chapter: str) -> AsyncIterator[Recording]:
    """The chapter with this id, as soon as it waits for a prompt."""
    async with Recording(lesson(chapter)) as take:
        await take.finished()
        await take.settled()
        yield take


async def typed(recording: Recording, prompt: str) -> tuple[Fact, ...]:
    """The facts printed for a prompt, up to the next prompt."""
    before = len(recording.moments)
    recording.type(prompt)
    await recording.settled()
    return tuple(moment.fact for moment in recording.moments[before:])
