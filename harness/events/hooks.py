"""Events of hooks: programs and functions of the person that attach to fixed points of a session (lessons s04)."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.catalogue import Event


class HookPoint(StrEnum):
    """Where a hook attaches."""

    SESSION_START = "session_start"
    """Before the first turn of a session that is new or was resumed."""
    SESSION_END = "session_end"
    PROMPT_SUBMIT = "prompt_submit"
    """Before a prompt of the person joins the history."""
    BEFORE_TOOL = "before_tool"
    """Before a permission is asked for and the call runs."""
    AFTER_TOOL = "after_tool"
    """After a call ended, also one that was not allowed."""
    BEFORE_COMPACTION = "before_compaction"
    AFTER_COMPACTION = "after_compaction"
    STOP = "stop"
    """The model is done and the turn would end as completed; never after a fault (recovery H1)."""
    NOTIFICATION = "notification"
    """Something waits for the person, or a turn ended in a way that they did not bring about."""


class HookOutcome(StrEnum):
    """What a hook did; of several things the weightiest."""

    PASSED = "passed"
    """Nothing."""
    ADDED = "added"
    """It told the model something."""
    CHANGED = "changed"
    """It put another input in the place of the one that was given."""
    ALLOWED = "allowed"
    ASKED = "asked"
    """It wants a person to be asked."""
    DENIED = "denied"
    BLOCKED = "blocked"
    STOPPED = "stopped"
    """It ends the turn."""


@dataclass(frozen=True, slots=True)
class HookRan(Event):
    """A hook was asked, and this is what it decided."""

    point: HookPoint
    name: str
    outcome: HookOutcome
    seconds: float
    detail: str = ""
    """Its reason, or the beginning of what it said, in one line."""
    call_id: str = ""
    """The tool call it was asked about."""


@dataclass(frozen=True, slots=True)
class HookFailed(Event):
    """A hook could not answer: it broke, took too long or said something that is no answer. The turn goes on."""

    point: HookPoint
    name: str
    why: str
    seconds: float
    required: bool
    """A failure of this hook counts as a no."""
    times: int
    """Failures of this hook in this run of the program; a person is told of the first."""
    call_id: str = ""
