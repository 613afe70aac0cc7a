"""A chapter as data: what is typed, and the sentences that go with what happens."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType

from harness import events
from harness.base.errors import HarnessError
from harness.lessons.exchange import Exchanged
from harness.lessons.fields import FieldError, filled, names_in, value_of
from harness.lessons.languages import LANGUAGES, Language, Text
from harness.practice.toml_table import ScriptError, Table

Fact = events.Event | Exchanged
"""What a beat can be about: an event, or a request with its answer."""
FACTS: Mapping[str, type] = MappingProxyType(
    {"Exchanged": Exchanged}
    | {
        name: kind
        for name, kind in vars(events).items()
        if isinstance(kind, type) and issubclass(kind, events.Event) and not kind.transient
    }
)
"""By name."""
ANSWERS = ("once", "always", "no")


class LessonError(HarnessError):
    """A chapter cannot be used, or its run did not do what its text says. One sentence."""


@dataclass(frozen=True, slots=True)
class Beat:
    """A moment of the run that the course stops at, and what it says there."""

    on: str
    """Name of the fact."""
    where: Mapping[str, object]
    """Values that must be equal, by dotted name."""
    say: Text
    code: str | None
    """What is shown beside it: a path and a name in that file."""

    def fits(self, fact: Fact) -> bool:
        """The fact is the one that this beat waits for."""
        return type(fact).__name__ == self.on and all(_at(fact, name) == wanted for name, wanted in self.where.items())

    def said(self, fact: Fact, language: Language) -> str:
        """The sentence, with the values of what happened."""
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
    title: Text
    idea: Text
    prompts: tuple[str, ...]
    """What the course types."""
    answers: tuple[str, ...]
    """To the questions of the scripted part, in order."""
    heard: bool
    """The loop is written by hand: its events are made from what goes over the wire."""
    code: tuple[str, ...]
    """Places to read besides the demo."""
    beats: tuple[Beat, ...]

    @property
    def demo(self) -> str:
        """The place of the program of this chapter."""
        return f"chapters/{self.name}/demo.py"


def load_lesson(folder: Path) -> Lesson:
    """The chapter in a folder. Raises LessonError, with the file and the remedy."""
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
    about, beats = table.table("lesson"), table.tables("beats")
    table.done()
    if about is None or not beats:
        raise table.error("a table [lesson] and at least one [[beats]] are needed")
    id = folder.name.partition("_")[0]
    answers = about.texts("answers") or ()
    if wrong := [answer for answer in answers if answer not in ANSWERS and not answer.startswith("no: ")]:
        raise about.error(f"{wrong[0]!r} is no answer; {', '.join(ANSWERS)} and 'no: why' are")
    prompts = about.texts("prompts")
    if not prompts:
        raise about.error("prompts is needed: what the course types")
    lesson = Lesson(
        id=id,
        name=folder.name,
        number=int(id[1:]),
        folder=folder,
        title=text_in(about, "title"),
        idea=text_in(about, "idea"),
        prompts=prompts,
        answers=answers,
        heard=about.flag("heard") or False,
        code=about.texts("code") or (),
        beats=tuple(map(_beat, beats)),
    )
    about.done()
    return lesson


def _beat(table: Table) -> Beat:
    on = table.choice("on", FACTS)
    if on is None:
        raise table.error("on is needed: the event that this is about")
    beat = Beat(on, MappingProxyType(dict(table.mapping("where") or {})), text_in(table, "say"), table.text("code"))
    table.done()
    known = {field.name for field in fields(FACTS[on])}
    try:
        names = [*beat.where, *(name for language in LANGUAGES for name in names_in(beat.say.into(language)))]
    except FieldError as error:
        raise table.error(str(error)) from error
    if wrong := [name for name in names if name.partition(".")[0] not in known]:
        raise table.error(f"{on} has no {wrong[0]!r}; it has {', '.join(sorted(known))}")
    return beat


def text_in(table: Table, key: str) -> Text:
    """What a key holds in every language. Raises ScriptError where one is missing."""
    said = table.table(key)
    if said is None:
        raise table.error(f'{key} is needed, as {{ en = "…", ja = "…" }}')
    text = Text(said.text("en") or "", said.text("ja") or "")
    said.done()
    if not (text.en and text.ja):
        raise table.error(f"{key} is needed in en and in ja")
    return text


def _at(fact: Fact, name: str) -> object:
    try:
        return value_of(fact, name)
    except FieldError:
        return None  # such as the status of a fault that has none
