# ruff: noqa: E501 - a list of samples reads best close together
"""The practice model asks what it is told to ask, and tells of the answer."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.events import QuestionOption
from harness.practice.improviser.goals import AskUser, Goal, ReadFile
from harness.practice.improviser.intents import understand
from harness.practice.improviser.toolset import tool_set
from harness.practice.improviser.turns import Turn
from harness.tools.ask_user import ask_user_tool
from harness.tools.tool import Tool, ToolContext, ToolResult
from harness.tools.toolbox import Toolbox, standard_tools
from tests.practice.improviser.driver import Conversation

COLOURS = ("red", "green", "blue")
SENTENCES: tuple[tuple[str, tuple[Goal, ...]], ...] = (
    ("ask me which colour to use: red, green or blue", (AskUser("Which colour to use?", COLOURS),)),
    ("Ask me which colour to use: red, green, or blue.", (AskUser("Which colour to use?", COLOURS),)),
    ("please ask me a question: which one: a or b?", (AskUser("Which one?", ("a", "b")),)),
    ("ask me what my name is", (AskUser("What my name is?"),)),
    ("ask me which one: a, b, c, d or e", (AskUser("Which one: a, b, c, d or e?"),)),
    ("read a.txt and ask me whether to go on: yes or no", (ReadFile("a.txt"), AskUser("Whether to go on?", ("yes", "no")))),
    ("赤、青、緑のどれがいいか聞いて", (AskUser("どれがいい?", ("赤", "青", "緑")),)),
    ("名前を聞いてください", (AskUser("名前?"),)),
)  # fmt: skip


class Answers:
    """A user who always answers the same."""

    def __init__(self, result: ToolResult) -> None:
        self.result = result
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def ask(self, context: ToolContext, question: str, options: tuple[QuestionOption, ...]) -> ToolResult:
        """The answer."""
        self.asked.append((question, tuple(option.label for option in options)))
        return self.result


def tools(user: Answers) -> Sequence[Tool]:
    return (*standard_tools(), ask_user_tool(user))


@pytest.mark.parametrize(("said", "goals"), SENTENCES, ids=[said for said, _ in SENTENCES])
def test_a_sentence_that_wants_to_be_asked_is_understood(said: str, goals: tuple[Goal, ...]) -> None:
    assert understand((Turn(said),), tool_set(Toolbox(tools(Answers(ToolResult("")))).specs())).goals == goals


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("The user chose: green", "Your answer: green"),
        ("The user answered: a: dark one", "Your answer: a: dark one"),
        ("The user declined to answer this question.", "There is no answer: The user declined"),
    ],
)
def test_the_answer_is_told(content: str, told: str, tmp_path: Path) -> None:
    user = Answers(ToolResult(content))
    assert told in Conversation(tmp_path, tools(user)).ask("ask me which colour to use: red, green or blue")
    assert user.asked == [("Which colour to use?", COLOURS)]


def test_without_the_tool_it_says_that_it_cannot(tmp_path: Path) -> None:
    assert "ask you a question" in Conversation(tmp_path).ask("ask me what my name is")
