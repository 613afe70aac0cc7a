"""Conditions of a step: what must be true of a run for its sentence to hold.

    needs = [
        { of = "request.system", has = "make check" },
        { of = "tokens_after", below = "tokens_before" },
    ]

`of` names a value:

- `tokens_after`, `fault.status`, `items.0.text`: a field of the fact of this step;
- `request.system`: of the last request sent so far, see `WireExchange`;
- `last:ToolEnded.summary`: of the last event of a type so far;
- `count:LoopFound`, `count:ToolEnded.outcome=error`: how many events of a type there were, with this value in a field;
- `most:WorkAdmitted.running`: the largest value in them;
- `file:greet.py`: the text of a file in the workspace, empty if there is none;
- `steps.2.request.messages`: any of these but a file, at an earlier step of the lesson.

`is`, `has`, `lacks`, `at_least` and `at_most` compare it with a literal; `same_as`, `not_as`, `below` and `above` with
another named value.
"""

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from chapters.course.facts import FACTS, Fact, FieldError, names_of, raw_value_of
from chapters.course.wire import WireExchange


@dataclass(frozen=True, slots=True)
class Scene:
    """A run up to the fact of a step."""

    facts: Sequence[Fact]
    """All facts so far; the last one is that of the step."""
    earlier: Sequence["Scene"] = ()
    """Scenes of the steps before."""
    read: Callable[[str], str] = lambda _: ""
    """Returns the text of a file in the workspace now."""

    def value(self, subject: str) -> object:
        """The value of a subject; None where the run has none, such as the status of a fault without one."""
        if subject.startswith("steps."):
            number, _, rest = subject.removeprefix("steps.").partition(".")
            return self.earlier[int(number) - 1].value(rest)
        kind, colon, rest = subject.partition(":")
        name, _, field = rest.partition(".")
        match kind if colon else "":
            case "file":
                return self.read(rest)
            case "count":
                field, _, wanted = field.partition("=")
                return sum(not field or str(_field(fact, field)) == wanted for fact in self._of(name))
            case "most":
                return max((_field(fact, field) for fact in self._of(name)), default=None)  # type: ignore[type-var]
            case "last":
                return _field(self._of(name)[-1:], field)
        first, _, rest = subject.partition(".")
        if first == "request":
            return _field(self._of(WireExchange.__name__)[-1:], rest)
        return _field(self.facts[-1:], subject)

    def _of(self, type_name: str) -> list[Fact]:
        return [fact for fact in self.facts if type(fact).__name__ == type_name]


def _field(facts: Fact | Sequence[Fact], name: str) -> object:
    fact = (facts[0] if facts else None) if isinstance(facts, Sequence) else facts
    try:
        return None if fact is None else raw_value_of(fact, name)
    except FieldError:
        return None


def _has(value: object, wanted: object) -> bool:
    if isinstance(value, str):
        return str(wanted) in value
    return isinstance(value, Collection) and wanted in value


def _ordered(compare: Callable[[object, object], bool]) -> Callable[[object, object], bool]:
    return lambda value, wanted: isinstance(value, int | float) and bool(compare(value, wanted))


TESTS: Mapping[str, Callable[[object, object], bool]] = MappingProxyType(
    {
        "is": operator.eq,
        "has": _has,
        "lacks": lambda value, wanted: value is not None and not _has(value, wanted),
        "at_least": _ordered(operator.ge),  # type: ignore[arg-type]
        "at_most": _ordered(operator.le),  # type: ignore[arg-type]
    }
)
"""Tests against a literal."""
COMPARISONS: Mapping[str, Callable[[object, object], bool]] = MappingProxyType(
    {
        "same_as": operator.eq,
        "not_as": operator.ne,
        "below": _ordered(operator.lt),  # type: ignore[arg-type]
        "above": _ordered(operator.gt),  # type: ignore[arg-type]
    }
)
"""Tests against another value of the run."""
SHOWN = 80
"""Characters of a value in a message."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition: a named value, a test and what it is compared with."""

    of: str
    test: str
    wanted: object

    def failure(self, scene: Scene) -> str | None:
        """What does not hold, with the value found; None: it holds."""
        value = scene.value(self.of)
        if self.test in TESTS:
            return None if TESTS[self.test](value, self.wanted) else f"{self}; it is {_shown(value)}"
        other = scene.value(str(self.wanted))
        if value is not None and other is not None and COMPARISONS[self.test](value, other):
            return None
        return f"{self}; they are {_shown(value)} and {_shown(other)}"

    def __str__(self) -> str:
        wanted = _shown(self.wanted) if self.test in TESTS else self.wanted
        return f"{self.of} {self.test.replace('_', ' ')} {wanted}"


def _shown(value: object) -> str:
    if isinstance(value, str):
        text = " ".join(value.split())
        return f'"{text[:SHOWN]}{"…" if len(text) > SHOWN else ""}"'
    return "missing" if value is None else str(value)


def failures(conditions: Sequence[Condition], scene: Scene) -> tuple[str, ...]:
    """What does not hold in a scene."""
    return tuple(failed for condition in conditions if (failed := condition.failure(scene)) is not None)


def check_subject(subject: str, on: str, steps: Sequence[str]) -> None:
    """Raises FieldError for a subject that a step cannot have.

    Args:
        subject: the name of a value.
        on: type of the fact of the step.
        steps: types of the facts of the steps before it.
    """
    if subject.startswith("steps."):
        number, _, rest = subject.removeprefix("steps.").partition(".")
        if not number.isdecimal() or not 1 <= int(number) <= len(steps) or rest.startswith("file:"):
            raise FieldError(f"{subject!r} is not a value of an earlier step")
        check_subject(rest, steps[int(number) - 1], steps[: int(number) - 1])
        return
    kind, colon, rest = subject.partition(":")
    if colon:
        name, _, field = rest.partition(".")
        if kind not in ("file", "count", "last", "most"):
            raise FieldError(f"{subject!r} is not a value; use file:, count:, last: or most:")
        if kind != "file":
            _check_field(name, field.partition("=")[0], needed=bool(field) or kind != "count")
        return
    first, _, rest = subject.partition(".")
    if first == "request":
        _check_field(WireExchange.__name__, rest, needed=True)
    else:
        _check_field(on, subject, needed=True)


def _check_field(type_name: str, field: str, *, needed: bool) -> None:
    if type_name not in FACTS:
        raise FieldError(f"there is no event {type_name!r}")
    kind = FACTS[type_name]
    known = names_of(kind)
    if needed and field.partition(".")[0] not in known:
        raise FieldError(f"{type_name} has no {field!r}; it has {', '.join(sorted(known))}")
