"""Copies of exercises, where learners work on them. What a learner has written is never written over.

A copy is a folder with the learner's file, the checks to read, TASK.md, and a small file of ours that remembers which
exercise it is and how many hints were shown.
"""

import json
import shutil
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path

from harness.base.errors import HarnessError
from harness.lessons.exercises import CHECKS, Exercise, UnknownExercise, exercise_called
from harness.lessons.languages import LANGUAGES, Language
from harness.lessons.task_page import TASK, task_page
from harness.tools.files import replace_atomically

FOLDER = "harness-exercises"
NOTE = ".exercise.json"


class CopyError(HarnessError):
    """A copy cannot be made or used. One sentence."""


class NoCopy(HarnessError):  # noqa: N818 (reads better where it is raised)
    """Nothing to check was found where the learner pointed."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Note:
    """What a copy remembers."""

    exercise: str
    """Its id."""
    language: Language = "en"
    hints: int = 0
    """How many were shown."""


@dataclass(frozen=True, slots=True)
class Copy:
    """An exercise in the folder where somebody works on it."""

    exercise: Exercise
    folder: Path
    note: Note

    @property
    def file(self) -> Path:
        """What the learner edits."""
        return self.folder / self.exercise.file

    @property
    def has_other_checks(self) -> bool:
        """Somebody changed the copy's check.py, which does not count."""
        own = self.folder / CHECKS
        return own.is_file() and own.read_bytes() != self.exercise.check_file.read_bytes()

    def next_hint(self) -> tuple["Copy", int | None]:
        """The copy with one more hint shown, and the number of that hint from 0; None: there are no more.

        Raises CopyError when it cannot be remembered.
        """
        shown = self.note.hints
        if shown >= len(self.exercise.hints):
            return self, None
        note = replace(self.note, hints=shown + 1)
        _write(self.folder / NOTE, json.dumps(asdict(note)))
        return replace(self, note=note), shown


def begun(exercise: Exercise, into: Path) -> Path | None:
    """The copy under a folder that somebody works on already; None: there is none."""
    folder = into / FOLDER / exercise.id
    return folder if folder.exists() else None


def copy_exercise(exercise: Exercise, into: Path, language: Language, *, restart: bool = False) -> Path:
    """Make `harness-exercises/<id>` under a folder, and return it.

    Where it is already, what somebody changed stays as it is and what is missing is put back. With `restart` the old
    folder is kept beside it, with a number behind its name, and a new one is made. Raises CopyError.
    """
    folder = into / FOLDER / exercise.id
    try:
        if restart and folder.exists():
            folder.rename(_free(folder))
        folder.mkdir(parents=True, exist_ok=True)
        for original in (exercise.original, exercise.check_file):
            if not (folder / original.name).exists():
                shutil.copyfile(original, folder / original.name)
        if _is_ours(folder / TASK, exercise):
            _write(folder / TASK, task_page(exercise, language))
        note = _note(folder)
        shown = note.hints if note and note.exercise == exercise.id else 0
        _write(folder / NOTE, json.dumps(asdict(Note(exercise.id, language, shown))))
    except OSError as error:
        raise CopyError(f"{folder} cannot be written: {error.strerror or error}.") from error
    return folder


def copies(place: Path, exercises: tuple[Exercise, ...]) -> tuple[Copy, ...]:
    """The copies that a place means: itself, or else all in its folder `harness-exercises`, or all directly in it.

    A name such as "s11-backoff" that is no folder means the copy of that exercise. Copies that were set aside are meant
    only when they are named. Raises NoCopy.
    """
    if not place.exists() and (named := place.parent / FOLDER / place.name).exists():
        place = named
    if not place.exists():
        raise NoCopy(f"There is no {place}; name the folder of an exercise.")
    folder = place if place.is_dir() else place.parent
    if one := _copy(folder, exercises):
        return (one,)
    home = folder / FOLDER if (folder / FOLDER).is_dir() else folder
    inside = (_copy(inner, exercises) for inner in sorted(home.iterdir()) if inner.is_dir())
    found = tuple(copy for copy in inside if copy and copy.folder.name == copy.exercise.id)
    if not found:
        first = exercises[0].chapter if exercises else "s01"
        raise NoCopy(f"There is no exercise in {folder}; `harness learn {first} --exercise` makes one.")
    return found


def _copy(folder: Path, exercises: tuple[Exercise, ...]) -> Copy | None:
    note = _note(folder)
    if note is None:  # the note is lost or damaged: the name tells as well
        known = next((one for one in exercises if one.id == folder.name and (folder / one.file).exists()), None)
        return Copy(known, folder, Note(known.id)) if known else None
    try:
        return Copy(exercise_called(note.exercise, exercises), folder, note)
    except UnknownExercise as error:
        raise NoCopy(f"{folder}: {error}") from error


def _note(folder: Path) -> Note | None:
    try:
        kept = json.loads((folder / NOTE).read_text("utf-8"))
        exercise, language, hints = kept["exercise"], kept["language"], kept["hints"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    usable = isinstance(exercise, str) and language in LANGUAGES and type(hints) is int and hints >= 0
    return Note(exercise, language, hints) if usable else None


def _is_ours(page: Path, exercise: Exercise) -> bool:
    """Nobody has written into the page of the task, in whatever language it is."""
    return not page.exists() or page.read_bytes() in [task_page(exercise, one).encode() for one in LANGUAGES]


def _free(folder: Path) -> Path:
    """The first name with a number that nobody has."""
    names = (folder.with_name(f"{folder.name}-{number}") for number in count(1))
    return next(name for name in names if not name.exists())


def _write(file: Path, text: str) -> None:
    try:
        replace_atomically(file, text.encode())
    except OSError as error:
        raise CopyError(f"{file} cannot be written: {error.strerror or error}.") from error
