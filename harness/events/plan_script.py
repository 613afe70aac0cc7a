"""Events of a plan script: a program that leads the turns of a session in place of the model."""

from dataclasses import dataclass

from harness.events.background import AgentEnd
from harness.events.catalogue import Event

__all__ = ["PhaseStarted", "ScriptResult", "ScriptStarted"]


@dataclass(frozen=True, slots=True)
class ScriptStarted(Event):
    """A plan script runs in this turn. Emitted again when it is resumed."""

    path: str
    arguments: tuple[str, ...]
    seed: int
    """Of all its random numbers."""
    began: float
    """Unix time of its first start, which a resumed one is given again."""


@dataclass(frozen=True, slots=True)
class PhaseStarted(Event):
    """The script says what it does from now on."""

    name: str


@dataclass(frozen=True, slots=True)
class ScriptResult(Event):
    """What the script got for one of its calls of an agent; a resumed one gets the same."""

    position: str
    """Where the script made the call: "2", or "2.1.3" within a branch of `parallel`."""
    digest: str
    """Of everything that was asked for."""
    agent: str
    end: AgentEnd
    text: str
    """The answer; of a failure, the text so far."""
    reason: str = ""
    """One line; empty where it answered."""
    answered_at: float = 0.0
    """Unix time."""
