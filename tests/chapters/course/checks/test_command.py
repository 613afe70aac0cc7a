"""`harness check` from the command line, with an exercise of the course."""

import json
from pathlib import Path

import pytest

from chapters.course.catalogue import chapters_folder
from chapters.course.checks.copies import copy_exercise
from chapters.course.checks.exercises import Exercise, every_exercise, exercise_called
from chapters.course.progress import Progress
from harness.cli.main import main
from tests.chapters.solved import solution_of


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process in a folder of its own; where its progress is kept."""
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "state"


@pytest.fixture
def machine() -> Exercise:
    """An exercise whose checks need little."""
    return exercise_called("s21-machine", every_exercise(chapters_folder()))


def test_an_exercise_goes_from_its_hole_to_done(
    state: Path, machine: Exercise, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_exercise(machine, Path.cwd(), "ja")
    assert main(["check", "--json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)["exercises"]
    assert (told["exercise"], told["passed"], told["folder"]) == ("s21-machine", False, str(folder))
    assert not Progress.of(state).has_passed("s21-machine")

    solution_of(machine, folder)
    assert main(["check", "s21-machine"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("s21-machine · ブレーカーを書く")
    assert "s21-machine は完了です。\n" in out
    assert out.endswith("次へ: harness learn s22\n")
    assert Progress.of(state).has_passed("s21-machine")
    assert sorted(file.name for file in folder.iterdir()) == [".exercise.json", "TASK.md", "check.py", "machine.py"]


def test_a_result_is_reported_although_it_cannot_be_remembered(
    state: Path, machine: Exercise, capsys: pytest.CaptureFixture[str]
) -> None:
    solution_of(machine, copy_exercise(machine, Path.cwd(), "en"))
    state.write_text("a file where the folder should be")
    assert main(["check"]) == 0
    captured = capsys.readouterr()
    assert "s21-machine is done.\n" in captured.out
    assert captured.err.endswith("The result was not saved.\n")


def test_hints_follow_the_check_that_failed(state: Path, machine: Exercise, capsys: pytest.CaptureFixture[str]) -> None:
    copy_exercise(machine, Path.cwd(), "en")
    assert main(["check", "--hint"]) == 0
    assert capsys.readouterr().out == f"Hint 2 of {len(machine.hints)}: {machine.hints[1].en}\n"
    assert main(["check", "--hint", "--language", "ja", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "exercise": "s21-machine",
        "hint": 1,
        "of": len(machine.hints),
        "text": machine.hints[0].ja,
    }


def test_a_hint_for_one_of_several_has_to_be_asked_for_by_name(
    state: Path, machine: Exercise, capsys: pytest.CaptureFixture[str]
) -> None:
    for exercise in (machine, exercise_called("s01-loop", every_exercise(chapters_folder()))):
        copy_exercise(exercise, Path.cwd(), "en")
    assert main(["check", "--hint"]) == 2
    assert capsys.readouterr().err.endswith("name one for a hint: s01-loop, s21-machine.\n")
    assert main(["check", "s01-loop", "--hint"]) == 0


@pytest.mark.parametrize("arguments", [["check"], ["check", "nowhere"], ["check", "--hint"]])
def test_where_there_is_nothing_one_sentence_says_what_to_do(
    state: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
