"""Events of the task board: what this session does on it, and its state."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.catalogue import Event

__all__ = ["BoardCounted", "BoardOpened", "TaskChanged", "TaskState"]


class TaskState(StrEnum):
    """State of a task. Whether a pending task is blocked follows from the tasks that it needs."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    """An actor has claimed it."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DEFERRED = "deferred"
    """Set aside until something changes; its note says why."""


@dataclass(frozen=True, slots=True)
class BoardOpened(Event):
    """The session uses a task board from now on. A resumed or forked session uses the same one."""

    board: str
    """File name of the board in the state folder, without its suffix."""


@dataclass(frozen=True, slots=True)
class TaskChanged(Event):
    """A change of a task by this session. What other sessions do is not in this journal, but on the board."""

    task: str
    """Its id on the board, such as "t12"."""
    subject: str
    state: TaskState
    """From now on; that of a deleted task is its last one."""
    what: str
    """An action (claim, complete, fail, cancel, defer, release, reopen), or create, change, delete, expire."""
    actor: str
    text: str = ""
    """What was checked, or why."""
    unblocked: tuple[str, ...] = ()
    """Ids of the tasks that can be claimed because of it."""
    deferred: tuple[str, ...] = ()
    """Ids of the tasks that wait for this one, which has failed, was cancelled or set aside."""


@dataclass(frozen=True, slots=True)
class BoardCounted(Event):
    """How many tasks the board has in each state, after a change by any session."""

    ready: int
    """Pending tasks that can be claimed now."""
    waiting: int
    """Other pending tasks."""
    in_progress: int
    completed: int
    failed: int
    cancelled: int
    deferred: int
