"""Working copies of exercises. Files changed by the learner are never overwritten.

A copy is a folder with the learner's file, the checks, TASK.md, and a note with the exercise and the number of hints
shown.
"""

import json
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from chapters.course.checks.exercises import CHECKS, Exercise, UnknownExercise, exercise_called
from chapters.course.text import LANGUAGES, Language
from harness.base.errors import HarnessError
from harness.base.files import replace_atomically

FOLDER = "harness-exercises"
NOTE = ".exercise.json"


class CopyError(HarnessError):
    """A copy cannot be created or used."""


class NoCopy(HarnessError):  # noqa: N818 (reads better where it is raised)
    """There is no copy at the given path."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class CopyNote:
    """The note in a copy."""

    exercise: str
    """Its id."""
    language: Language = "en"
    hints: tuple[int, ...] = ()
    """Indices of the hints shown so far."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A working copy of an exercise."""

    exercise: Exercise
    folder: Path
    note: CopyNote

    @property
    def file(self) -> Path:
        """The file to edit."""
        return self.folder / self.exercise.file

    @property
    def has_other_checks(self) -> bool:
        """Whether check.py in the copy is not that of the course: changed, or of another version. It has no effect."""
        own = self.folder / CHECKS
        return own.is_file() and own.read_bytes() != self.exercise.check_file.read_bytes()

    def next_hint(self, failed: str | None = None) -> tuple["Copy", int | None]:
        """The copy with one more hint shown, and the index of that hint; None: there are no more. Raises CopyError.

        A hint for the check `failed` comes first, then one for all checks.
        """
        left = [index for index in range(len(self.exercise.hints)) if index not in self.note.hints]
        if not left:
            return self, None
        helps = self.exercise.hint_checks
        chosen = min(left, key=lambda index: (failed not in helps[index], bool(helps[index])))
        note = replace(self.note, hints=(*self.note.hints, chosen))
        _write(self.folder / NOTE, json.dumps(asdict(note)))
        return replace(self, note=note), chosen


def copy_exercise(exercise: Exercise, into: Path, language: Language) -> Path:
    """Create `harness-exercises/<id>` in a folder and return its path.

    In an existing copy only missing files are restored. Raises CopyError.
    """
    folder = into / FOLDER / exercise.id
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for original in (exercise.original, exercise.check_file):
            if not (folder / original.name).exists():
                shutil.copyfile(original, folder / original.name)
        if _is_ours(folder / TASK, exercise):
            _write(folder / TASK, task_page(exercise, language))
        note = _note(folder)
        shown = note.hints if note and note.exercise == exercise.id else ()
        _write(folder / NOTE, json.dumps(asdict(CopyNote(exercise.id, language, shown))))
    except OSError as error:
        raise CopyError(f"{folder} cannot be written: {error.strerror or error}.") from error
    return folder


def copies(place: Path, exercises: tuple[Exercise, ...]) -> tuple[Copy, ...]:
    """The copies at a path: the path itself, or those in its folder `harness-exercises`, or those directly in it.

    An id such as "s11-backoff" finds the copy of that exercise. Renamed copies must be named. Raises NoCopy.
    """
    if not place.exists() and (named := place.parent / FOLDER / place.name).exists():
        place = named
    if not place.exists():
        raise NoCopy(f"{place} does not exist; name the folder of an exercise.")
    folder = place if place.is_dir() else place.parent
    if one := copy_in(folder, exercises):
        return (one,)
    home = folder / FOLDER if (folder / FOLDER).is_dir() else folder
    inside = (copy_in(inner, exercises) for inner in sorted(home.iterdir()) if inner.is_dir())
    found = tuple(copy for copy in inside if copy and copy.folder.name == copy.exercise.id)
    if not found:
        first = exercises[0].chapter if exercises else "s01"
        raise NoCopy(f"There is no exercise in {folder}; `harness learn {first} --exercise` creates one.")
    return found


def copy_in(folder: Path, exercises: tuple[Exercise, ...]) -> Copy | None:
    """The copy in exactly this folder; None: there is none. Raises NoCopy if its exercise does not exist."""
    note = _note(folder)
    if note is None:  # the note is lost or damaged: use the name
        known = next((one for one in exercises if one.id == folder.name and (folder / one.file).exists()), None)
        return Copy(known, folder, CopyNote(known.id)) if known else None
    try:
        return Copy(exercise_called(note.exercise, exercises), folder, note)
    except UnknownExercise as error:
        raise NoCopy(f"{folder}: {error}") from error


def _note(folder: Path) -> CopyNote | None:
    try:
        kept = json.loads((folder / NOTE).read_text("utf-8"))
        exercise, language, hints = kept["exercise"], kept["language"], kept["hints"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if type(hints) is int:  # as it was written before hints followed the checks
        hints = list(range(hints))
    whole = isinstance(hints, list) and all(type(index) is int and index >= 0 for index in hints)
    usable = isinstance(exercise, str) and language in LANGUAGES and whole
    return CopyNote(exercise, language, tuple(hints)) if usable else None


def _is_ours(page: Path, exercise: Exercise) -> bool:
    return not page.exists() or page.read_bytes() in [task_page(exercise, one).encode() for one in LANGUAGES]


def _write(file: Path, text: str) -> None:
    try:
        replace_atomically(file, text.encode())
    except OSError as error:
        raise CopyError(f"{file} cannot be written: {error.strerror or error}.") from error


TASK = "TASK.md"


def task_page(exercise: Exercise, language: Language) -> str:
    """TASK.md of a copy: task, checks and hints."""
    title = f"# {exercise.chapter} · {exercise.title.into(language)}"
    wants = "\n".join(f"- {check.wants.into(language)}" for check in exercise.checks)
    write = _japanese if language == "ja" else _english
    return f"{title}\n\n{exercise.task.into(language).strip()}\n\n{write(exercise, wants)}"


def _english(exercise: Exercise, wants: str) -> str:
    hints = len(exercise.hints)
    are = "is one hint" if hints == 1 else f"are {hints} hints"
    return f"""## Checks

{wants}

## How to run the checks

Edit `{exercise.file}`, then, in this folder:

```sh
harness check
```

`{CHECKS}` contains the checks. Changing it here has no effect, because the original is run.

There {are}; each call shows another one:

```sh
harness check --hint
```
"""


def _japanese(exercise: Exercise, wants: str) -> str:
    return f"""## 確かめること

{wants}

## 確かめ方

`{exercise.file}` を編集して、このフォルダーで次を実行します。

```sh
harness check
```

どう確かめるかは `{CHECKS}` に書いてあります。実行されるのは元のファイルなので、ここで書き換えても何も変わりません。

ヒントは {len(exercise.hints)} 個あります。実行するたびに次のヒントが一つ出ます。

```sh
harness check --hint
```
"""
