"""How far a learner is, kept in the state folder."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.locked_file import one_writer, set_aside
from harness.base.regular_file import NotRegularError, read_regular
from harness.events import Json
from harness.journal import state_folder
from harness.lessons.languages import LANGUAGES, Language
from harness.tools.files import replace_atomically

NAME = "course.json"
MOST_BYTES = 100_000


class ProgressError(HarnessError):
    """The file of the progress cannot be used. One sentence that names it."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the file holds."""

    language: Language | None = None
    beats: Mapping[str, int] = field(default_factory=dict)
    """For each chapter how many beats were seen."""
    done: frozenset[str] = frozenset()
    """Chapters that were gone through to the end."""
    passed: frozenset[str] = frozenset()
    """Exercises whose checks have all passed."""

    def as_json(self) -> Json:
        return {
            "language": self.language,
            "beats": dict(sorted(self.beats.items())),
            "done": sorted(self.done),
            "passed": sorted(self.passed),
        }


class Progress:
    """The progress on the disk. Each change is written at once; sessions side by side lose nothing of each other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.set_aside: Path | None = None
        """Where a file that could not be understood was put."""
        try:
            self._kept = self._look()
        except _DamagedError:
            with one_writer(path, ProgressError):
                self._kept = self._read()

    @classmethod
    def of(cls, state_dir: Path | None) -> "Progress":
        """The progress in a state folder; None: the platform's."""
        return cls(state_folder(state_dir) / NAME)

    @property
    def language(self) -> Language | None:
        """The language chosen last; None: none yet."""
        return self._kept.language

    def speak(self, language: Language) -> None:
        """Keep the language. Raises ProgressError."""
        self._change(lambda kept: replace(kept, language=language))

    def beat(self, lesson: str) -> int:
        """How many beats of a chapter were seen."""
        return self._kept.beats.get(lesson, 0)

    def reach(self, lesson: str, beat: int, *, of: int) -> None:
        """`beat` of the `of` beats of a chapter were seen; the last one finishes it. Raises ProgressError."""

        def reached(kept: _Kept) -> _Kept:
            beats = {**kept.beats, lesson: max(beat, kept.beats.get(lesson, 0))}
            return replace(kept, beats=beats, done=kept.done | {lesson} if beat >= of else kept.done)

        if beat > self.beat(lesson) or (beat >= of and not self.done(lesson)):
            self._change(reached)

    def done(self, lesson: str) -> bool:
        """A chapter was gone through to its end."""
        return lesson in self._kept.done

    def passed(self, exercise: str) -> None:
        """All checks of an exercise have passed. Raises ProgressError."""
        if not self.has_passed(exercise):
            self._change(lambda kept: replace(kept, passed=kept.passed | {exercise}))

    def has_passed(self, exercise: str) -> bool:
        """All checks of an exercise have passed once."""
        return exercise in self._kept.passed

    def restart(self, lesson: str) -> None:
        """Forget how far a chapter was seen. Raises ProgressError."""

        def forgotten(kept: _Kept) -> _Kept:
            beats = {name: beat for name, beat in kept.beats.items() if name != lesson}
            return replace(kept, beats=beats, done=kept.done - {lesson})

        self._change(forgotten)

    def _change(self, change: Callable[[_Kept], _Kept]) -> None:
        with one_writer(self.path, ProgressError):
            kept = change(self._read())
            replace_atomically(self.path, json.dumps(kept.as_json(), indent=1).encode("ascii") + b"\n", private=True)
        self._kept = kept

    def _read(self) -> _Kept:
        """What the file holds; one that cannot be understood is set aside. For the one writer."""
        try:
            return self._look()
        except _DamagedError:
            self.set_aside = set_aside(self.path)
            return _Kept()

    def _look(self) -> _Kept:
        try:
            return _kept(json.loads(read_regular(self.path, MOST_BYTES)))
        except (FileNotFoundError, NotADirectoryError):
            return _Kept()
        except NotRegularError as error:
            raise _DamagedError(f"it is {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise _DamagedError(str(error)) from error
        except OSError as error:
            raise ProgressError(f"{self.path} cannot be read: {error.strerror or error}.") from error


class _DamagedError(Exception):
    """The file holds what this program would not have written."""


def _kept(data: object) -> _Kept:
    """Raises ValueError for anything that this program would not have written."""
    match data:
        case {"language": language, "beats": dict(beats), "done": list(done), "passed": list(passed)}:
            names = all(isinstance(name, str) for name in (*beats, *done, *passed))
            numbers = all(isinstance(number, int) and number >= 0 for number in beats.values())
            if names and numbers and language in (None, *LANGUAGES):
                return _Kept(language, beats, frozenset(done), frozenset(passed))
    raise ValueError("it holds something else")
