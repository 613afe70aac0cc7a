"""The state of the panel at one moment; frozen, so that past moments can be shown again.

Named tuples, because most events of a session make a changed copy.
"""

from typing import NamedTuple

from harness.events import (
    Alternative,
    BoardCounted,
    CascadeChanged,
    Deferred,
    FailureCharged,
    HealthRow,
    PauseReport,
    PermissionAsked,
    PlanItem,
    QuestionAsked,
    SpendChanged,
    ToolStarted,
    TransitionCode,
    TurnEnded,
    Usage,
)
from harness.policies.protocols.requests import Request
from harness.policies.team.members import MemberRow
from harness.ui.folds.loops import LoopsView
from harness.ui.folds.model import ModelStatus
from harness.ui.folds.work import WorkView

NO_MODEL, NO_LOOPS, NO_WORK = ModelStatus(), LoopsView(), WorkView()
NOTHING_SPENT = SpendChanged(requests=0, usage=Usage(), cost_usd=0.0, retry_usage=Usage(), retry_cost_usd=0.0)


class StepMark(NamedTuple):
    """One step on the timeline."""

    step: int
    code: TransitionCode | None = None
    """How the step ended; None: it has not."""
    retries: int = 0
    faults: int = 0
    tool_failures: int = 0
    skipped: int = 0
    """Tool calls that did not run."""
    opened: int = 0
    probes: int = 0
    loops: int = 0
    compacted: bool = False
    switched: bool = False

    @property
    def incident(self) -> bool:
        """Whether the step needed a decision of a policy."""
        eventful = (self.retries, self.faults, self.tool_failures, self.skipped, self.opened, self.probes, self.loops)
        return any(eventful) or self.compacted or self.switched


class Panel(NamedTuple):
    """The contents of the panel."""

    session_id: str = ""
    turn: int = 0
    step: int = 0
    at: float = 0.0
    """Unix time of the last event."""
    model: ModelStatus = NO_MODEL
    context_tokens: int = 0
    window: int = 0
    """0: unknown."""
    spend: SpendChanged = NOTHING_SPENT
    running: tuple[ToolStarted, ...] = ()
    """Tool calls that run now."""
    asked: PermissionAsked | QuestionAsked | None = None
    rows: tuple[HealthRow, ...] = ()
    """The breaker table in the order of the toolbox."""
    endpoints: tuple[HealthRow, ...] = ()
    """The models whose breaker was ever open, by name; `probe_at` is None."""
    routes: tuple[tuple[str, Alternative], ...] = ()
    """The alternative offered last, for each tool that is not closed."""
    consumed: int = 0
    budget: int = 0
    """0: unknown."""
    failures: tuple[FailureCharged, ...] = ()
    """Of this turn, oldest first."""
    cascades: tuple[CascadeChanged, ...] = ()
    """The cascades that are not over."""
    loops: LoopsView = NO_LOOPS
    team: tuple[MemberRow, ...] = ()
    """All members of the session."""
    requests: tuple[Request, ...] = ()
    """Requests between agents that have no answer yet, oldest first."""
    work: WorkView = NO_WORK
    """Subagents, background commands and admission."""
    plan: tuple[PlanItem, ...] = ()
    board: BoardCounted | None = None
    """The task board as this session saw it last; None: it uses none."""
    held: tuple[tuple[str, str], ...] = ()
    """Ids and subjects of the tasks of the board that this session works on."""
    set_aside: tuple[tuple[str, str, str], ...] = ()
    """Id, subject and reason of the tasks that this session has set aside."""
    deferred: tuple[Deferred, ...] = ()
    paused: PauseReport | None = None
    """The report of a pause, until the next turn."""
    ended: TurnEnded | None = None
    """The end of the last turn, until the next turn."""
    marks: tuple[StepMark, ...] = ()
    """The timeline, oldest step first; at most the last 500."""
