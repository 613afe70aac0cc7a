"""A chapter on the screen, from its beginning to the end, where the learner types."""

from pathlib import Path

import pytest

from chapters.course import lesson
from tests.chapters.course.screen.opened import opened, played, press, run_of
from tests.ui.app.screens import screen_text

pytestmark = pytest.mark.anyio


@pytest.mark.stories
async def test_a_chapter_is_walked_through_and_back(tmp_path: Path) -> None:
    chapter = lesson("s21")
    async with opened(chapter, tmp_path, size=(80, 24), language="en") as (app, pilot):
        assert chapter.idea.en.split()[0] in screen_text(app)
        await played(app, pilot)
        for place, found in enumerate(run_of(app).position.recording.steps, 1):
            await pilot.press("n")
            await pilot.pause()
            screen = screen_text(app)
            assert f"step {place} of {len(chapter.steps)}" in screen
            assert found.step.said(found.moment.fact, "en").split()[0] in screen
        assert "the end" in await press(pilot, "n")
        assert app.progress.done(chapter.id)
        assert f"step {len(chapter.steps)} of {len(chapter.steps)}" in await press(pilot, "b")
