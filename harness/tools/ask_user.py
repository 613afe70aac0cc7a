"""ask_user: put one question to the user.

The tool waits for as long as the user thinks; no time limit applies. It needs no permission in any mode, because
the question is all that it does.
"""

from collections import Counter
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, BeforeValidator, Field

from harness.events import Json, QuestionOption
from harness.tools.tool import Effect, Tool, ToolArguments, ToolContext, ToolResult, broken_rule, shorten_line

ASK_USER = "ask_user"
LEAST_OPTIONS = 2
MOST_OPTIONS = 4


def _text(text: str) -> str:
    if not text.strip():
        raise broken_rule("is empty")
    return text.strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


class OptionArguments(ToolArguments):
    """One answer on offer."""

    label: Annotated[str, AfterValidator(_text), AfterValidator(_one_line)] = Field(
        description="The answer in a few words.", max_length=100
    )
    description: Annotated[str, AfterValidator(_one_line)] = Field(
        default="", description="What it means, in one sentence.", max_length=300
    )


def _option(value: Any) -> Any:
    """An option that came as text alone."""
    return {"label": value} if isinstance(value, str) else value


def _none_as_empty(value: Any) -> Any:
    return [] if value is None else value


def _checked(options: list[OptionArguments]) -> list[OptionArguments]:
    if options and not LEAST_OPTIONS <= len(options) <= MOST_OPTIONS:
        raise broken_rule(
            f"has {len(options)} options; give {LEAST_OPTIONS} to {MOST_OPTIONS}, or none for an answer in free text"
        )
    labels = Counter(option.label.casefold() for option in options)
    if twice := next((option.label for option in options if labels[option.label.casefold()] > 1), None):
        raise broken_rule(f"holds the label {twice!r} twice")
    return options


class QuestionArguments(ToolArguments):
    """Arguments of ask_user."""

    question: Annotated[str, AfterValidator(_text)] = Field(
        description="One question, with all that is needed to answer it.", max_length=2_000
    )
    options: Annotated[
        list[Annotated[OptionArguments, BeforeValidator(_option)]],
        BeforeValidator(_none_as_empty),
        AfterValidator(_checked),
    ] = Field(
        default=[],
        description=f"{LEAST_OPTIONS} to {MOST_OPTIONS} answers to choose from, the best one first; leave it out "
        "where only free text can answer.",
    )

    @property
    def offered(self) -> tuple[QuestionOption, ...]:
        """The options as the events hold them."""
        return tuple(QuestionOption(one.label, one.description) for one in self.options)


class UserQuestions(Protocol):
    """Puts questions of tools to the user."""

    async def ask(self, context: ToolContext, question: str, options: tuple[QuestionOption, ...]) -> ToolResult:
        """Ask, and return the answer for the model. A cancellation takes the question back and is passed on."""
        ...


def ask_user_tool(questions: UserQuestions) -> Tool:
    """The tool ask_user."""

    async def ask_user(context: ToolContext, arguments: QuestionArguments) -> ToolResult:
        return await questions.ask(context, arguments.question, arguments.offered)

    return Tool(
        name=ASK_USER,
        description=(
            "Ask the user one question and wait for the answer. For a decision that is the user's to make and that "
            "the task, the files and common sense do not settle, such as which of two designs is wanted. Not for "
            "permission to run a tool, which is requested automatically, and not for whether to continue. The user "
            "can always answer in other words, or decline; then use your own judgement."
        ),
        arguments=QuestionArguments,
        effect=Effect.READ,
        run=ask_user,
        summarise=_summary,
        caches=False,
        idempotent=False,
        timeout_s=float("inf"),
    )


def _summary(input: Json) -> str:
    question = input.get("question")
    return shorten_line(question) if isinstance(question, str) else ""
