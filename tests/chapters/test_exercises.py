"""Every exercise of every chapter: the given file fails, the solution passes, and no text gives it away."""

import ast
from pathlib import Path

import pytest

from chapters.course.catalogue import chapters_folder, lessons
from chapters.course.checks.checker import Checked, CheckLimits, Trouble, run_checks
from chapters.course.checks.exercises import Exercise, every_exercise
from chapters.course.sources import source
from chapters.course.text import LANGUAGES
from tests.chapters.solved import lines_of, solution_of
from tests.chapters.warm_checking import checked_in_a_fork

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
EXERCISES = every_exercise(chapters_folder())
PATIENT = CheckLimits(check_s=50, wait_s=100, all_s=110)
"""How long a machine takes that does much else says nothing of an exercise."""
ENDLESS = CheckLimits(check_s=3, wait_s=100, all_s=110)
"""For files one of whose checks computes without an end; a busy machine takes long for three seconds of computing."""
STARTED = "s06-delegate"
"""The exercise whose checks are started in the normal command, too, as they are for a learner."""
each = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
started = pytest.mark.parametrize(
    "exercise",
    [pytest.param(one, id=one.id, marks=() if one.id == STARTED else pytest.mark.stories) for one in EXERCISES],
)


def test_every_chapter_has_an_exercise() -> None:
    assert {exercise.chapter for exercise in EXERCISES} == {lesson.id for lesson in lessons()}


@each
def test_it_names_the_place_of_the_program_that_does_the_same(exercise: Exercise) -> None:
    assert exercise.program is not None
    assert exercise.program.startswith("harness/")
    assert source(exercise.program).text.strip()


def production_of(exercise: Exercise) -> Path:
    """The production code with the interface of the exercise, if it exists."""
    return HERE / exercise.folder.parents[1].name / "production" / exercise.name / exercise.file


@pytest.mark.grid(3)
@each
async def test_the_file_as_it_is_handed_out_does_not_pass(exercise: Exercise) -> None:
    checked = await checked_in_a_fork(exercise, exercise.original, ENDLESS)
    assert checked.loading is None
    assert not checked.passed
    assert len(checked.results) == len(exercise.checks)


@pytest.mark.grid(3)
@each
async def test_the_solution_passes_every_check(exercise: Exercise, tmp_path: Path) -> None:
    checked = await checked_in_a_fork(exercise, solution_of(exercise, tmp_path), PATIENT)
    assert checked.loading is None
    assert {result.check.name: result.failure for result in checked.results if not result.passed} == {}
    assert checked.left == 0
    assert checked.printed == ""


@pytest.mark.grid(1)
@pytest.mark.parametrize("exercise", [one for one in EXERCISES if production_of(one).exists()], ids=lambda one: one.id)
async def test_the_program_itself_passes_every_check(exercise: Exercise) -> None:
    """A rule of an exercise that the program does not keep would be a wrong statement. Where the checks compare with
    the program, that is so by construction; a folder `production` has the others."""
    checked = await checked_in_a_fork(exercise, production_of(exercise), PATIENT)
    assert checked.loading is None
    assert {result.check.name: result.failure for result in checked.results if not result.passed} == {}


@pytest.mark.stories
@started
async def test_a_program_that_is_started_says_of_both_files_what_a_fork_says(
    exercise: Exercise, tmp_path: Path
) -> None:
    for file, limits in ((exercise.original, ENDLESS), (solution_of(exercise, tmp_path), PATIENT)):
        cold, warm = await run_checks(exercise, file, limits), await checked_in_a_fork(exercise, file, limits)
        assert said(cold) == said(warm)


def said(checked: Checked) -> tuple[object, ...]:
    """All but the texts of failures: identifiers and folders in them are new at each run. What never ends, or stays
    where it is, may be interrupted in any line of its loop."""
    failures = [result.failure for result in checked.results]
    told = [
        one and (one.trouble, None if one.trouble in (Trouble.ENDLESS, Trouble.STUCK) else one.line) for one in failures
    ]
    return checked.loading, told, checked.printed, checked.left


@each
def test_every_check_function_is_named_to_the_learner_and_the_other_way_round(exercise: Exercise) -> None:
    body = ast.parse(exercise.check_file.read_text("utf-8")).body
    functions = [one.name for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert [name for name in functions if name.startswith("check_")] == [check.name for check in exercise.checks]


@each
def test_neither_task_nor_hints_nor_the_file_hold_a_line_of_the_solution(exercise: Exercise) -> None:
    written = [line for line in lines_of(exercise) if len(line) > 12]
    assert written
    texts = (exercise.task, *exercise.hints, *(text for one in exercise.checks for text in (one.wants, one.wrong)))
    told = "\n".join(text.into(language) for text in texts for language in LANGUAGES)
    assert [line for line in written if line in told] == []


@each
def test_a_japanese_text_is_japanese_and_an_english_one_is_not(exercise: Exercise) -> None:
    texts = (exercise.title, exercise.task, *exercise.hints)
    texts += tuple(text for check in exercise.checks for text in (check.wants, check.wrong))
    assert [text.ja for text in texts if not _is_japanese(text.ja)] == []
    assert [text.en for text in texts if _is_japanese(text.en)] == []


@each
def test_the_folder_holds_nothing_but_what_a_learner_may_see(exercise: Exercise) -> None:
    names = {file.name for file in exercise.folder.iterdir()} - {"__pycache__", "in_chapter.py", "play"}
    assert names == {"exercise.toml", "check.py", exercise.file}


def _is_japanese(text: str) -> bool:
    return any("\u3040" <= character <= "\u30ff" or "\u4e00" <= character <= "\u9fff" for character in text)
