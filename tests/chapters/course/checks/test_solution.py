"""`harness learn sNN --with FILE`: a right solution does what the steps say, and of the original a step fails."""

from pathlib import Path

import pytest

from chapters.course import Lesson, LessonError, Recording, lesson, with_solution
from chapters.course.catalogue import chapters_folder
from chapters.course.checks.checker import Checked
from chapters.course.checks.command import check_lines, shown_path
from chapters.course.checks.copies import Copy, CopyNote, copy_exercise
from chapters.course.checks.exercises import Exercise, every_exercise
from chapters.course.checks.solution import NoSolution, is_playable
from harness.cli.main import main
from tests.chapters.solved import solution_of

pytestmark = pytest.mark.anyio

EXERCISES = [one for one in every_exercise(chapters_folder()) if is_playable(one)]
each = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)


async def failures(chapter: Lesson) -> list[str]:
    """The steps that fail or are missing, and the error that ends the demo."""
    async with Recording(chapter, scripted_only=True) as recording:
        try:
            await recording.finished()
            error = []
        except LessonError as ended:
            error = [str(ended)]
        return [f"step {number}: {', '.join(found.failed)}" for number, found in recording.failed] + error


@pytest.mark.grid(2)
@each
async def test_a_solution_does_what_the_steps_say(exercise: Exercise, tmp_path: Path) -> None:
    assert await failures(with_solution(lesson(exercise.chapter), solution_of(exercise, tmp_path))) == []


@pytest.mark.grid(2)
@each
async def test_of_the_original_a_step_is_named_or_the_line_that_raised(exercise: Exercise) -> None:
    said = await failures(with_solution(lesson(exercise.chapter), exercise.original))
    assert any("step" in one or one.startswith(f"{exercise.file}, line ") for one in said), said


LOOP = EXERCISES[0].original.read_text("utf-8")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return calls[0].missing", r"mine\.py, line \d+: your code raised AttributeError: .*missing"),
        ("raise SystemExit(3)", r"mine\.py, line \d+: your code exits the program here"),
        ("return (", r"mine\.py, line \d+: this is not valid Python"),
    ],
)
async def test_an_error_in_the_code_ends_the_demo_and_names_the_line(tmp_path: Path, body: str, message: str) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(LOOP.replace('return [{"type": "text", "text": "Go on."}]', body), "utf-8")
    async with Recording(with_solution(lesson("s01"), mine), scripted_only=True) as recording:
        with pytest.raises(LessonError, match=message):
            await recording.finished()


def test_a_folder_a_note_or_the_name_of_the_file_says_which_exercise_it_is(tmp_path: Path) -> None:
    folder = copy_exercise(EXERCISES[0], tmp_path, "en")
    for place in (tmp_path, folder, folder / EXERCISES[0].file):
        assert with_solution(lesson("s01"), place).solution == (folder / EXERCISES[0].file).resolve()
    with pytest.raises(NoSolution, match=r"is a solution of s01-loop; `harness learn s01` plays it"):
        with_solution(lesson("s02"), folder)
    (folder / EXERCISES[0].file).unlink()
    with pytest.raises(NoSolution, match=r"loop\.py is missing; `harness learn s01 --exercise loop` restores it"):
        with_solution(lesson("s01"), folder)
    with pytest.raises(NoSolution, match="does not exist"):
        with_solution(lesson("s01"), tmp_path / "none.py")


def test_the_command_plays_it_and_says_what_does_not_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_HOME_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["learn", "s04", "--auto", "--language", "en", "--with", str(guard().original)]) == 1
    said = capsys.readouterr()
    assert "with your guard.py" in said.out
    assert "these steps do not hold in this run: 1, 2, 3, 4, 5." in said.err


def test_a_passed_check_names_the_command() -> None:
    copy = Copy(guard(), guard().folder, CopyNote(guard().id))
    said = "\n".join(check_lines(copy, Checked(guard(), None, (), "", 0), "en"))
    assert f"Watch it: harness learn s04 --with {shown_path(copy.file)}" in said


def guard() -> Exercise:
    """The exercise of s04."""
    return next(one for one in EXERCISES if one.id == "s04-guard")
