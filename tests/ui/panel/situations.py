"""Moments that a person would see on the panel, made of the events that lead to them."""

from dataclasses import replace
from pathlib import Path

from harness.events import (
    AgentEnd,
    Alternative,
    BreakerChanged,
    BreakerState,
    ChangeReason,
    CompactionEnded,
    CompactionStarted,
    Deferred,
    Dispatch,
    Dispatched,
    DispatchLimits,
    DispatchLimitsSet,
    DispatchReason,
    DropReason,
    Event,
    Failure,
    FailureCategory,
    FailureCharged,
    Fault,
    FaultKind,
    FaultOccurred,
    LoopAsked,
    LoopChoice,
    LoopFound,
    Message,
    MessageAdded,
    ModelSwitched,
    Origin,
    OutputCapChanged,
    PauseReport,
    PauseReported,
    PermissionAsked,
    PlanItem,
    QuestionAsked,
    Rank,
    ReplyReceived,
    RequestSent,
    RetryScheduled,
    Rung,
    SessionStarted,
    SilenceHint,
    SpendChanged,
    StepStarted,
    TextDelta,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    Transition,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
    WaitOffered,
    WorkDropped,
)
from harness.journal import read
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.state import Panel
from tests.ui import work
from tests.ui.loops import CIRCLE, FAILING_CIRCLE, FOUND, LEFT, took
from tests.ui.loops import REPORT as STUCK

NOW = 1_800_000_000.0
MODEL, OTHER = "claude-sonnet-4-6", "claude-haiku-4-5"
TOOLS = ("bash", "read_file", "write_file", "edit_file", "glob", "grep", "todo_write")
SESSIONS = Path(__file__).parents[2] / "policies" / "breakers" / "sessions"
TIMED_OUT = Failure(FailureCategory.TIMEOUT, "timed out after 30 s")
BEGINNING: tuple[Event, ...] = (
    SessionStarted("20261121-0806-d4eb95", "1", "/work", MODEL, "https://api", practice=False),
    DispatchLimitsSet(DispatchLimits(), TOOLS),
    TurnStarted(1, "find where the config is read"),
    StepStarted(1),
    RequestSent(MODEL, 8_000, 41_000, 1, "turn", 200_000),
)


def after(*events: Event) -> Panel:
    """The panel after a request went out and these happened at `NOW`."""
    fold = PanelFold()
    for event in (*BEGINNING, *events):
        fold.on_event(event, NOW)
    return fold.now


def recorded(name: str) -> PanelFold:
    """A recorded session, folded."""
    fold = PanelFold()
    for record in read(SESSIONS / f"{name}.jsonl").records:
        fold.on_event(record.event, record.at)
    return fold


def ended(code: TransitionCode, reason: str) -> tuple[Event, ...]:
    """The end of the turn."""
    return Transition(1, code, reason), TurnEnded(1, code, reason, "", Usage(), 0.11, 1, 1, 2.0)


def next_request(code: TransitionCode, cap: int = 8_000, tokens: int = 41_000, number: int = 0) -> tuple[Event, ...]:
    """The step ends with a code, and the next one asks."""
    most = 3 if number else 0
    return (
        Transition(1, code, "why", number, most),
        StepStarted(2),
        RequestSent(MODEL, cap, tokens, 1, "turn", 200_000),
    )


def moved(key: str, before: BreakerState, to: BreakerState, why: ChangeReason, probe_at: int | None) -> BreakerChanged:
    """A breaker that moved in step 1 after three failures."""
    return BreakerChanged(key, before, to, why, 3, 1, 1, probe_at, "overloaded")


DROPPED = WorkDropped("a399", 399, DropReason.ENDED, deferred=False)
OVERLOADED = Fault(FaultKind.OVERLOADED, "Overloaded", 529)
FAILED = FaultOccurred(OVERLOADED, MODEL, 2)
RETRY = RetryScheduled("model", FaultKind.OVERLOADED, 3, 10, 4.0, NOW + 2.1, 529, "req_1", "Overloaded")
KEPT = MessageAdded(
    Message(
        "assistant",
        ({"type": "text", "text": "x" * 1204}, {"type": "tool_use", "id": "a", "name": "grep", "input": {}}),
    ),
    Origin.REPLY,
)
SPENT = SpendChanged(3, Usage(100_000, 900), 0.11, Usage(20_000), 0.02)


def failing(call_id: str) -> tuple[Event, ...]:
    """A call of grep that fails."""
    return (
        Dispatched(call_id, "grep", Dispatch.CALL, DispatchReason.HEALTHY, 0, 0),
        ToolEnded(call_id, "grep", ToolOutcome.BROKEN, "overloaded", 1.0, failure=OVERLOADED_TOOL),
    )


OVERLOADED_TOOL = Failure(FailureCategory.TIMEOUT, "overloaded")
OPENED = (
    *(event for call_id in ("f1", "f2", "f3") for event in failing(call_id)),
    moved("grep", BreakerState.CLOSED, BreakerState.OPEN, ChangeReason.THRESHOLD, 4),
)
PROBED = (
    StepStarted(4),
    Dispatched("c", "grep", Dispatch.PROBE, DispatchReason.PROBE_DUE, 2, 0),
    moved("grep", BreakerState.OPEN, BreakerState.HALF_OPEN, ChangeReason.PROBE_GIVEN, None),
)
MODEL_OPENED = moved(f"model:{MODEL}", BreakerState.CLOSED, BreakerState.OPEN, ChangeReason.THRESHOLD, None)
ROUTE = Alternative(Rank.LOW, 'rg "timeout" src/', "grep's own formatting", "bash")
SKIPPED = Dispatched("c", "grep", Dispatch.SKIP, DispatchReason.OPEN, 1, 0, "it is open", (ROUTE,))
DEFERRED = Deferred(PlanItem("ask the server"), "bash is paused", "a successful try from step 9 on")
REPORT = PauseReport(
    "the failure budget of this turn is used up",
    ("read it",),
    ("change it",),
    ("test it",),
    (DEFERRED,),
    planned=True,
    consumed=5,
    budget=5,
    next_steps=("Check grep. When it works again: /reset grep", "Go on with a fresh budget of 5 failures"),
)
CHARGES = tuple(FailureCharged("grep", TIMED_OUT, 1, cost, 5, 5) for cost in (1, 0, 1))
REPLIED = ReplyReceived(MODEL, "tool_use", Usage(40_000, 300), None, 1.0)

CALM = after(TextDelta("It is"))
IDLE = after(SPENT, REPLIED, *ended(TransitionCode.COMPLETED, "answered"))
WAITING = after(FAILED, SPENT, KEPT, RETRY)
OFFERED = after(FAILED, WaitOffered(1260.0, NOW + 1260, can_switch=True, detail="30,000 tokens per minute"))
FALLBACK = after(
    MODEL_OPENED,
    ModelSwitched(MODEL, OTHER, "overloaded 3 times in a row"),
    RequestSent(OTHER, 8_000, 41_000, 1, "turn", 200_000),
)
COMPACTING = after(CompactionStarted("reactive", 212_000))
COMPACTED = after(
    CompactionStarted("reactive", 212_000),
    CompactionEnded("summary", 212_000, 38_000, succeeded=True, detail=""),
    *next_request(TransitionCode.REACTIVE_COMPACT_RETRY, tokens=38_000),
)
CAP_RAISED = after(
    OutputCapChanged(8_000, 64_000, "cut off"), *next_request(TransitionCode.MAX_OUTPUT_TOKENS_ESCALATE, 64_000)
)
CONTINUED = after(*next_request(TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY, number=2))
DRAINED = after(*next_request(TransitionCode.COLLAPSE_DRAIN_RETRY))
STALLED = after(TextDelta("It is"), SilenceHint("streaming", 22.0, 68.0))
OPEN = after(REPLIED, *OPENED, SKIPPED, Transition(1, TransitionCode.NEXT_TURN, "grep"), StepStarted(2))
PROBING = after(REPLIED, *OPENED, SKIPPED, *PROBED, ToolStarted("c", "grep", "x", {}))
PAUSED = after(
    REPLIED, *OPENED, *CHARGES, PauseReported(REPORT), *ended(TransitionCode.FAILURE_BUDGET_PAUSED, "used up")
)
QUESTION = after(REPLIED, QuestionAsked("c", "Which colour shall the header have?"))
ASKED = after(REPLIED, PermissionAsked("c", "bash", "rm -rf build", "it runs a program"))
FAILING = after(
    FaultOccurred(Fault(FaultKind.AUTH, "invalid x-api-key", 401), MODEL, 1),
    *ended(TransitionCode.MODEL_ERROR, "the key was refused"),
)
SYSTEMIC = recorded("network-gone").at_step(3)
NUDGED = after(REPLIED, FOUND, took(Rung.NUDGE), *next_request(TransitionCode.NEXT_TURN))
FREED = after(REPLIED, FOUND, took(Rung.NUDGE), LEFT, *next_request(TransitionCode.NEXT_TURN))
LOOP_ASKED = after(REPLIED, FOUND, took(Rung.NUDGE), took(Rung.HUMAN), LoopAsked(CIRCLE, tuple(LoopChoice)))
CLIMBED = after(
    *(REPLIED, FOUND, took(Rung.NUDGE), LoopFound(FAILING_CIRCLE, 6), took(Rung.RETRY, number=2, loop=FAILING_CIRCLE)),
    *(took(Rung.SUBSTITUTE), took(Rung.ROLLBACK, applied=False), replace(FOUND, relapse=True)),
)
STOPPED_IN_A_LOOP = after(
    *(REPLIED, FOUND, took(Rung.NUDGE), took(Rung.SUBSTITUTE), took(Rung.STOP), STUCK),
    *ended(TransitionCode.LOOP_STOPPED, "stopped: read_file notes.txt, 4 times in a row; nothing freed it"),
)
TASK = (REPLIED, *(ToolStarted(f"call-a{number}", "agent", "look", {}) for number in (1, 2, 3)))
AGENTS = after(
    *(*TASK, work.LIMITS, work.created("a1"), work.created("a2", "mend the settings"), work.created("a3", "read on")),
    *(work.admitted("a1", 1, 1), work.admitted("a2", 2, 2), work.moved("a1")),
    *(work.moved("a2", "may write_file run?", 2, asks=True), work.ended("a3", AgentEnd.STUCK, "it repeated itself")),
)
CROWD = after(REPLIED, *work.crowd(), work.RESTS, DROPPED)
COMMANDS = after(
    *(REPLIED, *ended(TransitionCode.COMPLETED, "answered")),
    *(work.command("b1"), work.begun("b1"), work.command("b2", "npm init"), work.begun("b2"), work.quiet("b2")),
    *(work.command("b3", "pytest -q"), work.begun("b3"), work.over("b3", 1), work.command("b4", "sleep 60")),
)
ALL = {name: panel for name, panel in globals().items() if isinstance(panel, Panel)}
