"""The tools of a team: team_start and team_stop for the lead; message, roster, request and answer for all."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Protocol

from pydantic import BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema

from harness.events import Json
from harness.tools.agent import TEAM_START
from harness.tools.tool import Effect, Tool, ToolArguments, ToolContext, ToolResult, shorten_line

MESSAGE, ROSTER, REQUEST, ANSWER, TEAM_STOP = "message", "roster", "request", "answer", "team_stop"


class StartArguments(ToolArguments):
    """Arguments of team_start."""

    name: str = Field(description="Its name, to which others write.", min_length=1, max_length=64)
    task: str = Field(
        description="Its first task and all that it needs to know: it sees nothing of this conversation.", min_length=1
    )
    description: str = Field(description="The task in three to eight words.", min_length=1, max_length=200)
    role: str = Field(default="", description="What it is there for, in a few words.", max_length=200)
    worktree: bool = Field(
        default=False, description="Give it a checkout of its own (git worktree), so that it can change any file."
    )
    plan: bool = Field(
        default=False, description="It only looks until it has sent you a plan and you have agreed to that plan."
    )
    kind: str = Field(default="", description="A kind of agent, as for the tool agent; default: a general one.")
    tools: list[str] | SkipJsonSchema[None] = Field(
        default=None, description="Names of the tools it may use; default: all that a subagent can have."
    )


def _names(value: Any) -> Any:
    return [one.strip() for one in value.split(",")] if isinstance(value, str) else value


class MessageArguments(ToolArguments):
    """Arguments of message."""

    to: Annotated[list[str], BeforeValidator(_names)] = Field(
        description='Names, such as ["ann"]; "lead" is the agent of the session, "all" everybody.'
    )
    text: str = Field(description="The message, complete in itself.")
    note: bool = Field(
        default=False, description="For information only: begins no work, and is read when the recipient works anyway."
    )


class RosterArguments(ToolArguments):
    """Arguments of roster: none."""


class RequestArguments(ToolArguments):
    """Arguments of request."""

    kind: Literal["question", "hand_over", "plan"] = Field(
        description="question: an answer you need; hand_over: the other takes over some work; plan: the lead approves "
        "your plan before you write or run anything."
    )
    text: str = Field(description="Complete in itself; of a plan: all of it.", min_length=1)
    to: str = Field(default="lead", description="Whom to ask; a plan goes to lead.")


class AnswerArguments(ToolArguments):
    """Arguments of answer."""

    id: str = Field(description='Of the request, such as "r3".')
    say: Literal["agree", "decline", "answer", "withdraw"]
    text: str = Field(default="", description="The answer, or why you decline.")
    digest: str = Field(default="", description="To agree to a plan: its digest.")


class StopArguments(ToolArguments):
    """Arguments of team_stop."""

    name: str
    why: str = Field(default="", description="In a few words, for the member and its record.", max_length=200)
    force: bool = Field(default=False, description="End it now: its work is cancelled.")


class MailActions(Protocol):
    """What a member, or the lead, can do in a team."""

    async def message(self, context: ToolContext, arguments: MessageArguments) -> ToolResult:
        """Send a message."""
        ...

    async def roster(self, context: ToolContext, arguments: RosterArguments) -> ToolResult:
        """List the members."""
        ...

    async def request(self, context: ToolContext, arguments: RequestArguments) -> ToolResult:
        """Ask for something that has an answer."""
        ...

    async def answer(self, context: ToolContext, arguments: AnswerArguments) -> ToolResult:
        """Answer a request, or withdraw one."""
        ...


class LeadActions(MailActions, Protocol):
    """What the lead can do."""

    async def start(self, context: ToolContext, arguments: StartArguments) -> ToolResult:
        """Start a member with its first task; does not wait for its end."""
        ...

    async def stop(self, context: ToolContext, arguments: StopArguments) -> ToolResult:
        """End a member."""
        ...


def mail_tools(team: Callable[[], MailActions]) -> tuple[Tool, ...]:
    """The tools of every member. They change nothing but mailboxes, so they need no permission."""

    async def message(context: ToolContext, arguments: MessageArguments) -> ToolResult:
        return await team().message(context, arguments)

    async def roster(context: ToolContext, arguments: RosterArguments) -> ToolResult:
        return await team().roster(context, arguments)

    async def request(context: ToolContext, arguments: RequestArguments) -> ToolResult:
        return await team().request(context, arguments)

    async def answer(context: ToolContext, arguments: AnswerArguments) -> ToolResult:
        return await team().answer(context, arguments)

    return (
        Tool(
            MESSAGE,
            "Write to a member of the team or to the lead. A message is read between two steps, or begins the next "
            "task of an idle member; the answer arrives by itself, so do not wait for it. Do not send thanks or "
            "confirmations.",
            MessageArguments,
            Effect.READ,
            message,
            _summary,
            parallel=True,
            idempotent=False,
        ),
        Tool(
            ROSTER,
            "List the members: name, role, state and why, task, time, unread mail, tokens and cost. It costs no model "
            "call of theirs. An idle member says nothing; it is not gone.",
            RosterArguments,
            Effect.READ,
            roster,
            lambda _: "",
            parallel=True,
        ),
        Tool(
            REQUEST,
            "Ask for something you need an answer to before you can go on. It has an id and a deadline: who does not "
            "answer is reminded, then the lead is asked, then the user. The answer arrives as mail; end your turn if "
            "nothing is left to do without it. For anything else use message.",
            RequestArguments,
            Effect.READ,
            request,
            _summary,
            idempotent=False,
        ),
        Tool(
            ANSWER,
            "Answer a request that reached you as mail, or withdraw one of yours. Only whoever was asked can answer.",
            AnswerArguments,
            Effect.READ,
            answer,
            _summary,
            idempotent=False,
        ),
    )


def lead_tools(team: Callable[[], LeadActions]) -> tuple[Tool, ...]:
    """The tools of the agent of the session."""

    async def start(context: ToolContext, arguments: StartArguments) -> ToolResult:
        return await team().start(context, arguments)

    async def stop(context: ToolContext, arguments: StopArguments) -> ToolResult:
        return await team().stop(context, arguments)

    return (
        Tool(
            TEAM_START,
            "Start a member: a subagent with a name that stays. It keeps its history from task to task, works in the "
            "background, and its answer arrives as mail; more work for it is a message. For one question whose answer "
            "you wait for, use agent. Do not give two members the same file to change, except in worktrees.",
            StartArguments,
            Effect.DELEGATE,
            start,
            _summary,
            parallel=True,
        ),
        *mail_tools(team),
        Tool(
            TEAM_STOP,
            "Ask a member to end. An idle one ends at once; one that works is asked, may decline with a reason, and is "
            "ended when it does not answer. Its last report reaches you, its unread mail goes back to the senders, its "
            "name is free.",
            StopArguments,
            Effect.READ,
            stop,
            _summary,
            changes=True,
            parallel=True,
        ),
    )


def _summary(input: Json) -> str:
    """A call in one line. The input may be anything."""
    names = input.get("to", input.get("name", input.get("id")))
    names = ", ".join(map(str, names)) if isinstance(names, list) else names
    texts = (names, input.get("say"), input.get("description") or input.get("text") or input.get("why"))
    return shorten_line(": ".join(text for text in texts if isinstance(text, str) and text))
