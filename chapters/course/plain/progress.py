"""The learner's progress in each chapter, and copies of its exercises."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from chapters.course import Language, Lesson, Progress
from chapters.course.catalogue import chapters_folder
from chapters.course.checks.copies import copy_exercise
from chapters.course.checks.exercises import Exercise, UnknownExercise, every_exercise, exercises_of
from chapters.course.plain import messages
from chapters.course.plain.predictions import score_text


@dataclass(frozen=True, slots=True)
class ChapterProgress:
    """The progress in one chapter."""

    lesson: Lesson
    step: int
    """The last step seen, from 1; 0: none."""
    done: bool
    exercises: int = 0
    """Number of exercises."""
    passed: int = 0
    """Number of solved exercises."""
    predictions: tuple[int, int] = (0, 0)
    """Right predictions and all that were made."""

    def label(self, language: Language) -> str:
        """For example "step 4 of 9"."""
        if self.done:
            seen = messages.DONE.into(language)
        elif not self.step:
            seen = messages.NEW.into(language)
        else:
            seen = messages.STEP_OF.into(language).format(number=self.step, count=len(self.lesson.steps))
        solved = messages.PASSED.into(language).format(passed=self.passed, count=self.exercises) if self.passed else ""
        return ", ".join(filter(None, (seen, solved, score_text(self.predictions, language))))


def chapter_progress(lessons: Sequence[Lesson], progress: Progress) -> tuple[ChapterProgress, ...]:
    """The progress in all chapters, in order."""
    return tuple(_progress_of(one, progress) for one in lessons)


def _progress_of(lesson: Lesson, progress: Progress) -> ChapterProgress:
    exercises = exercises_of(lesson.folder)
    return ChapterProgress(
        lesson,
        min(progress.step(lesson.id), len(lesson.steps)),
        progress.done(lesson.id),
        len(exercises),
        sum(progress.has_passed(one.id) for one in exercises),
        progress.predictions(lesson.id),
    )


def next_chapter(chapter_progress: Sequence[ChapterProgress]) -> ChapterProgress | None:
    """The first chapter in progress, else the first new one; None: all are done."""
    open_ones = [one for one in chapter_progress if not one.done]
    return next((one for one in open_ones if one.step), open_ones[0] if open_ones else None)


def starting_step(lesson: Lesson, progress: Progress) -> int:
    """The step at which to continue; 0 for a new or completed chapter, and with a solution of the learner."""
    return (
        0
        if lesson.solution is not None or progress.done(lesson.id)
        else max(0, min(progress.step(lesson.id), len(lesson.steps) - 1))
    )


def exercises_called(lesson: Lesson | None, name: str) -> tuple[Exercise, ...]:
    """The exercise with this name or id, "backoff" or "s11-backoff", of a chapter or of the course; empty: all.

    Raises UnknownExercise.
    """
    known = exercises_of(lesson.folder) if lesson else every_exercise(chapters_folder())
    found = tuple(one for one in known if name in ("", one.name, one.id))
    if not found and name:
        names = [one.name for one in known]
        near = get_close_matches(name, names, n=1)
        there_are = f"there are {', '.join(names)}." if names else "it has none."
        advice = f"did you mean {near[0]}?" if near else there_are
        raise UnknownExercise(f"{lesson.id if lesson else 'The course'} has no exercise {name!r}; {advice}")
    return found


def copied(lesson: Lesson | None, name: str, into: Path, language: Language) -> tuple[str, ...]:
    """Copy an exercise, or all of a chapter or of the course, to a folder; returns lines to print.

    Raises UnknownExercise, CopyError.
    """
    found = exercises_called(lesson, name)
    if not found:
        return (messages.NO_EXERCISE.into(language),)
    lines = []
    for one in found:
        folder = copy_exercise(one, into, language)
        place = folder.relative_to(into) if folder.is_relative_to(into) else folder
        lines.append(messages.COPIED.into(language).format(title=one.title.into(language), folder=place))
        lines.append(messages.TO_DO.into(language).format(file=f"{place}/{one.file}", folder=place))
    return tuple(lines)
