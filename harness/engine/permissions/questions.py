"""Puts the questions of the tool ask_user to the user, or answers them as the setting says where no user is present.

Question and answer are events. A question that is interrupted has no answer; its call is answered as interrupted,
also when the program was killed and the session is resumed, so that no answer is ever made up.
"""

from typing import Literal

from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import Asker, UserAnswer
from harness.events import QuestionAnswered, QuestionAsked, QuestionOption, ToolOutcome
from harness.tools.tool import ToolContext, ToolResult, shorten_line

Unattended = Literal["refuse", "first"]
"""What answers where no user is present: nothing, or the first option."""

OWN_JUDGEMENT = "Go on by your own judgement and say in your answer what you assumed."
DECLINED = f"The user declined to answer this question. Do not ask it again. {OWN_JUDGEMENT}"
REFUSED = f"No user is present to answer. {OWN_JUDGEMENT}"
CHOSEN_BY_SETTING = "No user is present; the settings take the first option"


class UserQuestions:
    """Asks for one conversation."""

    def __init__(self, conversation: Conversation, asker: Asker, unattended: Unattended) -> None:
        self._conversation = conversation
        self._asker = asker
        self._unattended = unattended

    async def ask(self, context: ToolContext, question: str, options: tuple[QuestionOption, ...]) -> ToolResult:
        """Ask, and return the answer for the model. A cancellation takes the question back and is passed on."""
        asked = QuestionAsked(context.call_id, question, options)
        self._conversation.emit(asked)
        given = await self._asker.question(asked)
        answer = given or unattended_answer(self._unattended, options)
        by: Literal["user", "setting"] = "user" if given else "setting"
        self._conversation.emit(QuestionAnswered(context.call_id, answer.how, answer.text, by))
        return result_of(answer, by)


def unattended_answer(setting: Unattended, options: tuple[QuestionOption, ...]) -> UserAnswer:
    """The answer where no user is present. A question without options cannot be answered."""
    if setting == "first" and options:
        return UserAnswer("option", options[0].label)
    return UserAnswer("declined")


def result_of(answer: UserAnswer, by: Literal["user", "setting"]) -> ToolResult:
    """What the model reads about an answer. No answer is a failure of the tool."""
    match answer.how, by:
        case "option", "user":
            return ToolResult(f"The user chose: {answer.text}", summary=shorten_line(answer.text))
        case "option", "setting":
            return ToolResult(f"{CHOSEN_BY_SETTING}: {answer.text}", summary=shorten_line(f"{answer.text}, by setting"))
        case "text", _:
            return ToolResult(f"The user answered: {answer.text}", summary=shorten_line(answer.text))
        case _, "setting":
            return ToolResult(REFUSED, ToolOutcome.DENIED, "no user is present")
        case _:
            return ToolResult(DECLINED, summary="declined")
