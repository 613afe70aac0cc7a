"""Every chapter on the screen, from its beginning to the end, where the learner types."""

from pathlib import Path

import pytest

from harness.lessons import Lesson, lessons
from tests.ui.app.screens import screen_text
from tests.ui.lessons.screen.opened import opened, played, press, run_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("chapter", lessons(), ids=lambda chapter: chapter.id)
async def test_a_chapter_is_walked_through_and_back(chapter: Lesson, tmp_path: Path) -> None:
    async with opened(chapter, tmp_path, size=(80, 24), language="en") as (app, pilot):
        assert chapter.idea.en.split()[0] in screen_text(app)
        await played(app, pilot)
        for place, found in enumerate(run_of(app).walk.take.beats, 1):
            await pilot.press("n")
            await pilot.pause()
            screen = screen_text(app)
            assert f"beat {place} of {len(chapter.beats)}" in screen
            assert found.beat.said(found.moment.fact, "en").split()[0] in screen
        assert "the end" in await press(pilot, "n")
        assert app.progress.done(chapter.id)
        assert f"beat {len(chapter.beats)} of {len(chapter.beats)}" in await press(pilot, "b")
