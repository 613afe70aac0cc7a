"""Events become the panel: the same live, while another process is watched, and when a file is replayed."""

from collections import OrderedDict
from dataclasses import replace

from harness.events import (
    BreakerChanged,
    BreakerState,
    CompactionEnded,
    Dispatch,
    Dispatched,
    DispatchLimitsSet,
    Event,
    FailureCharged,
    FaultKind,
    FaultOccurred,
    HistoryReplaced,
    ModelSwitched,
    PauseReported,
    PermissionAnswered,
    PermissionAsked,
    PlanChanged,
    RequestSent,
    RetryScheduled,
    SessionResumed,
    SessionStarted,
    SpendChanged,
    StepStarted,
    ToolEnded,
    ToolStarted,
    Transition,
    TurnEnded,
    TurnStarted,
)
from harness.ui.panel.health import MODEL, Health
from harness.ui.panel.model_block import model_after
from harness.ui.panel.state import Mark, Panel

REMEMBERED = 500
"""Steps that can be walked back to."""


class PanelFold:
    """Folds the events of a session, and remembers how the panel was at the end of each step."""

    def __init__(self) -> None:
        self._panel = Panel()
        self._health = Health()
        self._moments: OrderedDict[int, Panel] = OrderedDict()

    @property
    def now(self) -> Panel:
        """The panel after the last event."""
        return self._panel

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps that can be shown, oldest first."""
        return (*self._moments, self._panel.step) if self._panel.step else ()

    def at_step(self, step: int) -> Panel:
        """The panel at the end of a step; for the last one: now. Raises KeyError for one that is not remembered."""
        if step == self._panel.step:
            return self._panel
        return self._moments[step]

    def see(self, event: Event, at: float) -> None:
        """Take in the next event.

        Args:
            event: what happened.
            at: when, in Unix time.
        """
        if isinstance(event, StepStarted):
            self._remember(event.step)
        panel = _facts(self._panel, event)
        if self._health.see(event, at):
            health = self._health
            panel = replace(
                panel,
                rows=health.rows,
                endpoints=health.endpoints,
                routes=health.routes,
                cascades=health.cascades,
            )
        model = model_after(panel.model, event, at, busy=bool(panel.running))
        if not event.transient:
            panel = replace(panel, at=at, marks=_marked(panel.marks, event, model.chosen))
        self._panel = panel if model is panel.model else replace(panel, model=model)

    def _remember(self, step: int) -> None:
        before = self._panel
        if before.step and before.step != step:
            self._moments[before.step] = before
        while len(self._moments) >= REMEMBERED:
            self._moments.popitem(last=False)


def _facts(panel: Panel, event: Event) -> Panel:
    """The panel with what an event says besides the model and the tools' health."""
    match event:
        case SessionStarted(session_id=id):
            return replace(panel, session_id=id)
        case SessionResumed():
            return _new_cycle(panel)
        case TurnStarted(turn=turn):
            plan = panel.plan if not event.prompt else ()
            return replace(_new_cycle(panel), turn=turn, paused=None, ended=None, plan=plan, deferred=())
        case TurnEnded():
            return replace(panel, ended=event, running=(), asked=None)
        case StepStarted(step=step):
            return replace(panel, step=step)
        case RequestSent(estimated_tokens=tokens, window=window):
            return replace(panel, context_tokens=tokens, window=window or panel.window)
        case CompactionEnded(succeeded=True, tokens_after=tokens):
            return replace(panel, context_tokens=tokens)
        case HistoryReplaced(messages=()):
            return replace(panel, context_tokens=0)
        case SpendChanged():
            return replace(panel, spend=event)
        case _:
            return _tools(panel, event)


def _tools(panel: Panel, event: Event) -> Panel:
    match event:
        case ToolStarted():
            return replace(panel, running=(*panel.running, event), asked=None)
        case ToolEnded(call_id=id):
            asked = None if panel.asked is not None and panel.asked.call_id == id else panel.asked
            return replace(panel, running=tuple(one for one in panel.running if one.call_id != id), asked=asked)
        case PermissionAsked():
            return replace(panel, asked=event)
        case PermissionAnswered():
            return replace(panel, asked=None)
        case DispatchLimitsSet(limits=limits):
            return replace(panel, budget=limits.budget)
        case FailureCharged():
            return replace(
                panel, failures=(*panel.failures, event)[-REMEMBERED:], consumed=event.consumed, budget=event.budget
            )
        case PlanChanged(items=items):
            return replace(panel, plan=items)
        case PauseReported(report=report):
            return replace(panel, paused=report, deferred=report.deferred, consumed=report.consumed)
        case _:
            return panel


def _new_cycle(panel: Panel) -> Panel:
    return replace(panel, consumed=0, failures=(), running=(), asked=None)


# ── the timeline ────────────────────────────────────────────────────────────────────────────────


def _marked(marks: tuple[Mark, ...], event: Event, chosen: str) -> tuple[Mark, ...]:
    """The timeline after an event; `chosen` is the model to which it is no switch to return."""
    if isinstance(event, StepStarted):
        return (*marks, Mark(event.step))[-REMEMBERED:]
    if not marks:
        return marks
    last = _noted(marks[-1], event, chosen)
    return marks if last is marks[-1] else (*marks[:-1], last)


def _noted(mark: Mark, event: Event, chosen: str) -> Mark:
    match event:
        case Transition(step=mark.step, code=code):
            return replace(mark, code=code)
        case RetryScheduled():
            return replace(mark, retries=mark.retries + 1)
        case FaultOccurred(fault=fault) if fault.kind is not FaultKind.CANCELLED:
            return replace(mark, faults=mark.faults + 1)
        case ToolEnded(failure=failure) if failure is not None:
            return replace(mark, tool_failures=mark.tool_failures + 1)
        case Dispatched(dispatch=Dispatch.SKIP | Dispatch.PAUSE):
            return replace(mark, skipped=mark.skipped + 1)
        case BreakerChanged(key=key, after=BreakerState.OPEN) if event.before is not event.after:
            return replace(mark, opened=mark.opened + (not key.startswith(MODEL)))
        case CompactionEnded(succeeded=True):
            return replace(mark, compacted=True)
        case ModelSwitched(to_model=name) if name != chosen:
            return replace(mark, switched=True)
        case _:
            return mark
