"""What the panel knows at one moment. Every value is frozen, so that a moment that has passed can be shown again."""

from dataclasses import dataclass, field
from enum import Enum

from harness.events import (
    CascadeChanged,
    CompactionEnded,
    CompactionStarted,
    Deferred,
    FailureCharged,
    Fault,
    HealthRow,
    LoopAsked,
    ModelSwitched,
    OutputCapChanged,
    PauseReport,
    PermissionAsked,
    PlanItem,
    QuestionAsked,
    RetryBudgetSpent,
    RetryScheduled,
    Route,
    SilenceHint,
    SpendChanged,
    ToolStarted,
    Transition,
    TransitionCode,
    TurnEnded,
    Usage,
    WaitOffered,
)
from harness.ui.lines.line import Line
from harness.ui.panel.loop_fold import Circling
from harness.ui.panel.work_fold import AgentView, CommandView, GateView

NOTHING_SPENT = SpendChanged(requests=0, usage=Usage(), cost_usd=0.0, retry_usage=Usage(), retry_cost_usd=0.0)
NO_LOOPS = Circling()


class Phase(Enum):
    """What the turn is doing."""

    IDLE = "idle"
    """No turn runs."""
    ASKING = "asking"
    """A request is out and nothing has come back yet."""
    ANSWERING = "answering"
    """The answer streams in."""
    WAITING = "waiting"
    """A retry is waited for."""
    OFFERED = "offered"
    """The server wants a long wait, and the person is asked."""
    COMPACTING = "compacting"
    TOOLS = "tools"
    """Tools run."""
    PERMISSION = "permission"
    """A tool call waits for the person's consent."""
    QUESTION = "question"
    """The model, or the program, has a question for the user."""
    LOOP = "loop"
    """The agent goes in circles, and the person is asked."""
    DECIDING = "deciding"
    """Between two of the others: a reply or the results are in, and what comes next is decided."""


@dataclass(frozen=True, slots=True)
class ModelView:
    """The model block: what happens between us and the model."""

    chosen: str = ""
    """The model the session has chosen."""
    active: str = ""
    """The one that is asked now; another one than `chosen` is a fallback."""
    practice: bool = False
    phase: Phase = Phase.IDLE
    since: float = 0.0
    """Unix time at which this phase began."""
    attempt: int = 0
    """Of the request that is out, or was last: 1 for its first try."""
    retry: RetryScheduled | None = None
    """The retry that is waited for; None: none is."""
    offered: WaitOffered | None = None
    """The long wait that is being asked about."""
    loop: LoopAsked | None = None
    """The loop that is being asked about."""
    fault: Fault | None = None
    """What went wrong last with the request that is being made; None after a good reply."""
    kept_characters: int = 0
    """Characters of text of the present turn that stay although a later part failed."""
    kept_calls: int = 0
    """Complete tool calls that stay likewise."""
    discarded_characters: int = 0
    """Characters that were shown and do not count, in the present step."""
    transition: Transition | None = None
    """The last one."""
    cap: OutputCapChanged | None = None
    """The last change of the output cap in this turn."""
    continuations: int = 0
    """Times in a row that the answer was asked to go on."""
    most_continuations: int = 0
    """How many of them there may be; 0: unknown."""
    compacting: CompactionStarted | None = None
    compacted: CompactionEnded | None = None
    """The last compaction that ended in this turn, or by hand after it."""
    switched: ModelSwitched | None = None
    """The last switch in this turn, unless it led back to the chosen model."""
    retries_spent: RetryBudgetSpent | None = None
    """The retries that all agents share were used up in this turn."""
    silence: SilenceHint | None = None
    """Transient: never part of what is replayed."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One step on the timeline."""

    step: int
    code: TransitionCode | None = None
    """How the step ended; None: it goes on."""
    retries: int = 0
    faults: int = 0
    tool_failures: int = 0
    skipped: int = 0
    """Tool calls that were not let through."""
    opened: int = 0
    """Breakers that opened."""
    probes: int = 0
    """Probes that were given."""
    loops: int = 0
    """Loops that were found."""
    compacted: bool = False
    switched: bool = False

    @property
    def incident(self) -> bool:
        """Whether something in this step needed a decision that a calm step does not."""
        eventful = (self.retries, self.faults, self.tool_failures, self.skipped, self.opened, self.probes, self.loops)
        return any(eventful) or self.compacted or self.switched


@dataclass(frozen=True, slots=True)
class Panel:
    """Everything the panel shows."""

    session_id: str = ""
    turn: int = 0
    step: int = 0
    at: float = 0.0
    """Unix time of the last event."""
    model: ModelView = ModelView()
    context_tokens: int = 0
    window: int = 0
    """0: unknown."""
    spend: SpendChanged = NOTHING_SPENT
    running: tuple[ToolStarted, ...] = ()
    """Tools that run now."""
    asked: PermissionAsked | QuestionAsked | None = None
    rows: tuple[HealthRow, ...] = ()
    """The breaker table in the order of the toolbox."""
    endpoints: tuple[HealthRow, ...] = ()
    """The breakers of models that ever left CLOSED, by name of the model; `probe_at` is None."""
    routes: tuple[tuple[str, Route], ...] = ()
    """For each tool that is not closed the way round that was offered last."""
    consumed: int = 0
    budget: int = 0
    """0: unknown."""
    failures: tuple[FailureCharged, ...] = ()
    """Of this turn, oldest first."""
    cascades: tuple[CascadeChanged, ...] = ()
    """The groups that are not over, as each was told of last."""
    circling: Circling = NO_LOOPS
    """The loops of the turn, and how far their ladders were climbed."""
    agents: tuple[AgentView, ...] = ()
    """Those that are under way, and those that ended since the turn began."""
    commands: tuple[CommandView, ...] = ()
    """In the background; likewise."""
    gates: tuple[GateView, ...] = ()
    plan: tuple[PlanItem, ...] = ()
    deferred: tuple[Deferred, ...] = ()
    paused: PauseReport | None = None
    """The report, from the pause to the next turn."""
    ended: TurnEnded | None = None
    """The end of the last turn, until the next one begins."""
    more: tuple[tuple[str, tuple[Line, ...]], ...] = field(default=())
    """Further blocks, each a title and its lines: the seam for rooms that report later. Empty ones are not drawn."""
    marks: tuple[Mark, ...] = ()
    """The timeline: one for each step, oldest first; at most the last 500."""
