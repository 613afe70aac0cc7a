"""Questions of the tool ask_user: who answers, what the model reads, and what the events say."""

import asyncio
from pathlib import Path

import pytest

from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import (
    NoAsker,
    QuestionHandler,
    Unattended,
    UserAnswer,
    result_of,
    unattended_answer,
)
from harness.engine.tools.results import finish_of
from harness.events import Event, QuestionAnswered, QuestionAsked, QuestionOption, ToolOutcome
from harness.tools.tool import ToolContext, ToolResult
from harness.tools.workspace import Workspace

pytestmark = pytest.mark.anyio

COLOURS = (QuestionOption("red", "like the logo"), QuestionOption("blue"))
DECLINED = UserAnswer("declined")


class Answers(NoAsker):
    """A user who gives one answer, or none."""

    present = True

    def __init__(self, answer: UserAnswer | None) -> None:
        self.answer = answer
        self.asked = asyncio.Event()

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """The answer."""
        self.asked.set()
        if self.answer is None:
            await asyncio.Event().wait()
        return self.answer


async def ask(
    asker: NoAsker, folder: Path, options: tuple[QuestionOption, ...] = COLOURS, unattended: Unattended = "refuse"
) -> tuple[ToolResult, list[Event]]:
    events: list[Event] = []
    questions = QuestionHandler(Conversation(events.append), asker, unattended)
    result = await questions.ask(ToolContext(Workspace(folder), folder, "call"), "Which colour?", options)
    return result, events


@pytest.mark.parametrize(
    ("answer", "content", "summary"),
    [
        (UserAnswer("option", "blue"), "The user chose: blue", "blue"),
        (UserAnswer("text", "green, please"), "The user answered: green, please", "green, please"),
        (DECLINED, "The user declined to answer this question.", "declined"),
    ],
)
async def test_an_answer_is_the_result_and_an_event(
    answer: UserAnswer, content: str, summary: str, tmp_path: Path
) -> None:
    result, events = await ask(Answers(answer), tmp_path)
    assert (result.content.startswith(content), result.summary, result.outcome) == (True, summary, ToolOutcome.OK)
    assert events == [
        QuestionAsked("call", "Which colour?", COLOURS),
        QuestionAnswered("call", answer.how, answer.text, "user"),
    ]


@pytest.mark.parametrize("options", [(), COLOURS])
@pytest.mark.parametrize("unattended", ["refuse", "first"])
async def test_without_a_user_the_setting_answers_and_words_cannot_be_made_up(
    unattended: Unattended, options: tuple[QuestionOption, ...], tmp_path: Path
) -> None:
    result, events = await ask(NoAsker(), tmp_path, options, unattended)
    if options and unattended == "first":
        assert result.content == "No user is present; the settings take the first option: red"
        assert events[-1] == QuestionAnswered("call", "option", "red", "setting")
    else:
        assert result.outcome is ToolOutcome.DENIED
        assert result.content.startswith("No user is present to answer. Go on by your own judgement")
        assert events[-1] == QuestionAnswered("call", "declined", "", "setting")
    assert unattended_answer(unattended, options).text == events[-1].answer


@pytest.mark.parametrize("count_errors", [True, False])
@pytest.mark.parametrize("by", ["user", "setting"])
@pytest.mark.parametrize("answer", [UserAnswer("option", "red"), UserAnswer("text", "no idea"), DECLINED])
def test_no_answer_is_a_failure_of_the_tool(answer: UserAnswer, by: str, *, count_errors: bool) -> None:
    result = result_of(answer, "user" if by == "user" else "setting")
    finish = finish_of(result, "ask_user", "", count_errors=count_errors)
    assert type(finish).__name__ != "Failure"
