"""Events of the dispatch layer: what was decided about each tool call, and how the tools fared."""

from dataclasses import dataclass

from harness.events.breakers import (
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
    Route,
    Score,
)
from harness.events.catalogue import Event


@dataclass(frozen=True, slots=True)
class DispatchLimitsSet(Event):
    """The numbers from the next decision on: once when a session is opened, and at each change."""

    limits: DispatchLimits
    tools: tuple[str, ...]
    """The tools that may be called."""


@dataclass(frozen=True, slots=True)
class Dispatched(Event):
    """What was decided about a tool call. Every call of a reply has exactly one of these, before anything else."""

    call_id: str
    tool: str
    dispatch: Dispatch
    reason: DispatchReason
    generation: int
    """An outcome of an older generation than the breaker's changes nothing (A9)."""
    place: int
    """Place of the call in its reply, from 0; outcomes of a parallel batch count in this order (A29)."""
    detail: str = ""
    """In one line for a person; empty for a call that is as usual."""
    routes: tuple[Route, ...] = ()
    """The ways round, best first; only with SKIP."""
    caution: bool = False
    """The next failure pauses the turn, or several tools are failing from one cause."""
    in_place_of: str = ""
    """The tool that was skipped in the step before and for which this one was offered."""
    parts: tuple[str, ...] = ()
    """What of the tool the call uses, such as the programs of a command line; each has a breaker of its own."""
    key: str = ""
    """Of the breaker that decided, where it is that of a part: "bash:npm". Empty: that of the tool."""


@dataclass(frozen=True, slots=True)
class BreakerChanged(Event):
    """A breaker moved, or its count did."""

    key: str
    """Name of a tool, that of a part of one, such as "bash:npm", or "model:" and that of a model."""
    before: BreakerState
    after: BreakerState
    why: ChangeReason
    failures: int
    """In a row, now."""
    generation: int
    step: int
    probe_at: int | None = None
    """Step at or after which a call is the probe; None: not open, or not by itself."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FailureCharged(Event):
    """A failure was charged to the budget."""

    tool: str
    failure: Failure
    step: int
    cost: int
    """What it added: 1, or 0 where another failure of the same cause has paid already (A11)."""
    consumed: int
    """After it."""
    budget: int


@dataclass(frozen=True, slots=True)
class LateResult(Event):
    """A result came after its breaker had moved on; it changes and costs nothing (A9)."""

    tool: str
    generation: int
    """Of the call."""
    current: int
    """Of the breaker."""


@dataclass(frozen=True, slots=True)
class CascadeChanged(Event):
    """Several tools fail from one cause, or do so no longer."""

    signature: str
    phase: CascadePhase
    tools: tuple[str, ...]
    root: str
    """The suspected cause in words."""
    step: int
    probe_at: int | None = None
    """Step of the next canary; None: not before a person confirms, or not systemic."""


@dataclass(frozen=True, slots=True)
class BreakerCommanded(Event):
    """A person moved a breaker by hand."""

    command: BreakerCommand
    tool: str = ""
    """Empty: all of them."""


@dataclass(frozen=True, slots=True)
class ToolScored(Event):
    """A check before a call said how a tool is."""

    tool: str
    score: Score
    why: str = ""


@dataclass(frozen=True, slots=True)
class PlanChanged(Event):
    """The sub-tasks that the turn declares, all of them each time."""

    items: tuple[PlanItem, ...]


@dataclass(frozen=True, slots=True)
class PlanReminded(Event):
    """The model is reminded of its plan, in the message with the results that follows (lessons s05)."""

    rounds: int
    """Tool rounds of this turn since the plan was written, or since the last reminder."""
    left: tuple[str, ...]
    """The parts that are open."""


@dataclass(frozen=True, slots=True)
class ResultLabelled(Event):
    """A result may not be fresh, and this is the evidence (A22)."""

    call_id: str
    tool: str
    label: FreshnessLabel
    evidence: str


@dataclass(frozen=True, slots=True)
class PauseReported(Event):
    """The turn pauses: what is done, what is not, and how the tools are (A23)."""

    report: PauseReport
