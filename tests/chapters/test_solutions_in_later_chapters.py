"""Solutions of the exercises from s08 on, in their chapters: a right one does what the steps say, the original not."""

from functools import partial
from importlib import import_module
from pathlib import Path
from shutil import copytree
from types import ModuleType

import pytest

from harness.lessons import LessonError, Recording
from harness.lessons.catalogue import chapters_folder
from harness.lessons.exercises import Exercise, every_exercise
from harness.lessons.lesson import load_lesson
from tests.chapters.test_exercises import solution_of

pytestmark = pytest.mark.anyio

EXERCISES = [
    one
    for one in every_exercise(chapters_folder())
    if one.chapter >= "s08" and (one.folder / "in_chapter.py").is_file()
]
each = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)


def module_in(file: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    work = ModuleType(f"solution_{file.stem}")
    monkeypatch.setitem(import_module("sys").modules, work.__name__, work)  # for its data classes
    exec(compile(file.read_bytes(), str(file), "exec"), vars(work))
    return work


async def failures(exercise: Exercise, work: ModuleType, tmp_path: Path) -> list[str]:
    """The steps that fail or are missing, and the error that ends the demo."""
    chapter = exercise.folder.parents[1]
    scene = tmp_path / chapter.name
    copytree(exercise.folder / "play", scene)
    if (chapter / "workspace").is_dir() and not (scene / "workspace").is_dir():
        copytree(chapter / "workspace", scene / "workspace")
    adapter = import_module(f"chapters.{chapter.name}.exercises.{exercise.name}.in_chapter")
    demo = partial(adapter.demo, work=work)
    async with Recording(load_lesson(scene), scripted_only=True, demo=demo) as recording:
        try:
            await recording.finished()
            ended = []
        except LessonError as error:
            ended = [str(error)]
        return [f"step {number}: {', '.join(found.failed)}" for number, found in recording.failed] + ended


@each
async def test_a_solution_does_what_the_steps_say(
    exercise: Exercise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await failures(exercise, module_in(solution_of(exercise), monkeypatch), tmp_path) == []


@each
async def test_of_the_original_a_step_is_named(
    exercise: Exercise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = await failures(exercise, module_in(exercise.original, monkeypatch), tmp_path)
    assert any("step" in one for one in said), said
