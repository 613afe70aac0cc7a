"""Events of members: long-lived subagents with a name and a mailbox, and the mail between them."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.catalogue import Event

__all__ = [
    "Address",
    "ClaimEnd",
    "ClaimEnded",
    "ClaimsSwitched",
    "GoalEnded",
    "GoalStarted",
    "MailDelivered",
    "MailKind",
    "MailReturned",
    "MailSent",
    "MemberAnswered",
    "MemberChanged",
    "MemberClaimed",
    "MemberStarted",
    "MemberState",
    "RequestChanged",
    "RequestKind",
    "RequestMade",
    "RequestState",
    "RespawnDecided",
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
    GIVEN_BACK = "given_back"
    """The branch of the recipient was not merged: the conflict, or the output of the check."""
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


# ── tasks of the board that members claim ───────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ClaimsSwitched(Event):
    """From now on idle members claim ready tasks of the board, or they no longer do."""

    on: bool
    why: str


@dataclass(frozen=True, slots=True)
class MemberClaimed(Event):
    """A task of the board was claimed for an idle member, which works on it now."""

    member: Address
    task: str
    """Its id on the board, such as "t12"."""
    subject: str
    attempt: int = 1
    """1: nobody has tried it before."""


class ClaimEnd(StrEnum):
    """How the claim of a member ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    DEFERRED = "deferred"
    """Set aside, with the reason."""
    GIVEN_BACK = "given_back"
    """The task is ready again."""
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class ClaimEnded(Event):
    """A member works on its task of the board no longer."""

    member: Address
    task: str
    end: ClaimEnd
    why: str = ""
    """One line: what shows that it is done, or why it is not."""


@dataclass(frozen=True, slots=True)
class RespawnDecided(Event):
    """A member has failed at work: it goes on, a new generation of it begins, or neither."""

    member: Address
    """The one that failed."""
    what: str
    """ "go on", "respawn" or "stop"."""
    why: str
    after_s: float = 0.0
    """Seconds before it goes on."""


@dataclass(frozen=True, slots=True)
class GoalStarted(Event):
    """`harness run --goal` pursues this goal in the session. Emitted again when it is resumed."""

    goal: str
    members: int
    """That claim its tasks."""


@dataclass(frozen=True, slots=True)
class GoalEnded(Event):
    """Nothing follows by itself: each task of the board has ended, was set aside, or waits for one that was."""

    done: tuple[str, ...] = ()
    """Each task in a line: id, subject, and what shows that it is done."""
    failed: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    """After too many attempts, or by the user, with the reason."""
    deferred: tuple[str, ...] = ()
    """They wait for tasks that failed or were set aside."""
    left: tuple[str, ...] = ()
    """Not ended: a limit was reached, or nobody may claim them."""
    tokens: int = 0
    """Of all members."""
    cost_usd: float = 0.0
    unpriced: int = 0
    """Requests without a known price."""
    denied: tuple[str, ...] = ()
    """Calls that were not allowed, each with why."""
