"""What can be decided about a tool call, and what can come of one."""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from harness.events import Dispatch, DispatchReason, Failure, Route


class Finish(Enum):
    """How a call ended that says nothing against its tool (A5)."""

    OK = "ok"
    """It ran: also when it answered no, such as a failed test or a missing file (Q3)."""
    CANCELLED = "cancelled"
    DENIED = "denied"
    INVALID = "invalid"
    """Wrong arguments; nothing ran."""


Result = Finish | Failure
"""What came of a call: only a Failure counts."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """Says to which generation of which breaker a result belongs (A2, A9)."""

    tool: str
    """Key of the breaker: the name of a tool, or that of a part of one, such as "bash:npm"."""
    generation: int
    kind: Dispatch
    parts: tuple[str, ...] = ()
    """What of the tool the call uses, such as the programs of a command line."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do about a call."""

    dispatch: ClassVar[Dispatch]
    ticket: Ticket
    reason: DispatchReason
    caution: bool
    """The next failure pauses the turn, or several tools are failing from one cause (A11, S2)."""


@dataclass(frozen=True, slots=True)
class Call(Decision):
    """Run it, as always."""

    dispatch: ClassVar[Dispatch] = Dispatch.CALL


@dataclass(frozen=True, slots=True)
class Probe(Decision):
    """Run it, and nothing else of this tool, to see whether the tool has recovered."""

    dispatch: ClassVar[Dispatch] = Dispatch.PROBE
    lease_until: float
    """Step at which a probe without an outcome counts as lost (A8)."""


@dataclass(frozen=True, slots=True)
class Skip(Decision):
    """Do not run it; these are the ways round."""

    dispatch: ClassVar[Dispatch] = Dispatch.SKIP
    routes: tuple[Route, ...]
    """Best first; the last ones go through no tool."""

    @property
    def exhausted(self) -> bool:
        """No other tool can take its place now."""
        return not any(route.tool for route in self.routes)


@dataclass(frozen=True, slots=True)
class Pause(Decision):
    """Do not run it; the turn ends with a report."""

    dispatch: ClassVar[Dispatch] = Dispatch.PAUSE
