"""A chapter as data: its prompts, its steps, and the sentences for each step."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Literal

from harness import events
from harness.base.errors import HarnessError
from harness.lessons.wire import WireExchange
from harness.practice.toml_table import ScriptError, Table

Language = Literal["en", "ja"]
LANGUAGES: tuple[Language, ...] = ("en", "ja")


@dataclass(frozen=True, slots=True)
class LocalizedText:
    """A text in every language of the course."""

    en: str
    ja: str

    def into(self, language: Language) -> str:
        """The text in a language."""
        return self.ja if language == "ja" else self.en


class FieldError(Exception):
    """A name without a value; the message is a clause."""


def value_of(fact: object, name: str) -> object:
    """The value at a dotted name such as `fault.status`. Enums give their value, collections a comma-separated list.

    Raises FieldError for a name that is not a public field or property.
    """
    value = fact
    for part in name.split("."):
        known = _names(value)
        if part not in known:
            raise FieldError(f"{type(value).__name__} has no {part!r}; it has {', '.join(known) or 'nothing'}")
        value = getattr(value, part)
    return _plain(value)


def filled(template: str, fact: object) -> str:
    """The template with every `{name}` and `{name:format}` filled in from the fact. Raises FieldError."""
    return _FactFormatter(fact).format(template)


def names_in(template: str) -> tuple[str, ...]:
    """The names in a template. Raises FieldError for a malformed one."""
    try:
        return tuple(name for _, name, _, _ in Formatter().parse(template) if name is not None)
    except ValueError as error:
        raise FieldError(f"{template!r} is not a template ({error})") from error


class _FactFormatter(Formatter):
    def __init__(self, fact: object) -> None:
        self._fact = fact

    def get_field(self, field_name: str, args: object, kwargs: object) -> tuple[object, str]:
        return value_of(self._fact, field_name), field_name

    def check_unused_args(self, used_args: object, args: object, kwargs: object) -> None:
        """No-op: every value comes from the fact."""


def _names(value: object) -> tuple[str, ...]:
    if not is_dataclass(value):
        return ()
    follow = (name for name, member in vars(type(value)).items() if isinstance(member, property))
    return tuple(name for name in (*(field.name for field in fields(value)), *follow) if not name.startswith("_"))


def _plain(value: object) -> object:
    match value:
        case Enum():
            return value.value
        case None:
            return "none"
        case tuple() | frozenset() | list():
            return ", ".join(str(_plain(one)) for one in value)
        case _:
            return value


Fact = events.Event | WireExchange
"""An event, or a request with its reply."""
FACTS: Mapping[str, type] = MappingProxyType(
    {"WireExchange": WireExchange}
    | {
        name: kind
        for name, kind in vars(events).items()
        if isinstance(kind, type) and issubclass(kind, events.Event) and not kind.transient
    }
)
"""Types of facts by name."""
ANSWERS = ("once", "always", "no")


class LessonError(HarnessError):
    """A chapter cannot be used, or its run differs from its text."""


@dataclass(frozen=True, slots=True)
class LessonStep:
    """A place in the run where the course stops, and its sentence."""

    on: str
    """Type of the fact."""
    where: Mapping[str, object]
    """Required values by dotted name."""
    say: LocalizedText
    code: str | None
    """Code to show: a path and a name in that file."""

    def fits(self, fact: Fact) -> bool:
        """Whether the fact matches this step."""
        return type(fact).__name__ == self.on and all(_at(fact, name) == wanted for name, wanted in self.where.items())

    def said(self, fact: Fact, language: Language) -> str:
        """The sentence with the values of the fact."""
        return filled(self.say.into(language), fact)

    def __str__(self) -> str:
        return " ".join((self.on, *(f"{name}={wanted}" for name, wanted in self.where.items())))


@dataclass(frozen=True, slots=True)
class Lesson:
    """One chapter."""

    id: str
    """"s11"."""
    name: str
    """Its folder: "s11_error_recovery"."""
    number: int
    folder: Path
    title: LocalizedText
    idea: LocalizedText
    prompts: tuple[str, ...]
    """Prompts of the scripted part."""
    answers: tuple[str, ...]
    """Answers to the questions of the scripted part, in order."""
    from_wire: bool
    """The loop is written by hand and reports no events; they are derived from the wire."""
    code: tuple[str, ...]
    """More code to show besides the demo."""
    steps: tuple[LessonStep, ...]

    @property
    def demo(self) -> str:
        """Path of the demo."""
        return f"chapters/{self.name}/demo.py"


def load_lesson(folder: Path) -> Lesson:
    """Load the chapter in a folder. Raises LessonError."""
    file = folder / "lesson.toml"
    place = f"{folder.name}/{file.name}"
    try:
        table = Table(tomllib.loads(file.read_text("utf-8")), place)
        return _lesson(folder, table)
    except OSError as error:
        raise LessonError(f"{place} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise LessonError(f"{place} is not valid TOML: {error}.") from error
    except ScriptError as error:
        raise LessonError(str(error)) from error


def _lesson(folder: Path, table: Table) -> Lesson:
    about, steps = table.table("lesson"), table.tables("steps")
    table.done()
    if about is None or not steps:
        raise table.error("a table [lesson] and at least one [[steps]] are needed")
    id = folder.name.partition("_")[0]
    answers = about.texts("answers") or ()
    if wrong := [answer for answer in answers if answer not in ANSWERS and not answer.startswith("no: ")]:
        raise about.error(f"{wrong[0]!r} is not an answer; use {', '.join(ANSWERS)} or 'no: why'")
    prompts = about.texts("prompts")
    if not prompts:
        raise about.error("prompts is needed: the prompts of the scripted part")
    lesson = Lesson(
        id=id,
        name=folder.name,
        number=int(id[1:]),
        folder=folder,
        title=text_in(about, "title"),
        idea=text_in(about, "idea"),
        prompts=prompts,
        answers=answers,
        from_wire=about.flag("from_wire") or False,
        code=about.texts("code") or (),
        steps=tuple(map(_step, steps)),
    )
    about.done()
    return lesson


def _step(table: Table) -> LessonStep:
    on = table.choice("on", FACTS)
    if on is None:
        raise table.error("on is needed: the type of the event")
    step = LessonStep(
        on, MappingProxyType(dict(table.mapping("where") or {})), text_in(table, "say"), table.text("code")
    )
    table.done()
    known = {field.name for field in fields(FACTS[on])}
    try:
        names = [*step.where, *(name for language in LANGUAGES for name in names_in(step.say.into(language)))]
    except FieldError as error:
        raise table.error(str(error)) from error
    if wrong := [name for name in names if name.partition(".")[0] not in known]:
        raise table.error(f"{on} has no {wrong[0]!r}; it has {', '.join(sorted(known))}")
    return step


def text_in(table: Table, key: str) -> LocalizedText:
    """The text at a key. Raises ScriptError if a language is missing."""
    said = table.table(key)
    if said is None:
        raise table.error(f'{key} is needed, as {{ en = "…", ja = "…" }}')
    text = LocalizedText(said.text("en") or "", said.text("ja") or "")
    said.done()
    if not (text.en and text.ja):
        raise table.error(f"{key} is needed in en and in ja")
    return text


def _at(fact: Fact, name: str) -> object:
    try:
        return value_of(fact, name)
    except FieldError:
        return None  # such as the status of a fault that has none
