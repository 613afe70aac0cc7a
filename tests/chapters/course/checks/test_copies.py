"""Copies of exercises: nothing that a learner wrote is ever lost."""

import json
from pathlib import Path

import pytest

from chapters.course.checks.copies import Copy, CopyError, CopyNote, NoCopy, copies, copy_exercise
from chapters.course.checks.exercises import Exercise
from tests.chapters.course.small_exercise import DONE, GIVEN, TOML, small_exercise


@pytest.fixture
def exercise(tmp_path: Path) -> Exercise:
    """It lives beside the folder where the learner works."""
    return small_exercise(tmp_path / "chapters")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Where the learner works."""
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


def the_copy(place: Path, *exercises: Exercise) -> Copy:
    (copy,) = copies(place, exercises)
    return copy


def test_a_copy_holds_what_the_learner_needs_and_no_more(exercise: Exercise, here: Path) -> None:
    folder = copy_exercise(exercise, here, "en")
    assert folder == here / "harness-exercises" / "s07-adding"
    assert {file.name for file in folder.iterdir()} == {"adding.py", "check.py", "TASK.md", ".exercise.json"}
    assert (folder / "adding.py").read_text() == GIVEN


def test_the_task_is_described_in_the_language_of_the_learner(exercise: Exercise, here: Path) -> None:
    task = (copy_exercise(exercise, here, "en") / "TASK.md").read_text("utf-8")
    assert task.startswith("# s07 · Add two numbers\n\nWrite `add`.\n\n## Checks\n\n- One and two are three.\n")
    assert "There are 2 hints" in task
    assert "cross" not in task
    task = (copy_exercise(exercise, here, "ja") / "TASK.md").read_text("utf-8")
    assert task.startswith("# s07 · 二つの数を足す\n\n`add` を書いてください。\n\n## 確かめること\n\n- 一と二で三。\n")
    assert "ヒントは 2 個" in task
    assert the_copy(here, exercise).note.language == "ja"


def test_a_second_copy_keeps_what_was_written_and_puts_back_what_is_missing(exercise: Exercise, here: Path) -> None:
    folder = copy_exercise(exercise, here, "en")
    (folder / "adding.py").write_text(DONE)
    (folder / "notes.txt").write_text("mine")
    (folder / "TASK.md").write_text("I have done the first half.")
    (folder / "check.py").unlink()
    copy, _ = the_copy(here, exercise).next_hint()
    assert copy_exercise(exercise, here, "en") == folder
    assert (folder / "adding.py").read_text() == DONE
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "TASK.md").read_text() == "I have done the first half."
    assert (folder / "check.py").exists()
    assert the_copy(here, exercise).note == copy.note


def test_a_folder_that_cannot_be_written_is_one_sentence(exercise: Exercise, here: Path) -> None:
    (here / "harness-exercises").write_text("a file")
    with pytest.raises(CopyError, match="cannot be written: "):
        copy_exercise(exercise, here, "en")


def test_a_copy_is_found_from_every_folder_a_learner_may_be_in(exercise: Exercise, here: Path) -> None:
    folder = copy_exercise(exercise, here, "en")
    places = (here, here / "harness-exercises", folder, folder / "adding.py", here / "s07-adding")
    assert [the_copy(place, exercise).folder for place in places] == [folder] * len(places)


def test_several_copies_come_in_order(tmp_path: Path, here: Path) -> None:
    others = [small_exercise(tmp_path, chapter=name) for name in ("s11_b", "s04_a")]
    for other in others:
        copy_exercise(other, here, "en")
    assert [copy.exercise.id for copy in copies(here, tuple(others))] == ["s04-adding", "s11-adding"]


@pytest.mark.parametrize("place", ["", "nowhere", "empty", "harness-exercises/other"])
def test_where_nothing_is_one_sentence_says_what_to_do(exercise: Exercise, here: Path, place: str) -> None:
    (here / "empty").mkdir()
    with pytest.raises(NoCopy) as failed:
        copies(here / place, (exercise,))
    assert failed.value.exit_code == 2
    assert "name the folder" in str(failed.value) or "`harness learn s07 --exercise` creates one" in str(failed.value)


@pytest.mark.parametrize("note", [None, "{", "[]", '{"exercise": 7, "language": "en", "hints": 0}', "null", "{}"])
def test_a_copy_whose_note_is_lost_is_known_by_its_name(exercise: Exercise, here: Path, note: str | None) -> None:
    folder = copy_exercise(exercise, here, "ja")
    file = folder / ".exercise.json"
    file.unlink() if note is None else file.write_text(note)
    copy = the_copy(here, exercise)
    assert (copy.exercise, copy.note.language, copy.note.hints) == (exercise, "en", ())


def test_a_copy_of_an_exercise_that_is_gone_is_reported_by_name(exercise: Exercise, here: Path) -> None:
    folder = copy_exercise(exercise, here, "en")
    (folder / ".exercise.json").write_text(json.dumps({"exercise": "s07-ading", "language": "en", "hints": 0}))
    with pytest.raises(NoCopy, match="'s07-ading'; did you mean s07-adding"):
        copies(folder, (exercise,))


def test_hints_come_one_at_a_time_and_are_remembered(exercise: Exercise, here: Path) -> None:
    copy_exercise(exercise, here, "en")
    shown = []
    for _ in range(4):
        copy, hint = the_copy(here, exercise).next_hint()
        shown.append((hint, copy.note.hints))
    assert shown == [(0, (0,)), (1, (0, 1)), (None, (0, 1)), (None, (0, 1))]


def test_a_hint_for_the_check_that_failed_comes_before_one_for_all_and_that_before_others(here: Path) -> None:
    of_small = TOML.replace("[[hints]]", '[[hints]]\nchecks = ["check_small"]', 1)
    two = '[[hints]]\nchecks = ["check_later"]\nen = "Await it."\nja = "await します。"\n\n[[checks]]'
    exercise = small_exercise(here, toml=of_small.replace("[[checks]]", two, 1))
    copy_exercise(exercise, here, "en")
    shown = [the_copy(here, exercise).next_hint("check_later")[1] for _ in range(4)]
    assert shown == [2, 1, 0, None]


def test_a_note_of_an_earlier_version_counts_its_hints(exercise: Exercise, here: Path) -> None:
    folder = copy_exercise(exercise, here, "en")
    (folder / ".exercise.json").write_text(json.dumps({"exercise": "s07-adding", "language": "ja", "hints": 1}))
    assert the_copy(here, exercise).note == CopyNote("s07-adding", "ja", (0,))


def test_other_checks_in_the_copy_are_noticed(exercise: Exercise, here: Path) -> None:
    folder = copy_exercise(exercise, here, "en")
    assert not the_copy(here, exercise).has_other_checks
    (folder / "check.py").write_text("def check_small(work): pass\n")
    assert the_copy(here, exercise).has_other_checks
    (folder / "check.py").unlink()
    assert not the_copy(here, exercise).has_other_checks
