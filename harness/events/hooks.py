"""Events of hooks: commands and functions of the user that run at fixed points of a session."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.catalogue import Event

__all__ = [
    "HookFailed",
    "HookOutcome",
    "HookPoint",
    "HookRan",
]


class HookPoint(StrEnum):
    """Where a hook runs."""

    SESSION_START = "session_start"
    """Before the first turn of a new or resumed session."""
    SESSION_END = "session_end"
    PROMPT_SUBMIT = "prompt_submit"
    """Before a prompt of the user is added to the history."""
    BEFORE_TOOL = "before_tool"
    """Before the permission is checked and the call runs."""
    AFTER_TOOL = "after_tool"
    """After a call ended, also one that was denied or had wrong arguments."""
    BEFORE_COMPACTION = "before_compaction"
    AFTER_COMPACTION = "after_compaction"
    TASK_CREATED = "task_created"
    """Before a task is added to the task board."""
    TASK_COMPLETED = "task_completed"
    """Before a task of the board is marked as completed."""
    STOP = "stop"
    """The model has finished and the turn would end as completed; never after a fault."""
    NOTIFICATION = "notification"
    """A question waits for the user, or a turn ended that the user did not interrupt."""


class HookOutcome(StrEnum):
    """The result of a hook; of several, the one with the greatest effect."""

    PASSED = "passed"
    """No effect."""
    ADDED = "added"
    """It added context for the model."""
    CHANGED = "changed"
    """It replaced the input."""
    ALLOWED = "allowed"
    ASKED = "asked"
    """The user has to be asked."""
    DENIED = "denied"
    BLOCKED = "blocked"
    STOPPED = "stopped"
    """It ended the turn."""


@dataclass(frozen=True, slots=True)
class HookRan(Event):
    """A hook ran."""

    point: HookPoint
    name: str
    outcome: HookOutcome
    seconds: float
    detail: str = ""
    """Its reason, or the beginning of its output, in one line."""
    call_id: str = ""
    """The tool call that it was asked about."""


@dataclass(frozen=True, slots=True)
class HookFailed(Event):
    """A hook crashed, timed out or gave an invalid answer. The turn continues."""

    point: HookPoint
    name: str
    why: str
    seconds: float
    required: bool
    """A failure of this hook blocks."""
    times: int
    """Failures of this hook since the program started; the user sees the first."""
    call_id: str = ""
