"""Chapters are law: each runs by itself, its sentences match what happens, and its text comes from the running code."""

import re
from pathlib import Path

import pytest

from harness.lessons import LANGUAGES, Lesson, Take, difference, lessons, readme, source
from harness.lessons.readme import FILES, HEADINGS
from harness.lessons.refresh import MARK, refreshed
from harness.practice.script import Script

CHAPTERS = pytest.mark.parametrize("chapter", lessons(), ids=lambda chapter: chapter.id)
MOST_LINES = 150
"""Of a demo."""


@CHAPTERS
@pytest.mark.anyio
async def test_it_runs_and_does_what_its_sentences_say(chapter: Lesson) -> None:
    async with Take(chapter, scripted_only=True) as take:
        await take.finished()
        for found in take.beats:
            for language in LANGUAGES:
                assert found.beat.said(found.moment.fact, language).strip()
    assert len(take.beats) == len(chapter.beats)
    assert not take.workspace.exists()


@CHAPTERS
def test_the_code_that_it_shows_is_there(chapter: Lesson) -> None:
    for place in (chapter.demo, *chapter.code, *(beat.code for beat in chapter.beats if beat.code)):
        assert source(place).text.strip()
    assert difference(chapter).strip()


@CHAPTERS
def test_its_program_is_read_in_one_sitting(chapter: Lesson) -> None:
    assert len(source(chapter.demo).text.splitlines()) <= MOST_LINES


@CHAPTERS
def test_its_script_is_one(chapter: Lesson) -> None:
    Script.load(chapter.folder / "script.toml")


@CHAPTERS
@pytest.mark.parametrize("language", LANGUAGES)
def test_its_text_is_whole_and_as_the_code_is_now(chapter: Lesson, language: str) -> None:
    [known] = [one for one in LANGUAGES if one == language]
    assert tuple(section.title for section in readme(chapter, known)) == HEADINGS[known]
    file = chapter.folder / FILES[known]
    text = file.read_text("utf-8")
    assert refreshed(text) == text, f"python -m harness.lessons.refresh writes {file.name} again"
    assert MARK.search(text), "a text shows code of the program"
    assert re.match(rf"# {chapter.id} · {re.escape(chapter.title.into(known))}\n", text)


@CHAPTERS
def test_links_of_its_text_lead_somewhere(chapter: Lesson) -> None:
    for file in FILES.values():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", (chapter.folder / file).read_text("utf-8")):
            assert (chapter.folder / Path(target)).exists(), target
