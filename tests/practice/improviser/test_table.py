# ruff: noqa: E501 - lists of samples read best close together
"""The table of sentences: every documented form and every example does what its row says, and the page is made from it."""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from harness.events import Json
from harness.practice.improviser.goals import Talk, Topic
from harness.practice.improviser.intents import understand
from harness.practice.improviser.language import Language
from harness.practice.improviser.offers import help_text, refusal
from harness.practice.improviser.reference_page import as_markdown
from harness.practice.improviser.table import INTENTS, Intent
from harness.practice.improviser.toolset import tool_set
from harness.practice.improviser.turns import Turn

PAGE = Path(__file__).parents[3] / "docs" / "practice-model.md"
WEATHER: Json = {
    "name": "weather",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TOOLS = tool_set((WEATHER,))
BEFORE = Turn("read a.txt and b.txt", answered=True)
SAMPLES = {
    "file": "x.py", "other": "b.txt", "target": "new.md", "files": "a.txt", "one": "a.txt", "text": '"t u"', "printed": "Hello",
    "printed_ja": "こんにちは", "word": "TODO", "old": '"o"', "new": '"n"', "old_ja": "「o」", "new_ja": "「n」", "folder": "src",
    "glob": "*.py", "kind": "python", "n": "3", "command": "`ls`", "line": "ls -la", "id": "b1", "agent": "a1", "count": "2",
    "task": "list the files", "fact": "tabs", "question": "which colour", "choices": "a, b", "skill": "review", "tool": "weather", "arguments": "city=Oslo", "value": "Oslo",
    "expression": "1 + 2", "url": "https://wiki.practice.example/rain",
}  # fmt: skip
NOT_UNDERSTOOD = (Talk(Topic.NOT_UNDERSTOOD),)


def sentences(form: str) -> Iterator[str]:
    """What a form allows, spelled out: each alternative, with what may be left out and without; a naive reading."""
    parts = [one for one in re.split(r"( ?\[[^\]]*\] ?|\([^)]*\))", form) if one]
    choices: list[list[str]] = []
    for part in parts:
        bare = part.strip()
        if bare.startswith("["):
            lead, end = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :]
            left_out = lead or end if len(parts) > 1 and (lead and end) else ""
            choices.append([left_out, *(lead + one + end for one in bare[1:-1].split("|"))])
        else:
            choices.append(part[1:-1].split("|") if part.startswith("(") else [part])
    for chosen in product(*choices):
        yield re.sub(r"\{(\w+)\}", lambda slot: SAMPLES[slot[1]], "".join(chosen)).strip()


@pytest.mark.parametrize("intent", INTENTS, ids=lambda intent: intent.name.english)
def test_every_form_of_a_row_means_something(intent: Intent) -> None:
    for form in (*intent.english, *intent.japanese):
        for sentence in sentences(form):
            again = Turn("ls", answered=True) if intent.alone else BEFORE
            before = "create x.py" if sentence in ("run it", "それを実行して") else ""
            prompt = f"{before}\n{sentence}".strip()
            assert understand((again, BEFORE, Turn(prompt)), TOOLS).goals != NOT_UNDERSTOOD, (form, sentence)


@pytest.mark.parametrize("intent", INTENTS, ids=lambda intent: intent.name.english)
def test_the_examples_of_a_row_mean_the_same_in_both_languages(intent: Intent) -> None:
    english, japanese = (
        understand((BEFORE, Turn(text)), TOOLS).goals for text in (intent.example.english, intent.example.japanese)
    )
    assert NOT_UNDERSTOOD not in (english, japanese)
    assert [type(goal) for goal in english] == [type(goal) for goal in japanese]


@pytest.mark.parametrize(
    "intent", [intent for intent in INTENTS if intent.only_order], ids=lambda intent: intent.name.english
)
def test_a_question_is_no_order(intent: Intent) -> None:
    for asked in (
        f"can you {intent.example.english}",
        f"{intent.example.english}?",
        f"{intent.example.japanese}くれますか",
    ):
        assert understand((BEFORE, Turn(asked)), TOOLS).goals == NOT_UNDERSTOOD, asked


@pytest.mark.parametrize(
    "before", ["don't ", "never ", "should I ", "if b.txt exists, ", "he said: ", "do anything but "]
)
def test_no_row_takes_words_before_it(before: str) -> None:
    for intent in INTENTS:
        said = f"{before}{intent.example.english}"
        assert understand((BEFORE, Turn(said)), TOOLS).goals == NOT_UNDERSTOOD, said


@pytest.mark.parametrize(
    "after", [" if b.txt exists", " or not", " unless I say no", " but later", " instead of b.txt"]
)
def test_no_row_that_changes_something_takes_words_behind_it(after: str) -> None:
    for intent in INTENTS:
        said = f"{intent.example.english}{after}"
        goals = understand((BEFORE, Turn(said)), TOOLS).goals
        assert goals == NOT_UNDERSTOOD or not intent.only_order or "that I prefer" in said or "about tabs" in said, said


@pytest.mark.parametrize("language", list(Language))
def test_what_it_says_of_itself_is_the_table(language: Language) -> None:
    examples = [intent.example.in_(language) for intent in INTENTS]
    assert [line[2:] for line in help_text(language).splitlines() if line.startswith("- ")] == examples
    offered = [line[2:] for line in refusal(language).splitlines() if line.startswith("- ")]
    assert 5 <= len(offered) <= 10
    assert set(offered) <= set(examples)


def test_the_page_is_made_from_the_table() -> None:
    remedy = "write it anew: python -m harness.practice.improviser.reference_page > docs/practice-model.md"
    assert PAGE.read_text(encoding="utf-8").rstrip() == as_markdown().rstrip(), remedy
