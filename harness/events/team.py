"""Events of members: long-lived subagents with a name and a mailbox, and the mail between them."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.catalogue import Event

__all__ = [
    "Address",
    "MailDelivered",
    "MailKind",
    "MailReturned",
    "MailSent",
    "MemberAnswered",
    "MemberChanged",
    "MemberStarted",
    "MemberState",
    "RequestChanged",
    "RequestKind",
    "RequestMade",
    "RequestState",
]


@dataclass(frozen=True, slots=True)
class Address:
    """A mailbox: a name, and which life of it."""

    name: str
    generation: int
    """Counts from 1 for each name. Mail for an earlier one never reaches a later one."""

    def __str__(self) -> str:
        return self.name if self.generation == 1 else f"{self.name} ({self.generation})"


class MailKind(StrEnum):
    """What a message is. Only some kinds begin work (`harness.policies.team.mail`)."""

    MESSAGE = "message"
    NOTE = "note"
    """For information: waits until the recipient works anyway."""
    USER = "user"
    """Words of the user."""
    LAST_WORDS = "last_words"
    """A member ended its task without a message to whoever gave it; this is its answer."""
    FAILED = "failed"
    """A member ended its task without an answer, and why."""
    RETURNED = "returned"
    """A message of the recipient that will not be read, and why."""
    REQUEST = "request"
    """A request of a protocol, which has an answer and a deadline; sent again as its reminder."""
    ANSWER = "answer"
    """The answer to a request."""


class MemberState(StrEnum):
    """What a member does."""

    QUEUED = "queued"
    """It has a task and waits for admission."""
    WORKING = "working"
    IDLE = "idle"
    """Only its row is in memory; mail begins its next task."""
    FAILED = "failed"
    """As idle: its last task ended without an answer."""
    PAUSED = "paused"
    """It failed too often in a row; its mail waits until the pause is over."""
    ENDED = "ended"
    """Its name is free again, and its unread mail was returned."""


@dataclass(frozen=True, slots=True)
class MemberStarted(Event):
    """A member joined the session. It is a subagent, whose tasks are `AgentCreated`, `AgentMoved` and `AgentEnded`."""

    member: Address
    agent: str
    """Id of the subagent, such as "a1"."""
    role: str = ""
    """What it is there for, in a few words."""
    kind: str = ""
    """The kind of agent that a file defines; empty: none of these."""
    tools: tuple[str, ...] = ()
    """Names of the tools it may use."""
    worktree: str = ""
    """Name of the worktree that it works in; empty: it works where the lead does."""
    call_id: str = ""
    plans: bool = False
    """It writes and runs nothing before a plan of it is approved."""


@dataclass(frozen=True, slots=True)
class MemberChanged(Event):
    """A member does something else now."""

    member: Address
    state: MemberState
    why: str = ""
    """One line: the reason of a failure, a pause or an end, or whom it waits for."""
    owes: tuple[Address, ...] = ()
    """Whom it will report to, as soon as it has what it waits for."""


@dataclass(frozen=True, slots=True)
class MemberAnswered(Event):
    """A member ended a task that the user gave it with `/team say`. The lead does not read the answer."""

    member: Address
    text: str


@dataclass(frozen=True, slots=True)
class MailSent(Event):
    """A message was written to the mailbox of its recipient."""

    id: int
    """Counts from 1 within the mailboxes of a session."""
    sender: Address
    """The program sets it, never the text."""
    recipient: Address
    kind: MailKind
    text: str
    """Its beginning; all of it is in the mailbox."""
    key: str = ""
    """What is sent once only: the id of a call of message, or a request and its state, such as "r1 answered"."""


@dataclass(frozen=True, slots=True)
class MailDelivered(Event):
    """A member reads these messages. The message of the history before this event holds them, one block for each.

    In the journal of the member, where it counts, and in that of the session, for whoever watches."""

    member: Address
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MailReturned(Event):
    """These messages of an ended member will not be read; their senders are told."""

    member: Address
    ids: tuple[int, ...]
    why: str


class RequestKind(StrEnum):
    """What is asked for; docs/protocols.md has the rules of each."""

    PLAN = "plan"
    """Approval of a plan, before anything is written or run."""
    SHUTDOWN = "shutdown"
    """That a member ends."""
    HAND_OVER = "hand_over"
    """That another one takes over some work."""
    QUESTION = "question"


class RequestState(StrEnum):
    """Where a request stands. The first four wait for an answer, the others are ends."""

    OPEN = "open"
    REMINDED = "reminded"
    """A first deadline has passed."""
    WITH_LEAD = "with_lead"
    """The recipient did not answer; the lead may."""
    WITH_USER = "with_user"
    AGREED = "agreed"
    DECLINED = "declined"
    ANSWERED = "answered"
    WITHDRAWN = "withdrawn"
    LAPSED = "lapsed"
    """Whoever was asked has ended."""
    FORCED = "forced"
    """A member was ended without its agreement."""


@dataclass(frozen=True, slots=True)
class RequestMade(Event):
    """An agent asks for something that has an answer and a deadline."""

    id: str
    """Such as "r1"; counts on over restarts."""
    kind: RequestKind
    asker: Address
    recipient: Address
    text: str
    digest: str = ""
    """Of a plan: what an approval is for."""
    state: RequestState = RequestState.OPEN


@dataclass(frozen=True, slots=True)
class RequestChanged(Event):
    """A request moved on; every move is a row of docs/protocols.md."""

    id: str
    state: RequestState
    by: str
    """Name of the agent, "user", or "program"."""
    why: str = ""
    """The answer, or the reason."""
    digest: str = ""
    """Of a plan that the user changed while agreeing: the digest of the text that counts."""
