"""A chapter with the learner's solution of an exercise in place of our code.

The folder of an exercise holds `in_chapter.py`, whose `demo(session, work)` is the demo of the chapter with the module
`work` of the learner. Its folder `play`, if there is one, replaces the steps, the script and the workspace.
"""

import inspect
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from importlib import import_module
from pathlib import Path
from traceback import walk_tb
from types import FunctionType, ModuleType
from typing import Any

from chapters.course.checks.copies import copies, copy_in
from chapters.course.checks.exercises import Exercise, every_exercise, exercises_of
from chapters.course.demo_session import DemoSession
from chapters.course.lesson import Lesson, LessonError, load_lesson
from chapters.course.limiter import Blocked, Limiter
from harness.base.external_text import visible

ADAPTER = "in_chapter.py"
PLAY = "play"
MODULE = "harness_solution"


class SolutionError(LessonError):
    """The learner's code cannot be used, or failed; the message names its file."""


class NoSolution(SolutionError):  # noqa: N818 (reads better where it is raised)
    """There is no solution for this chapter at the given path."""

    exit_code = 2


def is_playable(exercise: Exercise) -> bool:
    """Whether a solution of this exercise can run in its chapter."""
    return (exercise.folder / ADAPTER).is_file()


def with_solution(lesson: Lesson, place: Path) -> Lesson:
    """The chapter with a solution: a file, or the folder of a copy. Raises NoSolution, NoCopy and LessonError."""
    exercise, file = _found(lesson, place)
    if not is_playable(exercise):
        raise NoSolution(f"{exercise.id} cannot run in its chapter; `harness check` checks it.")
    play = exercise.folder / PLAY
    scene = play if play.is_dir() else None
    shown = lesson if scene is None else replace(load_lesson(scene, lesson.name), folder=lesson.folder)
    return replace(shown, scene=scene, exercise=exercise.name, solution=file.resolve())


def _found(lesson: Lesson, place: Path) -> tuple[Exercise, Path]:
    """The exercise and the file at a path."""
    if not place.exists():
        raise NoSolution(f"{visible(str(place))} does not exist; name your file or the folder of an exercise.")
    own = exercises_of(lesson.folder)
    every = every_exercise(lesson.folder.parent)
    if place.is_dir():
        found = [(copy.exercise, copy.file) for copy in copies(place, every)]
    else:
        copy = copy_in(place.parent, every)
        noted = [copy.exercise] if copy is not None and copy.exercise.file == place.name else []
        named = [one for one in (*own, *every) if one.file == place.name][:1]
        found = [(one, place) for one in noted or named or (own if len(own) == 1 else ())]
    fitting = [(exercise, file) for exercise, file in found if exercise.chapter == lesson.id]
    if not fitting and found:
        other, _ = found[0]
        raise NoSolution(
            f"{visible(str(place))} is a solution of {other.id}; `harness learn {other.chapter}` plays it."
        )
    if not fitting:
        files = ", ".join(one.file for one in own) or "none"
        raise NoSolution(f"{visible(str(place))} belongs to no exercise of {lesson.id}; its files are: {files}.")
    if len(fitting) > 1:
        files = ", ".join(str(file) for _, file in fitting)
        raise NoSolution(f"There are several solutions of {lesson.id} here; name one: {visible(files)}.")
    [(exercise, file)] = fitting
    if not file.is_file():
        again = f"harness learn {exercise.chapter} --exercise {exercise.name}"
        raise NoSolution(f"{visible(str(file))} is missing; `{again}` restores it.")
    return exercise, file


@dataclass(frozen=True, slots=True)
class SolutionDemo:
    """The demo of a chapter with the learner's module, which is read again for each run."""

    file: Path
    module: str
    """Of the adapter."""

    @classmethod
    def of(cls, lesson: Lesson, file: Path) -> "SolutionDemo":
        """The demo for a solution of an exercise of this chapter."""
        return cls(file, f"chapters.{lesson.name}.exercises.{lesson.exercise}.{Path(ADAPTER).stem}")

    async def __call__(self, session: DemoSession) -> None:
        """Run it. Raises SolutionError for whatever the learner's code raises."""
        adapter = import_module(self.module)
        with Limiter(str(self.file), str(adapter.__file__)):
            try:
                demo: Callable[[DemoSession, ModuleType], Awaitable[None]] = adapter.demo
                await demo(session, load(self.file))
            except (Exception, BaseExceptionGroup, Blocked, SystemExit) as error:
                raise failure(error, self.file) from error


def load(file: Path) -> ModuleType:
    """The module in the learner's file. Raises what its code raises."""
    module = ModuleType(MODULE)
    module.__file__ = str(file)
    sys.modules[MODULE] = module  # for its data classes
    exec(compile(file.read_bytes(), str(file), "exec"), vars(module))
    _contain(module, file)
    return module


def failure(error: BaseException, file: Path) -> SolutionError:
    """What went wrong, with the line of the learner's file if it was there."""
    if isinstance(error, SolutionError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return failure(error.exceptions[0], file)
    name, text = file.name, visible(f"{type(error).__name__}: {error}".removesuffix(": "))
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == str(file)]
    match error:
        case SyntaxError(filename=path) if path == str(file):
            return SolutionError(f"{name}, line {error.lineno}: this is not valid Python: {error.msg}.")
        case Blocked():
            return SolutionError(f"{name}, line {error.line}: {error}; look for an endless loop.")
        case AttributeError(obj=ModuleType(__name__=module), name=str(missing)) if module == MODULE:
            return SolutionError(f"{name} does not define {missing}.")
        case SystemExit() if lines:
            return SolutionError(f"{name}, line {lines[-1]}: your code exits the program here; return instead.")
        case OSError(filename=path) if path == str(file):
            return SolutionError(f"{name} cannot be read: {error.strerror}.")
    if lines:
        return SolutionError(f"{name}, line {lines[-1]}: your code raised {text}")
    return SolutionError(f"{name}: the chapter cannot use its result: {text}")


def _contain(module: ModuleType, file: Path) -> None:
    """Make errors of its functions that would end the event loop from any task."""
    owners: list[ModuleType | type] = [module, *(value for value in vars(module).values() if isinstance(value, type))]
    for owner in owners:
        for name, function in list(_functions(owner, file)):
            setattr(owner, name, _contained(function, file))


def _functions(owner: ModuleType | type, file: Path) -> Iterator[tuple[str, FunctionType]]:
    for name, value in vars(owner).items():
        if isinstance(value, FunctionType) and value.__code__.co_filename == str(file):
            yield name, value


def _contained(function: Callable[..., Any], file: Path) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*given: Any, **named: Any) -> Any:
            try:
                return await function(*given, **named)
            except (Blocked, SystemExit) as error:
                raise failure(error, file) from error

        return awaited

    @wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except (Blocked, SystemExit) as error:
            raise failure(error, file) from error

    return called
