"""A chapter after its own part, at which somebody types."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from harness.lessons import Fact, Take, lesson


@asynccontextmanager
async def live(chapter: str) -> AsyncIterator[Take]:
    """The chapter with this id, as soon as it waits for a prompt."""
    async with Take(lesson(chapter)) as take:
        await take.finished()
        await take.settled()
        yield take


async def typed(take: Take, prompt: str) -> tuple[Fact, ...]:
    """What comes of a prompt, until the next one is waited for."""
    before = len(take.moments)
    take.type(prompt)
    await take.settled()
    return tuple(moment.fact for moment in take.moments[before:])
