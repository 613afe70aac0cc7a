"""The animations: what a frame shows, and whether the stored ones are current."""

import re
from difflib import SequenceMatcher
from itertools import product
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from chapters.course import LANGUAGES, lesson, lessons
from chapters.course.site.writer import PICTURES as PICTURES_OF_RUNS
from tests.ui.pictures.film import CELL, LINE, MARGIN, Frame, Look, Run, digest_in, film_svg
from tests.ui.pictures.frames import chapter_films, inputs_of, wrapped
from tests.ui.pictures.make import FILM, PICTURES, film

REDRAW = "run `python -m tests.ui.pictures.make redraw` (`chapters`: only those that changed)"
SVG = "{http://www.w3.org/2000/svg}"
COLUMNS, SPLIT = 12, 6
GROUND = "#121212"
LOOKS = (Look("#ffffff", GROUND), Look("#ff0000", GROUND, bold=True), Look("#ffffff", "#333333"))
LINES = st.text(alphabet="ab<& ░", min_size=SPLIT, max_size=SPLIT)
ROWS = st.builds(
    lambda left, right, look, other: (Run(0, left, look), Run(SPLIT, right, other)),
    LINES,
    LINES,
    st.sampled_from(LOOKS),
    st.sampled_from(LOOKS),
)


def lines_of(svg: str) -> list[list[str]]:
    """The lines of each frame, reconstructed from the positions of its words."""
    root = ElementTree.fromstring(svg)
    words = {
        part.get("id"): [(float(word.get("x", 0)), word.text or "") for word in part.iter(f"{SVG}tspan")]
        for part in root.findall(f"{SVG}defs/{SVG}g")
    }
    still, film = root.findall(f"{SVG}g")
    frames: list[list[str]] = []
    for frame in film:
        grid = [[" "] * COLUMNS for _ in range(3)]
        for part in (*still, *frame):
            left = float(re.findall(r"[\d.]+", part.get("transform", ""))[0]) - MARGIN
            for use in part:
                line = grid[round(float(use.get("y", 0)) / LINE)]
                for x, word in words[use.get("href", "").removeprefix("#")]:
                    start = round((left + x) / CELL)
                    line[start : start + len(word)] = word
        frames.append(["".join(line) for line in grid])
    return frames


@settings(max_examples=50)
@given(st.lists(st.lists(ROWS, min_size=3, max_size=3), min_size=1, max_size=4))
def test_every_frame_shows_its_rows(screens: list[list[tuple[Run, ...]]]) -> None:
    frames = [Frame(tuple(rows), 1.0) for rows in screens]
    svg = film_svg(frames, COLUMNS, splits=(SPLIT,), background=GROUND, title="<&>")
    assert lines_of(svg) == [["".join(run.text for run in row) for row in rows] for rows in screens]
    assert svg.count("%{transform") == len(frames)
    assert len(screens) > 1 or "<use" not in svg.partition('class="film"')[2]


def test_the_animations_of_the_chapters_are_current_small_and_shown() -> None:
    for chapter, language in product(lessons(), LANGUAGES):
        name = PICTURES_OF_RUNS[language]
        svg = (chapter.folder / name).read_text("utf-8")
        assert digest_in(svg) == inputs_of(chapter), f"{chapter.name}/{name} is stale; {REDRAW}"
        assert len(svg.encode()) < 180_000
        check_alone(svg)
        text = (chapter.folder / ("README.md" if language == "en" else "README.ja.md")).read_text("utf-8")
        assert f"]({name})" in text.partition("\n## ")[0]


def test_sentences_are_wrapped_without_a_loss() -> None:
    for one, language in product(lessons(), LANGUAGES):
        for step in one.steps:
            text = step.say.into(language)
            lines = wrapped(text, 60)
            assert "".join(lines).replace(" ", "") == text.replace(" ", "")
            assert max(map(cell_len, lines)) <= 60
            assert not any(line[:1] in "、。」）" for line in lines[1:])


def check_alone(svg: str) -> None:
    """Nothing is loaded or run, and nothing names this machine."""
    ElementTree.fromstring(svg)
    assert not re.search(r"<script|@font-face|@import|url\(|href=\"[^#]|\son\w+=", svg)
    assert "harness-learn-" not in svg


def test_the_animation_of_the_readme_is_small_and_loads_nothing() -> None:
    svg = (PICTURES / FILM).read_text("utf-8")
    assert len(svg.encode()) < 300_000
    check_alone(svg)


@pytest.mark.stories
@pytest.mark.anyio
async def test_the_animation_of_the_readme_is_that_of_its_session() -> None:
    assert await film() == (PICTURES / FILM).read_text("utf-8"), REDRAW


@pytest.mark.stories
@pytest.mark.anyio
async def test_a_chapter_drawn_again_shows_the_same_words_but_for_times() -> None:
    chapter = lesson("s10")
    for language, svg in (await chapter_films(chapter)).items():
        stored = (chapter.folder / PICTURES_OF_RUNS[language]).read_text("utf-8")
        words = [re.findall(r"[^\W\d]+", " ".join(re.findall(r">([^<]+)</tspan>", one))) for one in (svg, stored)]
        assert SequenceMatcher(a=words[0], b=words[1], autojunk=False).ratio() > 0.95, REDRAW
