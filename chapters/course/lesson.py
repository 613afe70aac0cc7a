"""A chapter as data: its prompts, its steps, and the sentences for each step."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from chapters.course.facts import FACTS, Fact, FieldError, filled, names_in, names_of, value_of
from chapters.course.question import Question, question_in
from chapters.course.step_conditions import COMPARISONS, TESTS, Condition, check_subject
from chapters.course.text import LANGUAGES, Language, LocalizedText, text_in
from harness.base.errors import HarnessError
from harness.practice.toml_table import ScriptError, Table

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
    code: str
    """Code to show: a path, a name in that file, and the text of the line that decides."""
    needs: tuple[Condition, ...] = ()
    """What must be true of the run for the sentence to hold."""
    question: Question | None = None
    """Asked before the step is shown."""

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
    connection: Mapping[str, object] | None = None
    """Settings of a real model; None: the practice model answers."""
    scene: Path | None = None
    """Folder of the script and the workspace; None: that of the chapter."""
    exercise: str = ""
    """Name of the exercise whose solution runs; empty: our code runs."""
    solution: Path | None = None
    """File of the learner that runs in place of our code."""

    @property
    def label(self) -> str:
        """Its name, with the file of the learner if that runs."""
        return self.name if self.solution is None else f"{self.name} with your {self.solution.name}"

    @property
    def agent(self) -> str:
        """Path of the program that grows from chapter to chapter."""
        return f"chapters/{self.name}/my_agent.py"

    @property
    def demo(self) -> str:
        """Path of the demo."""
        return f"chapters/{self.name}/demo.py"


def load_lesson(folder: Path, name: str = "") -> Lesson:
    """Load the chapter in a folder; `name` is that of the chapter, by default of the folder. Raises LessonError."""
    file = folder / "lesson.toml"
    place = f"{folder.name}/{file.name}"
    try:
        table = Table(tomllib.loads(file.read_text("utf-8")), place)
        return _lesson(folder, name or folder.name, table)
    except OSError as error:
        raise LessonError(f"{place} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise LessonError(f"{place} is not valid TOML: {error}.") from error
    except ScriptError as error:
        raise LessonError(str(error)) from error


def _lesson(folder: Path, name: str, table: Table) -> Lesson:
    about, steps = table.table("lesson"), table.tables("steps")
    table.done()
    if about is None or not steps:
        raise table.error("a table [lesson] and at least one [[steps]] are needed")
    id = name.partition("_")[0]
    answers = about.texts("answers") or ()
    if wrong := [answer for answer in answers if answer not in ANSWERS and not answer.startswith("no: ")]:
        raise about.error(f"{wrong[0]!r} is not an answer; use {', '.join(ANSWERS)} or 'no: why'")
    prompts = about.texts("prompts")
    if not prompts:
        raise about.error("prompts is needed: the prompts of the scripted part")
    lesson = Lesson(
        id=id,
        name=name,
        number=int(id[1:]),
        folder=folder,
        title=text_in(about, "title"),
        idea=text_in(about, "idea"),
        prompts=prompts,
        answers=answers,
        from_wire=about.flag("from_wire") or False,
        code=about.texts("code") or (),
        steps=_steps(steps),
    )
    about.done()
    return lesson


def _steps(tables: Sequence[Table]) -> tuple[LessonStep, ...]:
    steps: list[LessonStep] = []
    for table in tables:
        steps.append(_step(table, [step.on for step in steps]))
    return tuple(steps)


def _step(table: Table, earlier: Sequence[str]) -> LessonStep:
    on = table.choice("on", FACTS)
    if on is None:
        raise table.error("on is needed: the type of the event")
    needs = tuple(map(_condition, table.tables("needs") or ()))
    where = MappingProxyType(dict(table.mapping("where") or {}))
    asked = table.table("predict")
    question = None if asked is None else question_in(asked)
    code = table.text("code")
    if code is None:
        raise table.error("code is needed: the file, the name and the line that the sentence is about")
    step = LessonStep(on, where, text_in(table, "say"), code, needs, question)
    table.done()
    known = names_of(FACTS[on])
    try:
        for need in needs:
            for subject in (need.of, *((str(need.wanted),) if need.test in COMPARISONS else ())):
                check_subject(subject, on, earlier)
        names = [*step.where, *(name for language in LANGUAGES for name in names_in(step.say.into(language)))]
    except FieldError as error:
        raise table.error(str(error)) from error
    if wrong := [name for name in names if name.partition(".")[0] not in known]:
        raise table.error(f"{on} has no {wrong[0]!r}; it has {', '.join(sorted(known))}")
    return step


def _condition(table: Table) -> Condition:
    of, known = table.text("of"), (*TESTS, *COMPARISONS)
    given = table.given(*known)
    if of is None or len(given) != 1:
        raise table.error(f"a condition is of a value and one of {', '.join(known)}")
    [test] = given
    condition = Condition(of, test, table.text(test) if test in COMPARISONS else table.any(test))
    table.done()
    return condition


def _at(fact: Fact, name: str) -> object:
    try:
        return value_of(fact, name)
    except FieldError:
        return None  # such as the status of a fault that has none
