"""The learner's progress, in the state folder."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from chapters.course.text import LANGUAGES, Language
from harness.base.errors import HarnessError
from harness.base.files import NotRegularError, locked_file, read_regular, replace_atomically, set_aside
from harness.events import Json
from harness.journal import state_folder

NAME = "course.json"
MOST_BYTES = 100_000


class ProgressError(HarnessError):
    """The progress file cannot be used."""


@dataclass(frozen=True, slots=True)
class _Data:
    """Content of the file."""

    language: Language | None = None
    steps: Mapping[str, int] = field(default_factory=dict)
    """Steps seen in each chapter."""
    done: frozenset[str] = frozenset()
    """Completed chapters."""
    passed: frozenset[str] = frozenset()
    """Solved exercises."""
    predicted: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """The last answer to each question, by chapter and number of the step: whether it was right."""

    def as_json(self) -> Json:
        return {
            "language": self.language,
            "steps": dict(sorted(self.steps.items())),
            "done": sorted(self.done),
            "passed": sorted(self.passed),
            "predicted": {name: dict(sorted(steps.items())) for name, steps in sorted(self.predicted.items())},
        }


class Progress:
    """Progress on disk. Each change is written at once; concurrent programs do not lose changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.set_aside: Path | None = None
        """Where a damaged file was moved."""
        try:
            self._data = self._parse()
        except _DamagedError:
            with locked_file(path, ProgressError):
                self._data = self._read()

    @classmethod
    def of(cls, state_dir: Path | None) -> "Progress":
        """The progress in a state folder; None: the default one."""
        return cls(state_folder(state_dir) / NAME)

    @property
    def language(self) -> Language | None:
        """The language chosen last, if any."""
        return self._data.language

    def set_language(self, language: Language) -> None:
        """Remember the language. Raises ProgressError."""
        self._change(lambda kept: replace(kept, language=language))

    def step(self, lesson: str) -> int:
        """Number of steps seen in a chapter."""
        return self._data.steps.get(lesson, 0)

    def reach(self, lesson: str, step: int, *, of: int) -> None:
        """Record that `step` of `of` was seen; the last one completes the chapter. Raises ProgressError."""

        def reached(kept: _Data) -> _Data:
            steps = {**kept.steps, lesson: max(step, kept.steps.get(lesson, 0))}
            return replace(kept, steps=steps, done=kept.done | {lesson} if step >= of else kept.done)

        if step > self.step(lesson) or (step >= of and not self.done(lesson)):
            self._change(reached)

    def done(self, lesson: str) -> bool:
        """Whether a chapter was completed."""
        return lesson in self._data.done

    def passed(self, exercise: str) -> None:
        """Record that an exercise was solved. Raises ProgressError."""
        if not self.has_passed(exercise):
            self._change(lambda kept: replace(kept, passed=kept.passed | {exercise}))

    def has_passed(self, exercise: str) -> bool:
        """Whether an exercise was solved."""
        return exercise in self._data.passed

    def predict(self, lesson: str, step: int, *, right: bool) -> None:
        """Record the answer to the question before a step; it replaces an earlier one. Raises ProgressError."""

        def answered(kept: _Data) -> _Data:
            mine = {**kept.predicted.get(lesson, {}), str(step): right}
            return replace(kept, predicted={**kept.predicted, lesson: mine})

        self._change(answered)

    def predictions(self, lesson: str) -> tuple[int, int]:
        """Right answers and all answers in a chapter; of each question the last one counts."""
        answers = self._data.predicted.get(lesson, {})
        return sum(answers.values()), len(answers)

    def restart(self, lesson: str) -> None:
        """Forget the progress in a chapter. Raises ProgressError."""

        def forgotten(kept: _Data) -> _Data:
            steps = {name: step for name, step in kept.steps.items() if name != lesson}
            predicted = {name: answers for name, answers in kept.predicted.items() if name != lesson}
            return replace(kept, steps=steps, done=kept.done - {lesson}, predicted=predicted)

        self._change(forgotten)

    def _change(self, change: Callable[[_Data], _Data]) -> None:
        with locked_file(self.path, ProgressError):
            kept = change(self._read())
            replace_atomically(self.path, json.dumps(kept.as_json(), indent=1).encode("ascii") + b"\n", private=True)
        self._data = kept

    def _read(self) -> _Data:
        try:
            return self._parse()
        except _DamagedError:
            self.set_aside = set_aside(self.path)
            return _Data()

    def _parse(self) -> _Data:
        try:
            return _data(json.loads(read_regular(self.path, MOST_BYTES)))
        except (FileNotFoundError, NotADirectoryError):
            return _Data()
        except NotRegularError as error:
            raise _DamagedError(f"it is {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise _DamagedError(str(error)) from error
        except OSError as error:
            raise ProgressError(f"{self.path} cannot be read: {error.strerror or error}.") from error


class _DamagedError(Exception):
    """The file was not written by this program."""


def _data(data: object) -> _Data:
    """Raises ValueError for unexpected content."""
    match data:
        case (
            {"language": language, "steps": dict(steps), "done": list(done), "passed": list(passed), **rest}
            | {
                "language": language,
                "beats": dict(steps),
                "done": list(done),
                "passed": list(passed),
                **rest,
            }  # the old name
        ):
            names = all(isinstance(name, str) for name in (*steps, *done, *passed))
            numbers = all(isinstance(number, int) and number >= 0 for number in steps.values())
            if names and numbers and language in (None, *LANGUAGES):
                return _Data(language, steps, frozenset(done), frozenset(passed), _predicted(rest.get("predicted", {})))
    raise ValueError("unexpected content")


def _predicted(predicted: object) -> Mapping[str, Mapping[str, bool]]:
    """Files of earlier versions have none. Raises ValueError for unexpected content."""
    if isinstance(predicted, dict) and all(
        isinstance(name, str)
        and isinstance(answers, dict)
        and all(isinstance(step, str) and isinstance(right, bool) for step, right in answers.items())
        for name, answers in predicted.items()
    ):
        return predicted
    raise ValueError("unexpected content")
