"""The question before a step: what happens next?"""

from dataclasses import dataclass

from chapters.course.text import LocalizedText, text_in
from harness.practice.toml_table import Table

FEWEST, MOST = 2, 5
"""Options of a question."""


@dataclass(frozen=True, slots=True)
class Option:
    """One possible answer."""

    value: str
    """The decision in the words of the policy, such as "open", or a band of seconds such as "0-0.6"."""
    text: LocalizedText


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its options, and the one that is right."""

    about: str
    """The decision in question, such as "breaker"; the tests read it from the run."""
    text: LocalizedText
    options: tuple[Option, ...]
    answer: Option
    because: LocalizedText
    """The rule that decides, in a sentence."""
    rule: str
    """Where the rule is in the code: a path, and a name in that file."""


def question_in(table: Table) -> Question:
    """The question in the table `predict` of a step. Raises ScriptError."""
    about, answer, rule = (_required(table, key) for key in ("about", "answer", "rule"))
    text, because = text_in(table, "question"), text_in(table, "because")
    options = tuple(map(_option, table.tables("options") or ()))
    table.done()
    if not FEWEST <= len(options) <= MOST:
        raise table.error(f"a question has {FEWEST} to {MOST} options")
    by_value = {option.value: option for option in options}
    if len(by_value) < len(options):
        raise table.error("two options have the same value")
    if answer not in by_value:
        raise table.error(f"no option has the value of the answer, {answer!r}")
    return Question(about, text, options, by_value[answer], because, rule)


def _required(table: Table, key: str) -> str:
    text = table.text(key)
    if not text:
        raise table.error(f"{key} is needed")
    return text


def _option(table: Table) -> Option:
    value = _required(table, "value")
    text = LocalizedText(table.text("en") or "", table.text("ja") or "")
    table.done()
    if not (text.en and text.ja):
        raise table.error("an option has a text in en and in ja")
    return Option(value, text)
