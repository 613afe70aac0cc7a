"""The question before a step: what happens next? The right option is not in the file; `prediction` computes it."""

from dataclasses import dataclass

from chapters.course.prediction import PREDICTIONS
from chapters.course.text import LocalizedText, text_in
from harness.practice.toml_table import Table

FEWEST, MOST = 2, 5
"""Options of a question."""


@dataclass(frozen=True, slots=True)
class Option:
    """One possible answer."""

    value: str
    """What the policy returns if this option is right, such as "open", or a band of seconds such as "0-0.6"."""
    text: LocalizedText


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its options."""

    about: str
    """Name of the policy that answers, a key of `PREDICTIONS`."""
    text: LocalizedText
    options: tuple[Option, ...]


def question_in(table: Table) -> Question:
    """The question in the table `predict` of a step. Raises ScriptError."""
    about = table.choice("about", PREDICTIONS)
    if about is None:
        raise table.error("about is needed: the policy that answers")
    text = text_in(table, "question")
    options = tuple(map(_option, table.tables("options") or ()))
    table.done()
    if not FEWEST <= len(options) <= MOST:
        raise table.error(f"a question has {FEWEST} to {MOST} options")
    if len({option.value for option in options}) < len(options):
        raise table.error("two options have the same value")
    return Question(about, text, options)


def _option(table: Table) -> Option:
    value = table.text("value")
    if not value:
        raise table.error("value is needed: what the policy returns if this option is right")
    text = LocalizedText(table.text("en") or "", table.text("ja") or "")
    table.done()
    if not (text.en and text.ja):
        raise table.error("an option has a text in en and in ja")
    return Option(value, text)
