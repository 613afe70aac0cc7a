"""A task, its states, and the changes that are possible."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from harness.events import TaskState


class TaskAction(StrEnum):
    """What an actor does with a task."""

    CLAIM = "claim"
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"
    DEFER = "defer"
    RELEASE = "release"
    """Give a claim back, or resume a deferred task."""
    REOPEN = "reopen"


PENDING, IN_PROGRESS, COMPLETED = TaskState.PENDING, TaskState.IN_PROGRESS, TaskState.COMPLETED
FAILED, CANCELLED, DEFERRED = TaskState.FAILED, TaskState.CANCELLED, TaskState.DEFERRED

TRANSITIONS: Mapping[tuple[TaskState, TaskAction], TaskState] = MappingProxyType(
    {
        (PENDING, TaskAction.CLAIM): IN_PROGRESS,
        (PENDING, TaskAction.CANCEL): CANCELLED,
        (PENDING, TaskAction.DEFER): DEFERRED,
        (IN_PROGRESS, TaskAction.COMPLETE): COMPLETED,
        (IN_PROGRESS, TaskAction.FAIL): FAILED,
        (IN_PROGRESS, TaskAction.CANCEL): CANCELLED,
        (IN_PROGRESS, TaskAction.DEFER): DEFERRED,
        (IN_PROGRESS, TaskAction.RELEASE): PENDING,
        (DEFERRED, TaskAction.RELEASE): PENDING,
        (DEFERRED, TaskAction.CANCEL): CANCELLED,
        (FAILED, TaskAction.REOPEN): PENDING,
        (CANCELLED, TaskAction.REOPEN): PENDING,
    }
)
"""Every possible change. Completed is final, because other tasks may have built on it."""
ENDED = frozenset({COMPLETED, FAILED, CANCELLED})


def legal_actions(state: TaskState) -> tuple[TaskAction, ...]:
    """What can be done with a task in this state."""
    return tuple(action for before, action in TRANSITIONS if before is state)


class Role(StrEnum):
    """What an actor may do beyond its own tasks."""

    AGENT = "agent"
    LEAD = "lead"
    """The main agent of a session that uses the board."""
    USER = "user"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes a board: an agent of a session, or the user."""

    name: str
    """Unique on the machine: the id of a session, with a slash and the id of its subagent, or "user"."""
    role: Role = Role.AGENT
    also: frozenset[str] = frozenset()
    """Other assignees that mean it, such as the name and the role of a member."""

    @property
    def leads(self) -> bool:
        """Whether it may change what others have created."""
        return self.role is not Role.AGENT

    def is_meant_by(self, assignee: str) -> bool:
        """Whether a task with this assignee is assigned to it."""
        return assignee == self.name or assignee in self.also

    def answers_for(self, name: str) -> bool:
        """Whether what `name` holds or waits for is its own, or that of a subagent which it leads."""
        mine = self.is_meant_by(name) or (self.role is Role.LEAD and name.startswith(f"{self.name}/"))
        return mine or self.role is Role.USER


@dataclass(frozen=True, slots=True)
class TaskClaim:
    """The right to work on a task, for as long as it is renewed."""

    actor: str
    fence: int
    """Rises with every claim of the task. What is done with an older one is refused."""
    expires: float
    """Unix time."""


class Task(NamedTuple):
    """One task of a board. A named tuple, because boards of thousands are read at once."""

    number: int
    """Never used again on its board."""
    subject: str
    """One line."""
    description: str = ""
    state: TaskState = PENDING
    priority: int = 2
    """0 is the most urgent, 4 the least."""
    needs: tuple[int, ...] = ()
    """Tasks that must be completed first."""
    creator: str = ""
    assignee: str = ""
    """The only actor that may claim it; empty: any."""
    claim: TaskClaim | None = None
    """Set while it is in progress."""
    fence: int = 0
    """That of the last claim."""
    attempts: int = 0
    """Claims that ended without a result."""
    note: str = ""
    """What was checked when it was completed, or why it failed, was cancelled or deferred."""
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def id(self) -> str:
        """As users and models name it: "t12"."""
        return f"t{self.number}"


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """Limits of a board."""

    tasks: int = 10_000
    """Stored at the same time."""
    batch: int = 200
    """Created in one step."""
    subject: int = 200
    """Characters."""
    description: int = 20_000
    """Characters."""
    needs: int = 50
    """Of one task."""
    attempts: int = 3
    """Claims without a result after which a task is deferred."""
    keep_s: float = 90 * 86_400.0
    """Seconds after which an ended task that no other one needs is removed."""
    lease_s: float = 60.0
    """Seconds without renewal after which a claim ends."""


def number_of(id: str) -> int | None:
    """The number in "t12", or in "12"; None: it is no id."""
    digits = id.strip().removeprefix("t")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None
