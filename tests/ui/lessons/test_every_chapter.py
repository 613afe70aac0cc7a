"""Every chapter through the front end that CI and screen readers use."""

import asyncio
import io

import pytest

from harness.lessons import Lesson, lessons
from harness.ui.lessons.narration import Telling
from harness.ui.lessons.plain import play

pytestmark = pytest.mark.anyio


async def played(chapter: Lesson) -> str:
    out = io.StringIO()
    await play(Telling(chapter, "ja", out))
    return out.getvalue()


async def test_every_chapter_plays_through() -> None:
    """All at once, because most of their time is waiting."""
    for chapter, said in zip(lessons(), await asyncio.gather(*map(played, lessons())), strict=True):
        assert f"{len(chapter.beats)} の場面がすべて起こりました。" in said, chapter.id
        assert "── 実運用では ──" in said, chapter.id
        assert "\x1b" not in said, chapter.id
