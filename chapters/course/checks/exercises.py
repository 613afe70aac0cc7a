"""Exercises as data: task, checks and hints.

A folder `chapters/sNN_name/exercises/NAME/` holds `exercise.toml`, the incomplete file to edit, and `check.py`; see
EXERCISES.md.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from chapters.course.text import LocalizedText, text_in
from harness.base.errors import HarnessError
from harness.base.toml import key_lines
from harness.events import Json
from harness.practice.toml_table import ScriptError, Table

FILE = "exercise.toml"
CHECKS = "check.py"
FOLDER = "exercises"
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CHECK = re.compile(r"check_\w+")
_PYTHON = re.compile(r"[a-z]\w*\.py")


class ExerciseError(HarnessError):
    """An exercise cannot be used."""


class UnknownExercise(HarnessError):  # noqa: N818 (reads better where it is raised)
    """There is no such exercise."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement on the learner's code."""

    name: str
    """Function in check.py."""
    wants: LocalizedText
    """The requirement, in a sentence."""
    wrong: LocalizedText
    """What a failure means."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """A part of the program for the learner to write."""

    chapter: str
    """Id of its chapter: "s11"."""
    name: str
    """Name of its folder: "backoff"."""
    folder: Path
    title: LocalizedText
    task: LocalizedText
    """Markdown."""
    file: str
    """The file to edit."""
    hints: tuple[LocalizedText, ...]
    """In increasing detail."""
    hint_checks: tuple[frozenset[str], ...]
    """The checks that each hint helps with, by name; empty: all."""
    checks: tuple[Check, ...]
    program: str | None = None
    """Where the program does the same: a path and a name in that file."""
    same: LocalizedText | None = None
    """What to say of that place where the program does not do the same; with {path}, {line} and {name}."""

    @property
    def id(self) -> str:
        """Chapter and name, "s11-backoff"; also the folder of a copy."""
        return f"{self.chapter}-{self.name}"

    @property
    def original(self) -> Path:
        """The unchanged file to edit."""
        return self.folder / self.file

    @property
    def check_file(self) -> Path:
        """The original checks."""
        return self.folder / CHECKS


def exercises_of(chapter: Path) -> tuple[Exercise, ...]:
    """The exercises in the folder of a chapter, by name. Raises ExerciseError."""
    folder = chapter / FOLDER
    if not folder.is_dir():
        return ()
    return tuple(load_exercise(file.parent) for file in sorted(folder.glob(f"*/{FILE}")))


def every_exercise(chapters: Path) -> tuple[Exercise, ...]:
    """The exercises of all chapters in order. Raises ExerciseError."""
    return tuple(one for folder in sorted(chapters.glob("s[0-9][0-9]_*")) for one in exercises_of(folder))


def exercise_called(id: str, exercises: tuple[Exercise, ...]) -> Exercise:
    """The exercise with this id, "s11-backoff". Raises UnknownExercise with similar ids."""
    for one in exercises:
        if one.id == id:
            return one
    ids = [one.id for one in exercises]
    near = get_close_matches(id, ids, n=1)
    raise UnknownExercise(
        f"There is no exercise {id!r}; did you mean {near[0]}?"
        if near
        else f"There is no exercise {id!r}; there are {', '.join(ids) or 'none'}."
    )


def load_exercise(folder: Path) -> Exercise:
    """Load the exercise in a folder. Raises ExerciseError."""
    chapter = folder.parent.parent.name
    file = folder / FILE
    place = f"{chapter}/{FOLDER}/{folder.name}/{FILE}"
    try:
        text = file.read_text("utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise ExerciseError(f"{place} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise ExerciseError(f"{place} is not valid TOML in UTF-8: {error}.") from error
    try:
        exercise = _ExerciseReader(place, data, key_lines(text)).exercise(folder, chapter.partition("_")[0])
    except ScriptError as error:
        raise ExerciseError(str(error)) from error
    for needed in (exercise.original, exercise.check_file):
        if not needed.is_file():
            raise ExerciseError(f"{place}: {needed.name} is missing; it belongs beside {FILE}.")
    return exercise


class _ExerciseReader:
    """Reads exercise.toml; errors name its lines."""

    def __init__(self, place: str, data: Json, lines: Mapping[tuple[str, ...], int]) -> None:
        self._place = place
        self._data = data
        self._lines = lines

    def exercise(self, folder: Path, chapter: str) -> Exercise:
        """The exercise. Raises ScriptError."""
        whole = Table(self._data, self._place)
        whole.expect("title", "task", "file", "program", "same", "hints", "checks")
        if not _NAME.fullmatch(folder.name):
            raise whole.error(f"the folder name {folder.name!r} must consist of small letters, digits and _")
        hints, checks = self._tables("hints"), self._tables("checks")
        if not hints or not checks:
            raise whole.error("at least one hint and one [[checks]] are needed")
        read = tuple(_check(Table(check, place)) for place, check in checks)
        known = frozenset(check.name for check in read)
        return Exercise(
            chapter=chapter,
            name=folder.name,
            folder=folder,
            title=text_in(self._at("title"), "title"),
            task=text_in(self._at("task"), "task"),
            file=self._file(),
            hints=tuple(_hint(place, hint) for place, hint in hints),
            hint_checks=tuple(_hint_checks(Table(hint, place), known) for place, hint in hints),
            checks=read,
            program=self._at("program").text("program"),
            same=text_in(self._at("same"), "same") if "same" in self._data else None,
        )

    def _file(self) -> str:
        table = self._at("file")
        file = table.text("file")
        if file is None or not _PYTHON.fullmatch(file) or file == CHECKS:
            raise table.error("file is needed: the file to edit, such as waiting.py")
        return file

    def _tables(self, key: str) -> list[tuple[str, Json]]:
        self._at(key).tables(key)  # raises if it is not a list of tables
        return [(self._at(key, str(number)).place, one) for number, one in enumerate(self._data.get(key, ()))]

    def _at(self, *path: str) -> Table:
        line = self._lines.get(path) or self._lines.get(path[:1])
        return Table(self._data, f"{self._place}, line {line}" if line else self._place)


def _hint(place: str, hint: Json) -> LocalizedText:
    said = {key: value for key, value in hint.items() if key != "checks"}
    return text_in(Table({"hint": said}, place), "hint")


def _hint_checks(table: Table, known: frozenset[str]) -> frozenset[str]:
    names = frozenset(table.texts("checks") or ())
    if wrong := sorted(names - known):
        raise table.error(f"checks: there is no check {wrong[0]!r}")
    return names


def _check(table: Table) -> Check:
    name = table.text("name")
    if name is None or not _CHECK.fullmatch(name):
        raise table.error("name is needed: a function of check.py such as check_order")
    check = Check(name, text_in(table, "wants"), text_in(table, "wrong"))
    table.done()
    return check
