"""A live member, and its seat: its tools, its mail between two steps, and the money of the team."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from harness.engine.conversation import Conversation
from harness.events import Address, MailDelivered, MailKind, Origin
from harness.model import notices
from harness.policies.recovery import Stop, TurnState
from harness.team.mail import Mail
from harness.team.tools import AnswerArguments, MessageArguments, RequestArguments, RosterArguments, mail_tools
from harness.tools.tool import Tool, ToolContext, ToolResult

AT_ONCE_CHARACTERS = 60_000
"""Of the mail that one step reads; the rest follows with the next steps."""


@dataclass(slots=True, eq=False)
class Member:
    """A live member, apart from its row."""

    address: Address
    agent: str
    workspace: Path | None = None
    """In its worktree; None: it has none."""
    box: list[Mail] = field(default_factory=list)
    """Unread mail, oldest first."""
    read: list[tuple[Address, MailKind, str]] = field(default_factory=list)
    """What its present task is about: the order of the lead, and mail."""
    wrote_to: set[str] = field(default_factory=set)
    """Names that it has written to in this task."""
    asked: set[str] = field(default_factory=set)
    """The members among them whose work it began."""
    held: bool = False
    """Its mail begins no work before the next prompt of the user, or a message of the user or the lead: the session was
    resumed, or the user stopped the members."""
    busy: bool = False
    """It has a task, queued or under way."""
    alarm: asyncio.Task[None] | None = None
    """Ends its pause; there is one only while mail waits for that."""
    ending: str = ""
    """Why it is being ended; empty: it is not."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def name(self) -> str:
        return self.address.name

    @property
    def reasons(self) -> list[Mail]:
        """Unread mail that begins its next task, oldest first."""
        return [mail for mail in self.box if mail.begins_work]


class SeatedTeam(Protocol):
    """What a seat needs of its team."""

    async def message_from(self, sender: Address, context: ToolContext, arguments: MessageArguments) -> ToolResult:
        """Send a message whose sender the program knows."""
        ...

    async def roster(self, context: ToolContext, arguments: RosterArguments) -> ToolResult:
        """List the members."""
        ...

    async def request_from(self, sender: Address, arguments: RequestArguments) -> ToolResult:
        """Ask for something; the program knows who asks."""
        ...

    async def answer_from(self, sender: Address, arguments: AnswerArguments) -> ToolResult:
        """Answer a request; the program knows who answers."""
        ...

    def blocked(self, member: Member) -> str:
        """Why a member may write and run nothing now; empty: it may."""
        ...

    async def delivered(self, member: Member, mails: Sequence[Mail]) -> None:
        """A member has read these messages."""
        ...

    def over_budget(self, state: TurnState) -> Stop | None:
        """What ends the turn of a member because the money of the team is spent."""
        ...


class MemberSeat:
    """What the agent of a member knows of its team, for one task."""

    def __init__(self, team: SeatedTeam, member: Member) -> None:
        self._team = team
        self._member = member

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """Its mail and requests; the sender is this member."""
        return mail_tools(lambda: self)

    async def message(self, context: ToolContext, arguments: MessageArguments) -> ToolResult:
        """Send a message of this member."""
        return await self._team.message_from(self._member.address, context, arguments)

    async def roster(self, context: ToolContext, arguments: RosterArguments) -> ToolResult:
        """List the members."""
        return await self._team.roster(context, arguments)

    async def request(self, context: ToolContext, arguments: RequestArguments) -> ToolResult:
        """Ask for something."""
        return await self._team.request_from(self._member.address, arguments)

    async def answer(self, context: ToolContext, arguments: AnswerArguments) -> ToolResult:
        """Answer a request, or withdraw one."""
        return await self._team.answer_from(self._member.address, arguments)

    @property
    def blocked(self) -> str:
        """Why it may write and run nothing now; empty: it may."""
        return self._team.blocked(self._member)

    @property
    def waits(self) -> bool:
        """Mail waits."""
        return bool(self._member.box)

    async def deliver(self, conversation: Conversation) -> None:
        """Add the oldest mail to the history, one block for each message.

        The message comes before the mark, as for everything that arrives: of what a crash separated from its mark the
        blocks of the message say how many were read.
        """
        state = conversation.state
        behind = [mail for mail in self._member.box if mail.id > state.mail_read]
        new = _batch(behind[state.mail_unmarked :])
        if new:
            conversation.add("user", [{"type": "text", "text": text_of(mail)} for mail in new], Origin.MAIL)
        marked = [*behind[: state.mail_unmarked], *new]
        if marked:
            conversation.emit(MailDelivered(self._member.address, tuple(mail.id for mail in marked)))
        last = marked[-1].id if marked else state.mail_read
        if read := [mail for mail in self._member.box if mail.id <= last]:
            await self._team.delivered(self._member, read)

    def over_budget(self, state: TurnState) -> Stop | None:
        """What ends the turn because the money of the team is spent."""
        return self._team.over_budget(state)


def text_of(mail: Mail) -> str:
    """A message as its recipient reads it."""
    return notices.mail_text(mail.id, mail.sender.name, mail.kind, mail.body)


def _batch(mails: list[Mail]) -> list[Mail]:
    """The oldest messages that one step reads; at least one, if there is any."""
    size = 0
    for number, mail in enumerate(mails):
        size += len(mail.body)
        if size > AT_ONCE_CHARACTERS:
            return mails[: max(1, number)]
    return mails
