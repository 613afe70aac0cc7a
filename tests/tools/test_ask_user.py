"""What ask_user takes, and what it refuses in one sentence."""

import re
from typing import Any

import pytest

from harness.events import QuestionOption
from harness.tools.ask_user import QuestionArguments, ask_user_tool
from harness.tools.tool import ArgumentError, Effect, Tool, ToolContext, ToolResult


class Silence:
    """Is never asked."""

    async def ask(self, context: ToolContext, question: str, options: tuple[QuestionOption, ...]) -> ToolResult:
        """Not here."""
        raise AssertionError(question)


TOOL: Tool = ask_user_tool(Silence())


def parsed(**input: Any) -> QuestionArguments:
    arguments = TOOL.parse(input)
    assert isinstance(arguments, QuestionArguments)
    return arguments


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        (None, ()),
        ([], ()),
        ([{"label": " red ", "description": "like\nthe logo"}, "blue"], (("red", "like the logo"), ("blue", ""))),
        (["a", "b", "c", "d"], (("a", ""), ("b", ""), ("c", ""), ("d", ""))),
    ],
)
def test_a_question_has_two_to_four_options_or_none(options: Any, offered: tuple[tuple[str, str], ...]) -> None:
    question = parsed(question=" Which colour? ", options=options)
    assert question.question == "Which colour?"
    assert question.offered == tuple(QuestionOption(*one) for one in offered)


@pytest.mark.parametrize(
    ("input", "said"),
    [
        ({}, "the argument `question` .* is missing"),
        ({"question": "  "}, "`question` is empty"),
        ({"question": "x" * 2_001}, "at most 2000 characters"),
        ({"question": "Why?", "options": ["a"]}, "`options` has 1 options; give 2 to 4, or none"),
        ({"question": "Why?", "options": list("abcde")}, "`options` has 5 options"),
        ({"question": "Why?", "options": ["Yes", "yes"]}, "`options` holds the label 'Yes' twice"),
        ({"question": "Why?", "options": ["a", " "]}, "is empty"),
        ({"question": "Why?", "options": ["a", {"label": "b", "value": 1}]}, "there is no `options.1.value`"),
    ],
)
def test_what_does_not_fit_gets_one_sentence(input: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said) as caught:
        TOOL.parse(input)
    assert re.fullmatch(r"ask_user was not run: [^\n]+\.", str(caught.value))


def test_it_needs_no_permission_has_no_time_limit_and_is_never_repeated_by_the_program() -> None:
    assert (TOOL.effect, TOOL.timeout_s, TOOL.repeatable, TOOL.parallel) == (Effect.READ, float("inf"), False, False)
    assert TOOL.summarise({"question": "Which\ncolour?"}) == "Which …"
    assert TOOL.summarise({"question": 3}) == ""
