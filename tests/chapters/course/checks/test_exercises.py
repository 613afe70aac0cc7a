"""Exercises as data: what a mistake in the file is answered with."""

from pathlib import Path

import pytest

from chapters.course.checks.exercises import (
    ExerciseError,
    UnknownExercise,
    every_exercise,
    exercise_called,
    exercises_of,
    load_exercise,
)
from chapters.course.text import LocalizedText
from tests.chapters.course.small_exercise import TOML, small_exercise


def test_an_exercise_says_all_that_its_file_says(tmp_path: Path) -> None:
    exercise = small_exercise(tmp_path)
    assert (exercise.id, exercise.chapter, exercise.name, exercise.file) == ("s07-adding", "s07", "adding", "adding.py")
    assert exercise.title == LocalizedText("Add two numbers", "二つの数を足す")
    assert [hint.en for hint in exercise.hints] == ["There is a sign for it.", "The sign is a cross."]
    assert [(check.name, check.wrong.ja) for check in exercise.checks] == [
        ("check_small", "足していません。"),
        ("check_later", "こちらも足していません。"),
    ]
    assert exercises_of(tmp_path / "s07_sums") == (exercise,)
    assert exercises_of(tmp_path) == ()


def test_exercises_come_in_the_order_of_their_chapters(tmp_path: Path) -> None:
    later, earlier = small_exercise(tmp_path, chapter="s21_b"), small_exercise(tmp_path, chapter="s02_a")
    every = every_exercise(tmp_path)
    assert every == (earlier, later)
    assert exercise_called("s21-adding", every) is every[1]


@pytest.mark.parametrize(
    ("id", "words"), [("s21-ading", "did you mean s21-adding?"), ("x", "there are s21-adding."), ("", "there are")]
)
def test_a_name_that_is_none_is_answered_with_those_that_are(tmp_path: Path, id: str, words: str) -> None:
    with pytest.raises(UnknownExercise, match=words):
        exercise_called(id, (small_exercise(tmp_path, chapter="s21_b"),))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("title =", "titel =", "'titel' is not known; did you mean 'title'?"),
        ('ja = "二つの数を足す"', 'ja = ""', "line 4: title is needed in en and in ja"),
        ('task = { en = "Write `add`.", ja = "`add` を書いてください。" }', "", "task is needed, as { en ="),
        ('"adding.py"', '"../adding.py"', "line 2: file is needed: the file to edit"),
        ('"adding.py"', '"check.py"', "line 2: file is needed"),
        ('"adding.py"', "7", "line 2: file must be a string, not 7"),
        ('"adding.py"', '"other.py"', "other.py is missing; it belongs beside exercise.toml"),
        ('ja = "十字の記号です。"', "", "line 11: hint is needed in en and in ja"),
        ('name = "check_small"', 'name = "small"', "line 15: name is needed: a function of check.py"),
        ('wrong = { en = "It does not add either."', 'wrong = { en = ""', "line 20: wrong is needed in en and in ja"),
        ('name = "check_later"', 'name = "check_later"\nwhy = 1', "line 20: 'why' is not known"),
        ("[[checks]]", "[[chekcs]]", "'chekcs' is not known; did you mean 'checks'?"),
        ("[[hints]]", "hints = [", "is not valid TOML"),
        ("[[hints]]", '[[hints]]\nchecks = ["check_smal"]', "there is no check 'check_smal'"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_file_and_the_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in TOML
    with pytest.raises(ExerciseError) as failed:
        small_exercise(tmp_path, toml=TOML.replace(old, new))
    assert str(failed.value).startswith("s07_sums/exercises/adding/exercise.toml")
    assert words in str(failed.value)
    assert str(failed.value).count("\n") == 0


@pytest.mark.parametrize("key", ["hints", "checks"])
def test_a_list_that_is_none_is_a_mistake(tmp_path: Path, key: str) -> None:
    others = {"hints": TOML.index("[[checks]]"), "checks": TOML.index("[[hints]]")}
    head, start = TOML[: TOML.index("[[hints]]")], others[key]
    rest = TOML[start:] if key == "hints" else TOML[start : TOML.index("[[checks]]")]
    with pytest.raises(ExerciseError, match=f"line 6: {key} must be a list of tables"):
        small_exercise(tmp_path, toml=f'{head.rstrip()}\n{key} = ["x"]\n{rest}')


def test_a_folder_without_its_files_is_a_mistake(tmp_path: Path) -> None:
    exercise = small_exercise(tmp_path)
    exercise.check_file.unlink()
    with pytest.raises(ExerciseError, match=r"check\.py is missing"):
        load_exercise(exercise.folder)
    (exercise.folder / "exercise.toml").unlink()
    with pytest.raises(ExerciseError, match="cannot be read: No such file"):
        load_exercise(exercise.folder)
