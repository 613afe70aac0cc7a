"""One agent that works for another, as it stands now: what a front end lists."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events import AgentCreated, AgentEnded, AgentMoved


class AgentState(StrEnum):
    """How far an agent is with its task."""

    WAITS = "waits"
    """For its turn at the gate."""
    RUNS = "runs"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent, as it stands now."""

    id: str
    """ "a1", counted within a session."""
    task: str
    """What it is to do, in a few words."""
    state: AgentState
    since: float
    """Unix time at which it came into this state; 0 where nobody saw it."""
    moved: AgentMoved | None = None
    """What it does, and what it has cost; None: it has not begun."""
    ended: AgentEnded | None = None
    """How its last task ended."""
    background: bool = False
    """Nobody waits for its answer."""
    journal: str = ""
    """Name of the file with its own events; empty: nobody keeps them."""


def first_row(created: AgentCreated, now: float) -> AgentRow:
    """The row of an agent that was given a task at this moment."""
    return AgentRow(
        created.agent,
        created.task,
        AgentState.WAITS,
        now,
        background=created.background,
        journal=created.journal,
    )
