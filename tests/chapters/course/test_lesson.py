"""Chapters as data: mistakes in a lesson.toml, and how they are reported."""

from pathlib import Path

import pytest

from chapters.course import LessonError
from chapters.course.catalogue import UnknownLesson, lesson
from chapters.course.lesson import load_lesson
from harness.events import StepStarted, Transition, TransitionCode

WHOLE = """
[lesson]
title = { en = "Title", ja = "題" }
idea = { en = "Idea", ja = "考え" }
prompts = ["list the files"]
answers = ["once", "no: not that one"]

[[steps]]
on = "Transition"
where = { code = "completed" }
say = { en = "It ended: {reason}", ja = "終わり: {reason}" }
code = "harness/agent.py:Agent.run"
"""


def written(folder: Path, text: str) -> Path:
    chapter = folder / "s01_loop"
    chapter.mkdir()
    (chapter / "lesson.toml").write_text(text, "utf-8")
    return chapter


def test_a_lesson_is_what_its_file_says(tmp_path: Path) -> None:
    loaded = load_lesson(written(tmp_path, WHOLE))
    assert (loaded.id, loaded.number, loaded.name) == ("s01", 1, "s01_loop")
    assert loaded.title.into("ja") == "題"
    assert loaded.answers == ("once", "no: not that one")
    [step] = loaded.steps
    ended = Transition(1, TransitionCode.COMPLETED, "a whole reply")
    assert step.fits(ended)
    assert step.said(ended, "en") == "It ended: a whole reply"
    assert not step.fits(Transition(1, TransitionCode.API_ERROR, ""))
    assert not step.fits(StepStarted(1))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('on = "Transition"', 'on = "Transitoin"', "did you mean 'Transition'"),
        ('code = "completed"', "cose = 1", "Transition has no 'cose'"),
        ('{reason}", ja', '{cause}", ja', "Transition has no 'cause'"),
        ('{reason}", ja', '{reason", ja', "is not a template"),
        (', ja = "題"', "", "title is needed in en and in ja"),
        ('prompts = ["list the files"]', "", "prompts is needed"),
        ('"once"', '"perhaps"', "'perhaps' is not an answer"),
        ('code = "harness', 'cod = "harness', "code is needed"),
        ("[[steps]]", "[steps]", "a list of tables"),
        ("[lesson]", "[lessen]", "did you mean 'lesson'"),
        ("title =", "title", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_reported_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in WHOLE
    with pytest.raises(LessonError) as caught:
        load_lesson(written(tmp_path, WHOLE.replace(old, new, 1)))
    assert "s01_loop/lesson.toml" in str(caught.value)
    assert told in str(caught.value)


def test_a_folder_without_a_lesson_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LessonError, match=r"lesson\.toml cannot be read"):
        load_lesson(tmp_path)


def test_an_unknown_chapter_is_reported() -> None:
    with pytest.raises(UnknownLesson, match="There is no chapter 's99'"):
        lesson("s99")
