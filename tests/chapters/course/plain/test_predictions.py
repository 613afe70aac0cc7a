"""The question before a step: on the screen, in lines, in the list of chapters, and when it is asked."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.course import Progress, Recording, lesson
from chapters.course.plain.position import LessonPosition
from chapters.course.plain.predictions import Predictions
from chapters.course.plain.progress import chapter_progress
from tests.chapters.course.plain.test_course import progress, typed
from tests.chapters.course.screen.opened import opened, played, press, run_of

pytestmark = pytest.mark.anyio
BREAKERS = lesson("s21")


async def test_the_screen_asks_before_a_step_and_shows_the_rule_with_it(tmp_path: Path) -> None:
    async with opened(BREAKERS, tmp_path, size=(120, 40), questions=True) as (app, pilot):
        await played(app, pilot)
        asked = await press(pilot, "n", "n", "n")
        assert "step 2 of 16" in asked
        assert "In which state is its breaker now?" in asked
        assert "3  half-open" in asked
        right = await press(pilot, "9", "1")
        assert "step 3 of 16" in right
        assert "✓ Right: closed." in right
        assert "Rule: Three failures in a row open a breaker; this was the first." in right
        assert "✗ Not quite: open." in await press(pilot, "n", "n", "1")
        assert app.progress.predictions("s21") == (1, 2)
        again = await press(pilot, "b", "b", "n", "n")
        assert "step 5 of 16" in again
        assert app.progress.predictions("s21") == (1, 2)


async def test_enter_skips_a_question_and_b_closes_it(tmp_path: Path) -> None:
    async with opened(BREAKERS, tmp_path, questions=True) as (app, pilot):
        await played(app, pilot)
        assert "What happens next?" in await press(pilot, "n", "n", "n")
        closed = await press(pilot, "b")
        assert "What happens next?" not in closed
        assert "step 2 of 16" in closed
        await press(pilot, "n", "enter")
        assert run_of(app).place == 3
        assert app.progress.predictions("s21") == (0, 0)


async def test_lines_ask_and_count_as_well(tmp_path: Path) -> None:
    said = await typed(tmp_path, "", "", "", "1", "", "", "", "q", lesson=BREAKERS, language="ja", questions=True)
    assert "1-3" not in said.split("── 場面 2")[0]
    assert "1〜3 で答える" in said
    assert "✓ 正解です: closed（閉じている）。" in said
    assert said.index("✓ 正解です") < said.index("── 場面 3/16")
    assert progress(tmp_path).predictions("s21") == (1, 1)
    [one] = chapter_progress([BREAKERS], progress(tmp_path))
    assert "予想 1 問中 1 問正解" in one.label("ja")


@given(st.lists(st.integers(0, len(BREAKERS.steps) + 1), max_size=20))
def test_each_question_is_asked_once_and_only_before_its_step_was_shown(places: list[int]) -> None:
    predictions, revealed, asked = Predictions(LessonPosition(Recording(BREAKERS))), 0, False
    for place in places:
        there_is = 1 <= place <= len(BREAKERS.steps) and BREAKERS.steps[place - 1].question is not None
        asked = predictions.asks(place)
        assert asked == (there_is and place > revealed)
        assert bool(predictions.asking("en")) == asked
        predictions.arrive(place, None)
        revealed = max(revealed, place)


def test_the_last_answer_counts_and_old_files_are_read(tmp_path: Path) -> None:
    file = tmp_path / "course.json"
    file.write_text('{"language": "ja", "steps": {"s21": 4}, "done": [], "passed": []}', "utf-8")
    kept = Progress(file)
    kept.predict("s21", 3, right=False)
    kept.predict("s21", 5, right=True)
    kept.predict("s21", 3, right=True)
    kept.predict("s22", 2, right=False)
    again = Progress(file)
    assert (again.step("s21"), again.predictions("s21"), again.predictions("s22")) == (4, (2, 2), (0, 1))
    again.restart("s21")
    assert (Progress(file).predictions("s21"), Progress(file).predictions("s22")) == ((0, 0), (0, 1))
    assert Progress(file).set_aside is None
