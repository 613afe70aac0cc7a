"""The decisions about a tool call, and the results of calls."""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from harness.events import Alternative, Dispatch, DispatchReason, Failure


class Finish(Enum):
    """The end of a call that does not count against its tool (docs/design/breakers.md#what-counts)."""

    OK = "ok"
    """It ran, also when its answer is a failed test or a missing file."""
    CANCELLED = "cancelled"
    DENIED = "denied"
    INVALID = "invalid"
    """Wrong arguments; nothing ran."""


Result = Finish | Failure
"""The result of a call. Only a `Failure` counts."""


@dataclass(frozen=True, slots=True)
class CallPermit:
    """The generation of the breaker that a result belongs to (docs/design/breakers.md#late-results)."""

    tool: str
    """Key of the breaker: the name of a tool, or of a part of one, such as "bash:npm"."""
    generation: int
    kind: Dispatch
    parts: tuple[str, ...] = ()
    """Parts of the tool that the call uses, such as the programs of a command line."""


@dataclass(frozen=True, slots=True)
class DispatchDecision:
    """The decision about one call."""

    dispatch: ClassVar[Dispatch]
    permit: CallPermit
    reason: DispatchReason
    caution: bool
    """The next failure pauses the turn, or several tools fail from one cause."""


@dataclass(frozen=True, slots=True)
class Call(DispatchDecision):
    """Run it as usual."""

    dispatch: ClassVar[Dispatch] = Dispatch.CALL


@dataclass(frozen=True, slots=True)
class Probe(DispatchDecision):
    """Run this one call to test whether the tool has recovered (docs/design/breakers.md#one-probe)."""

    dispatch: ClassVar[Dispatch] = Dispatch.PROBE
    lease_until: float
    """Step at which a probe without an outcome counts as lost."""


@dataclass(frozen=True, slots=True)
class Skip(DispatchDecision):
    """Do not run it; use one of the alternatives."""

    dispatch: ClassVar[Dispatch] = Dispatch.SKIP
    routes: tuple[Alternative, ...]
    """Best first; the last ones use no tool."""

    @property
    def exhausted(self) -> bool:
        """Whether no other tool can replace it now."""
        return not any(route.tool for route in self.routes)


@dataclass(frozen=True, slots=True)
class PauseTurn(DispatchDecision):
    """Do not run it; the turn ends with a report."""

    dispatch: ClassVar[Dispatch] = Dispatch.PAUSE
