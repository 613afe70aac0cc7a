"""Events of subagents: who was asked for what, how far each is, and how it ended (facts/lessons.md, s06)."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.catalogue import Event
from harness.events.messages import Usage


class AgentEnd(StrEnum):
    """How a subagent ended. Everything but ANSWERED is a failure, and told as one (recovery L5)."""

    ANSWERED = "answered"
    SILENT = "silent"
    """It ended its turn without a word."""
    LIMIT = "limit"
    """Its turns, its money or that of the whole session were used up."""
    PAUSED = "paused"
    """Too many of its tool calls failed."""
    STUCK = "stuck"
    """It went in circles."""
    FAILED = "failed"
    """The model could not be reached or answered with something that nobody can use."""
    CANCELLED = "cancelled"
    """A person, or the end of the turn that had asked for it, stopped it."""
    NOT_STARTED = "not_started"
    """It never began: the gate did not let it in, or it could not be made."""


@dataclass(frozen=True, slots=True)
class AgentCreated(Event):
    """The model asked for a subagent, or gave one that exists another task. The gate decides when it begins."""

    agent: str
    """Its id in this session: "a1". It is also its key at the gate."""
    call_id: str
    task: str
    """What it is to do, in a few words."""
    prompt: str
    """All that it is told."""
    model: str
    tools: tuple[str, ...]
    """Names of what it may use."""
    background: bool = False
    """Nobody waits for its answer; it arrives by itself."""
    again: bool = False
    """It has worked before in this session and goes on from there."""
    journal: str = ""
    """Name of the file with its own events, beside the journal of the session; empty: nobody keeps them."""
    kind: str = ""
    """The kind of agent that a file defines; empty: none of these."""


@dataclass(frozen=True, slots=True)
class AgentMoved(Event):
    """A subagent does something else now."""

    agent: str
    step: int
    """Its steps in this task so far, from 1."""
    doing: str
    """A few words: "asks the model", "grep load_config"."""
    requests: int
    tokens: int
    """All tokens of its requests in this task, in and out."""
    cost_usd: float
    waits_for_person: bool = False
    """It has a question that only a person can answer."""
    unpriced: int = 0
    """Requests among `requests` without a known price; what they cost is not in `cost_usd`."""


@dataclass(frozen=True, slots=True)
class AgentEnded(Event):
    """A subagent is done with its task. What it has cost is part of the session's spend already."""

    agent: str
    end: AgentEnd
    reason: str
    """One line for a person; empty where it answered."""
    answer_characters: int
    """Of its answer, or of what it had said so far."""
    steps: int
    requests: int
    usage: Usage
    cost_usd: float
    duration_s: float
    """From its first step, without the wait at the gate."""
    unpriced: int = 0
    """Requests among `requests` without a known price; what they cost is not in `cost_usd`."""
