"""Exercises of a chapter: copied to where the learner is, and what to type then."""

from difflib import get_close_matches
from pathlib import Path

from harness.lessons import Language, Lesson
from harness.lessons.copies import copy_exercise
from harness.lessons.exercises import Exercise, UnknownExercise, exercises_of
from harness.ui.lessons import texts


def exercises_called(lesson: Lesson, name: str) -> tuple[Exercise, ...]:
    """The exercise of a chapter with this name, "backoff" or "s11-backoff"; no name: all. Raises UnknownExercise."""
    known = exercises_of(lesson.folder)
    found = tuple(one for one in known if name in ("", one.name, one.id))
    if not found and name:
        names = [one.name for one in known]
        near = get_close_matches(name, names, n=1)
        there_are = f"there are {', '.join(names)}." if names else "it has none."
        raise UnknownExercise(
            f"{lesson.id} has no exercise {name!r}; {f'did you mean {near[0]}?' if near else there_are}"
        )
    return found


def copied(lesson: Lesson, name: str, into: Path, language: Language) -> tuple[str, ...]:
    """Copy an exercise under a folder; no name: all of the chapter. Returns what to tell, in lines.

    Raises UnknownExercise, and CopyError when it cannot be written.
    """
    found = exercises_called(lesson, name)
    if not found:
        return (texts.NO_EXERCISE.into(language),)
    told = []
    for one in found:
        folder = copy_exercise(one, into, language)
        place = folder.relative_to(into) if folder.is_relative_to(into) else folder
        told.append(texts.COPIED.into(language).format(title=one.title.into(language), folder=place))
        told.append(texts.TO_DO.into(language).format(file=f"{place}/{one.file}", folder=place))
    return tuple(told)
