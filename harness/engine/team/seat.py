"""What stands between an agent and its team: the tools with which it writes and asks, and the seat of a member."""

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from harness.base.errors import HarnessError
from harness.base.external_text import counted
from harness.engine.conversation import Conversation
from harness.engine.team.claims import Claims
from harness.engine.team.member import Member
from harness.engine.team.requests import LEAD_BOX, Requests
from harness.events import Address, Event, MailDelivered, MailKind, MemberState, Origin, RequestKind, ToolOutcome
from harness.model import notices
from harness.policies.protocols.table import RequestMessage, word
from harness.policies.recovery import Stop, TurnState
from harness.policies.team.mail import LEAD, MailDraft, MailRefused
from harness.policies.team.members import MemberRow
from harness.tasks.work import RefusesTask, TaskWork
from harness.team.mail import Mail, MailError
from harness.team.tools import AnswerArguments, MessageArguments, RequestArguments, RosterArguments, mail_tools
from harness.tools.tool import Tool, ToolContext, ToolResult, invalid, shorten_line

AT_ONCE_CHARACTERS = 60_000
"""Of the mail that one step reads; the rest follows with the next steps."""


class SeatedTeam(Protocol):
    """What the tools and the seats need of their team."""

    @property
    def requests(self) -> Requests:
        """All requests of the session."""
        ...

    @property
    def claims(self) -> Claims | None:
        """What members do on the board; None: the session has none."""
        ...

    @property
    def rows(self) -> tuple[MemberRow, ...]:
        """All members, also those that have ended."""
        ...

    async def open(self) -> None:
        """Open the mailboxes. Raises MailError."""
        ...

    async def send(self, draft: MailDraft) -> tuple[Mail, ...] | MailRefused:
        """Write a message to mailboxes. Raises MailError."""
        ...

    def fate(self, mail: Mail) -> str:
        """What becomes of a message now, for its sender."""
        ...

    def member(self, name: str) -> Member:
        """The live member of a name. Raises HarnessError."""
        ...

    def listed(self) -> str:
        """The members as lines."""
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


class TeamTools:
    """What the tools of a team do for one sender: the lead or a member. The program knows who that is."""

    def __init__(self, team: SeatedTeam, sender: Address) -> None:
        self._team = team
        self._sender = sender

    async def message(self, context: ToolContext, arguments: MessageArguments) -> ToolResult:
        """Send a message."""
        kind = MailKind.NOTE if arguments.note else MailKind.MESSAGE
        draft = MailDraft(self._sender, tuple(arguments.to), arguments.text, kind, context.call_id)
        try:
            await self._team.open()
            sent = await self._team.send(draft)
        except MailError as error:
            return ToolResult(f"Not sent. {error}", ToolOutcome.ERROR, shorten_line(f"not sent: {error}"))
        if isinstance(sent, MailRefused):
            return invalid(f"Not sent. {sent.reason}")
        lines = [self._team.fate(mail) for mail in sent]
        if len(sent) > 1:
            tokens = len(arguments.text) // 4 * len(sent)
            lines.append(f"{len(sent)} recipients read it, which is about {tokens:,} tokens of input.")
        return ToolResult("\n".join(lines), summary=f"to {', '.join(mail.recipient.name for mail in sent)}")

    async def roster(self, context: ToolContext, arguments: RosterArguments) -> ToolResult:
        """List the members."""
        live = sum(row.state is not MemberState.ENDED for row in self._team.rows)
        return ToolResult(self._team.listed(), summary=counted(live, "member"))

    async def request(self, context: ToolContext, arguments: RequestArguments) -> ToolResult:
        """Ask for something that has an answer."""
        try:
            await self._team.open()
            kind, to = RequestKind(arguments.kind), arguments.to
            lead = to == LEAD or kind is RequestKind.PLAN
            recipient = LEAD_BOX if lead else self._team.member(to).address
            request = await self._team.requests.make(self._sender, kind, recipient, arguments.text)
        except HarnessError as error:
            return invalid(str(error))
        text = (
            f"{request.id} is with {request.with_}. The answer arrives as mail; end your turn if nothing else is left."
        )
        return ToolResult(text, summary=f"{request.id} to {request.with_}")

    async def answer(self, context: ToolContext, arguments: AnswerArguments) -> ToolResult:
        """Answer a request, or withdraw one."""
        said = RequestMessage(arguments.say)
        try:
            await self._team.open()
            request = await self._team.requests.say(self._sender, arguments.id, said, arguments.text, arguments.digest)
        except HarnessError as error:
            return invalid(str(error))
        return ToolResult(f"{request.id} is {word(request.state)}.", summary=f"{request.id} {word(request.state)}")


class MemberSeat:
    """What the agent of a member has of its team, for one task: its tools, its mail between two steps, and the money
    of the team."""

    def __init__(self, team: SeatedTeam, member: Member) -> None:
        self._team = team
        self._member = member

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """Its mail and requests; the sender is this member."""
        tools = TeamTools(self._team, self._member.address)
        return mail_tools(lambda: tools)

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

    def board(self, refuses: RefusesTask | None) -> TaskWork | None:
        """Its work on the board; None: the session has none. `refuses`: asks hooks."""
        claims = self._team.claims
        return None if claims is None else claims.work_of(self._member).at(refuses)

    def on_event(self, event: Event) -> None:
        """An event of its agent."""
        if (claims := self._team.claims) is not None:
            claims.work_of(self._member).on_event(event)

    def over_budget(self, state: TurnState) -> Stop | None:
        """What ends the turn because the money of the team is spent."""
        return self._team.over_budget(state)


def text_of(mail: Mail) -> str:
    """A message as its recipient reads it."""
    return notices.mail_text(mail.id, mail.sender.name, mail.kind, mail.body)


def fate_of(mail: Mail, member: Member | None, row: MemberRow | None) -> str:
    """What becomes of a message now, for its sender; `member` and `row` of the recipient, None: it is the lead, or has
    ended."""
    name, head = mail.recipient.name, f"Message {mail.id} to {mail.recipient.name} is in the mailbox"
    if member is None or row is None:
        return f"{head}."
    if not mail.begins_work and not member.busy:
        return f"{head}; it is read with the next one that begins work."
    if row.state is MemberState.PAUSED:
        return f"{head}; {name} is paused and reads it afterwards ({row.why})."
    return f"{head}; {name} reads it {'at its next step' if member.read else 'as its next task'}."


def _batch(mails: list[Mail]) -> list[Mail]:
    """The oldest messages that one step reads; at least one, if there is any."""
    size = 0
    for number, mail in enumerate(mails):
        size += len(mail.body)
        if size > AT_ONCE_CHARACTERS:
            return mails[: max(1, number)]
    return mails
