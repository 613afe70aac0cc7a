"""Events of loops: what repeats, interventions, checkpoints."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from harness.events.catalogue import Event

__all__ = [
    "Attempt",
    "CheckpointMade",
    "ErrorClass",
    "Intervened",
    "Loop",
    "LoopAnswered",
    "LoopAsked",
    "LoopChoice",
    "LoopFound",
    "LoopLeft",
    "LoopPolicySet",
    "Projection",
    "RolledBack",
    "Rung",
    "StuckReported",
]


class Projection(StrEnum):
    """What repeats. The first five are streams of observations."""

    ACTION = "action"
    """The same calls, with any results. Leads to nudges only."""
    INTERACTION = "interaction"
    """The same calls with the same results."""
    ERROR = "error"
    """The same tools failing with the same error, with any arguments."""
    NODE = "node"
    """The same nodes of a graph; for the agent loop, items of the plan."""
    STATE = "state"
    """The same states; for the agent loop, contents of the workspace."""
    STAGNATION = "stagnation"
    """One interaction repeated among others while nothing changes. Leads to nudges only."""
    POLL = "poll"
    """A declared poll that runs too often or for too long."""
    TEXT = "text"
    """One reply that repeats itself."""


class ErrorClass(StrEnum):
    """Whether repeating the call can help."""

    TRANSIENT = "transient"
    PERSISTENT = "persistent"
    UNKNOWN = "unknown"


class Rung(StrEnum):
    """Interventions, mildest first."""

    RETRY = "retry"
    """The program repeats the call after a pause; only calls without side effects."""
    NUDGE = "nudge"
    """A message tells the agent that it repeats itself."""
    EXPLORE = "explore"
    """Another path out of the loop."""
    SUBSTITUTE = "substitute"
    """Another tool replaces the one in the loop."""
    ROLLBACK = "rollback"
    """Back to a checkpoint before the loop."""
    BREAKER = "breaker"
    """The breaker of the failing tool is opened."""
    HUMAN = "human"
    """The user is asked."""
    STOP = "stop"
    """The turn ends with a report."""


class LoopChoice(StrEnum):
    """The user's answers to a question about a loop."""

    CONTINUE = "continue"
    """It is intended; ignore this loop until it has doubled in length."""
    OFF = "off"
    """No more interventions in this session."""
    ROLL_BACK = "roll_back"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Loop:
    """A repeating tail of observations."""

    projection: Projection
    signature: str
    """Identifies the loop, wherever in its cycle it is found, in every process."""
    period: int
    """Steps of one copy; 1 for stagnation, polls and text."""
    copies: int
    """Complete copies so far."""
    summary: str
    """One line for the user."""
    tools: tuple[str, ...] = ()
    """Its tools in the order of one copy, without duplicates."""
    failing: bool = False
    """Nothing in it succeeded."""
    error: ErrorClass | None = None
    """Of the last failure, where it fails."""
    weak: bool = False
    """It may be legitimate work: leads to nudges only."""


@dataclass(frozen=True, slots=True)
class LoopFound(Event):
    """A loop was found: once per episode, and again whenever it has doubled in length."""

    loop: Loop
    step: int
    relapse: bool = False
    """The same loop was left earlier in this session; in the same turn interventions continue at the rung reached
    then."""


@dataclass(frozen=True, slots=True)
class LoopLeft(Event):
    """The loop ended: something new was observed."""

    signature: str
    projection: Projection
    step: int
    freed_by: Rung | None = None
    """The last intervention; None: it ended by itself."""


@dataclass(frozen=True, slots=True)
class Intervened(Event):
    """An intervention."""

    signature: str
    projection: Projection
    rung: Rung
    number: int
    """Of the interventions of this rung for this loop, from 1."""
    quota: int
    """Limit of interventions of this rung per loop."""
    step: int
    detail: str
    """One line for the user."""
    tool: str = ""
    """The tool that is replaced, repeated, or whose breaker was opened."""
    action: str = ""
    """Digest of the call that a substitution prevents."""
    applied: bool = True
    """False: it was not possible; the next rung follows."""


@dataclass(frozen=True, slots=True)
class LoopAsked(Event):
    """The user is asked about a loop."""

    loop: Loop
    choices: tuple[LoopChoice, ...]


@dataclass(frozen=True, slots=True)
class LoopAnswered(Event):
    """The user's answer."""

    signature: str
    choice: LoopChoice


@dataclass(frozen=True, slots=True)
class LoopPolicySet(Event):
    """The policy from the next observation on: once when a session is opened, and at each change."""

    enabled: bool
    version: int
    changed: tuple[str, ...] = ()
    """Limits changed from their defaults, as "name=value"."""


@dataclass(frozen=True, slots=True)
class CheckpointMade(Event):
    """The workspace was saved before a change."""

    id: str
    turn: int
    step: int
    files: int
    left_out: tuple[str, ...] = ()
    """Files not included and why, in a few lines."""


@dataclass(frozen=True, slots=True)
class RolledBack(Event):
    """The conversation, the files or both were restored to a checkpoint."""

    turn: int
    """For a rewind, the first turn that is removed; otherwise the current or last one."""
    step: int
    """The step whose state was restored."""
    files_restored: tuple[str, ...] = ()
    """Paths that were written or removed; empty: no files were restored."""
    not_undone: tuple[str, ...] = ()
    """Later effects that remain, one line each."""
    why: Literal["loop", "rewind", "undo"] = "loop"
    """An intervention, /rewind, or undoing a rewind."""
    undo: str = ""
    """Id of the checkpoint of the files before the rollback."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One intervention in a report."""

    rung: Rung
    step: int
    detail: str


@dataclass(frozen=True, slots=True)
class StuckReported(Event):
    """The turn ends because no intervention ended the loop."""

    loop: Loop
    step: int
    tried: tuple[Attempt, ...]
    steps_in_loop: int
    next_steps: tuple[str, ...]
