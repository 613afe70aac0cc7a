"""Events of tool dispatch, breakers and the plan."""

from dataclasses import dataclass

from harness.events.breakers import (
    Alternative,
    BreakerCommand,
    BreakerState,
    CascadePhase,
    ChangeReason,
    Dispatch,
    DispatchLimits,
    DispatchReason,
    Failure,
    FreshnessLabel,
    PauseReport,
    PlanItem,
    Score,
)
from harness.events.catalogue import Event

__all__ = [
    "BreakerChanged",
    "BreakerCommanded",
    "CascadeChanged",
    "DispatchLimitsSet",
    "Dispatched",
    "FailureCharged",
    "LateResult",
    "PauseReported",
    "PlanChanged",
    "PlanReminded",
    "ResultLabelled",
    "ToolScored",
]


@dataclass(frozen=True, slots=True)
class DispatchLimitsSet(Event):
    """The limits from the next decision on: once when a session is opened, and at each change."""

    limits: DispatchLimits
    tools: tuple[str, ...]
    """The available tools."""


@dataclass(frozen=True, slots=True)
class Dispatched(Event):
    """The decision about a tool call. The first event of every call of a reply."""

    call_id: str
    tool: str
    dispatch: Dispatch
    reason: DispatchReason
    generation: int
    """Of the breaker. Results with an older generation are ignored (`LateResult`)."""
    index: int
    """Index of the call in its reply, from 0; outcomes of parallel calls count in this order."""
    detail: str = ""
    """One line for the user; empty for an ordinary call."""
    alternatives: tuple[Alternative, ...] = ()
    """Best first; only with SKIP."""
    caution: bool = False
    """The next failure pauses the turn, or several tools are failing from one cause."""
    in_place_of: str = ""
    """The tool skipped in the previous step that this one was offered as an alternative to."""
    parts: tuple[str, ...] = ()
    """Parts of the tool that the call uses, such as the programs of a command line; each has its own breaker."""
    key: str = ""
    """Key of the breaker that decided, if it is that of a part, "bash:npm", or of the server of the tool,
    "mcp__github". Empty: the tool's own."""


@dataclass(frozen=True, slots=True)
class BreakerChanged(Event):
    """A breaker, or its failure count, changed."""

    key: str
    """Name of a tool, of a part such as "bash:npm", or "model:" and the name of a model."""
    before: BreakerState
    after: BreakerState
    why: ChangeReason
    failures: int
    """In a row, now."""
    generation: int
    step: int
    probe_at: int | None = None
    """First step whose call is the probe; None: not open, or no automatic probe."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FailureCharged(Event):
    """A failure was counted in the failure budget."""

    tool: str
    failure: Failure
    step: int
    cost: int
    """1, or 0 if an earlier failure with the same cause was counted."""
    consumed: int
    """Failures counted so far, including this one."""
    budget: int


@dataclass(frozen=True, slots=True)
class LateResult(Event):
    """A result came after its breaker had changed, and is ignored."""

    tool: str
    generation: int
    """Of the call."""
    current: int
    """Of the breaker."""


@dataclass(frozen=True, slots=True)
class CascadeChanged(Event):
    """Several tools started or stopped failing from one cause."""

    signature: str
    phase: CascadePhase
    tools: tuple[str, ...]
    root: str
    """The suspected cause."""
    step: int
    probe_at: int | None = None
    """Step of the next canary; None: waits for the user to confirm, or not systemic."""


@dataclass(frozen=True, slots=True)
class BreakerCommanded(Event):
    """The user changed a breaker."""

    command: BreakerCommand
    tool: str = ""
    """Empty: all of them."""


@dataclass(frozen=True, slots=True)
class ToolScored(Event):
    """Result of a health check of a tool."""

    tool: str
    score: Score
    why: str = ""


@dataclass(frozen=True, slots=True)
class PlanChanged(Event):
    """The model declared or changed its plan; contains all items."""

    items: tuple[PlanItem, ...]


@dataclass(frozen=True, slots=True)
class PlanReminded(Event):
    """A reminder of the plan was added to the next message with tool results."""

    steps: int
    """Steps of this turn since the plan was changed, or since the last reminder."""
    left: tuple[str, ...]
    """Texts of the open items."""


@dataclass(frozen=True, slots=True)
class ResultLabelled(Event):
    """A result may be outdated."""

    call_id: str
    tool: str
    label: FreshnessLabel
    evidence: str


@dataclass(frozen=True, slots=True)
class PauseReported(Event):
    """The turn pauses with a report."""

    report: PauseReport
