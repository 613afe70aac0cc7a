"""The values and events of the escape room: which loop was found, and what was done about it (seed 001)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from harness.events.catalogue import Event


class Projection(StrEnum):
    """What of the behaviour repeats. The first five are streams whose tail is looked at (resilience B3)."""

    ACTION = "action"
    """The same calls, whatever came back. May only nudge (Q4)."""
    INTERACTION = "interaction"
    """The same calls with the same results."""
    ERROR = "error"
    """The same tools failing with the same error, whatever their arguments (B9)."""
    NODE = "node"
    """The same places of a graph; in our loop the items of the plan."""
    STATE = "state"
    """The same states; in our loop what the workspace holds."""
    STAGNATION = "stagnation"
    """One interaction again and again among others, while nothing is changed. May only nudge."""
    POLL = "poll"
    """A declared poll that is asked too often or for too long (B10)."""
    TEXT = "text"
    """One reply that repeats itself."""


class ErrorClass(StrEnum):
    """Whether trying the same again can help (B16)."""

    TRANSIENT = "transient"
    PERSISTENT = "persistent"
    UNKNOWN = "unknown"


class Rung(StrEnum):
    """The steps of the ladder, mildest first (B20)."""

    RETRY = "retry"
    """The original call once more after a pause, by the program itself; only where that does no harm (B21)."""
    NUDGE = "nudge"
    """The agent is told that it repeats itself."""
    EXPLORE = "explore"
    """Another path out of the circle (B22)."""
    SUBSTITUTE = "substitute"
    """Another tool in the place of the one in the loop (B23)."""
    ROLLBACK = "rollback"
    """Back to a checkpoint before the loop (B24)."""
    BREAKER = "breaker"
    """The breaker of the failing tool is opened (B26)."""
    HUMAN = "human"
    """A person is asked."""
    STOP = "stop"
    """The end, with a report (B25)."""


class LoopChoice(StrEnum):
    """What a person can answer when asked about a loop."""

    CONTINUE = "continue"
    """It is meant; say nothing about this loop until it has become twice as long."""
    OFF = "off"
    """No interventions for the rest of the session."""
    ROLL_BACK = "roll_back"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Loop:
    """The tail of the behaviour repeats."""

    projection: Projection
    signature: str
    """The same for the same loop wherever in its circle it is found, in every process."""
    period: int
    """Steps of one copy; 1 for stagnation, polls and text."""
    copies: int
    """Whole copies seen so far."""
    summary: str
    """What repeats, in one line for a person."""
    tools: tuple[str, ...] = ()
    """The tools in it, in the order of one copy, each once."""
    failing: bool = False
    """Nothing in it succeeded."""
    error: ErrorClass | None = None
    """Of the last failure, where it fails."""
    weak: bool = False
    """It may be legitimate work: a nudge at most."""


@dataclass(frozen=True, slots=True)
class LoopFound(Event):
    """The tail repeats: once in an episode, and again each time it has become twice as long (B14)."""

    loop: Loop
    step: int
    relapse: bool = False
    """The same loop was left before in this session; its ladder goes on where it was."""


@dataclass(frozen=True, slots=True)
class LoopLeft(Event):
    """Something new came: the tail repeats no longer."""

    signature: str
    projection: Projection
    step: int
    freed_by: Rung | None = None
    """The last rung that was tried; None: it ended by itself."""


@dataclass(frozen=True, slots=True)
class Intervened(Event):
    """A rung of the ladder was taken. Every intervention leaves exactly one of these."""

    signature: str
    projection: Projection
    rung: Rung
    number: int
    """Which one of this rung for this loop, from 1."""
    quota: int
    """How many of this rung a loop is given."""
    step: int
    detail: str
    """What was done, in one line for a person."""
    tool: str = ""
    """What a substitution keeps from being called, the tool that is retried, or whose breaker was opened."""
    action: str = ""
    """Digest of the call that a substitution keeps from being made."""
    applied: bool = True
    """False: it turned out not to be possible, as `detail` says; the next rung follows."""


@dataclass(frozen=True, slots=True)
class LoopAsked(Event):
    """A person is asked what to do about a loop."""

    loop: Loop
    choices: tuple[LoopChoice, ...]


@dataclass(frozen=True, slots=True)
class LoopAnswered(Event):
    """What the person answered."""

    signature: str
    choice: LoopChoice


@dataclass(frozen=True, slots=True)
class EscapeSet(Event):
    """Which policy holds from the next observation on: once when a session is opened, and at each change (B27)."""

    enabled: bool
    version: int
    changed: tuple[str, ...] = ()
    """What is not as shipped, as "name=value"."""


@dataclass(frozen=True, slots=True)
class CheckpointMade(Event):
    """What the workspace holds was kept before something changes it."""

    id: str
    turn: int
    step: int
    how: Literal["git", "copies"]
    files: int
    left_out: tuple[str, ...] = ()
    """What is not in it and why, in a few lines."""


@dataclass(frozen=True, slots=True)
class RolledBack(Event):
    """The conversation, or the files, or both are as they were at a checkpoint."""

    turn: int
    """For a rewind the first one that is forgotten, else the one that runs or ran last."""
    step: int
    """The step whose state holds again."""
    files_restored: tuple[str, ...] = ()
    """Paths that were written back or removed; empty: the files were left as they are."""
    not_undone: tuple[str, ...] = ()
    """What happened since and stays, in one line each."""
    why: Literal["loop", "rewind", "undo"] = "loop"
    """A rung of the ladder, or a person who takes files back to an earlier turn, or undoes that."""
    undo: str = ""
    """Id of the checkpoint that holds what the files held before."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One intervention, for a report."""

    rung: Rung
    step: int
    detail: str


@dataclass(frozen=True, slots=True)
class StuckReported(Event):
    """The turn ends because nothing freed the agent: what repeats, what was tried, and what a person can do."""

    loop: Loop
    step: int
    tried: tuple[Attempt, ...]
    steps_in_loop: int
    next_steps: tuple[str, ...]
