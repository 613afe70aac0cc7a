"""A live member: what the program has of it in memory besides its row."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from harness.events import Address, MailKind
from harness.team.mail import Mail


@dataclass(frozen=True, slots=True)
class MemberDraft:
    """A member that is to join."""

    name: str
    tools: tuple[str, ...]
    role: str = ""
    kind: str = ""
    worktree: bool = False
    """It has a worktree of its own."""
    plans: bool = False
    """It writes and runs nothing before a plan of it is approved."""
    call_id: str = ""


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
    goes_on: float = 0.0
    """Unix time at which it goes on with its task of the board, after a fault of the model; 0: it does not wait."""
    claimed_at: str = ""
    """The commit of its worktree when its task of the board was claimed."""
    alarm: asyncio.Task[None] | None = None
    """Ends its pause; there is one only while mail or its task waits for that."""
    leaves: asyncio.Task[None] | None = None
    """Ends the member after its idle time; only while it is idle and there is such a limit."""
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
