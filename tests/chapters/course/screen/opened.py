"""The course on a screen without a terminal."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.events import Paste
from textual.pilot import Pilot

from chapters.course import Language, Lesson, Progress
from chapters.course.screen.app import LessonApp
from chapters.course.screen.run import LessonRun
from tests.ui.app.resting import timers_running
from tests.ui.app.screens import screen_text, settled

Opened = tuple[LessonApp, Pilot[int]]


@asynccontextmanager
async def opened(
    lesson: Lesson | None,
    folder: Path,
    *,
    size: tuple[int, int] = (100, 34),
    language: Language = "en",
    questions: bool = False,
) -> AsyncIterator[Opened]:
    """A chapter on a screen of so many columns and rows; `folder` keeps the progress and takes the exercises."""
    app = LessonApp(lesson, language, Progress(folder / "course.json"), folder, questions=questions)
    async with app.run_test(size=size) as pilot:
        try:
            await settled(pilot)
            yield app, pilot
        finally:
            await app.aclose()


def run_of(app: LessonApp) -> LessonRun:
    """The run that is open."""
    assert app.opened is not None
    return app.opened


async def played(app: LessonApp, pilot: Pilot[int]) -> None:
    """Wait until the chapter's own part is over, so that what a key does is done at once."""
    await run_of(app).position.recording.finished()
    await settled(pilot)


async def press(pilot: Pilot[int], *keys: str) -> str:
    """Press keys; returns the screen once it has settled."""
    await pilot.press(*keys)
    while timers_running(pilot.app):  # a drawing may be put off
        await pilot.pause(0.02)
    return "\n".join(await settled(pilot))


async def types(pilot: Pilot[int], prompt: str) -> None:
    """Give a prompt whose letters do not matter, all of them at once."""
    pilot.app.post_message(Paste(prompt))
    await pilot.pause()
    await pilot.press("enter")


async def sees(pilot: Pilot[int], text: str) -> str:
    """Wait until a text is on the screen."""
    for _ in range(200):
        if text in (screen := screen_text(pilot.app)):
            return screen
        await pilot.pause(0.05)
    raise AssertionError(f"{text!r} did not come:\n{screen}")
