"""The panel, folded from events; live events and a journal give the same panel."""

from collections import OrderedDict
from dataclasses import dataclass

from harness.events import (
    BoardCounted,
    BreakerChanged,
    BreakerState,
    ChangeReason,
    CompactionEnded,
    Dispatch,
    Dispatched,
    DispatchLimitsSet,
    Event,
    FailureCharged,
    Fault,
    FaultKind,
    FaultOccurred,
    HistoryReplaced,
    LoopFound,
    ModelSwitched,
    Notice,
    PauseReported,
    PermissionAnswered,
    PermissionAsked,
    QuestionAnswered,
    QuestionAsked,
    ReplyReceived,
    RequestSent,
    RetryScheduled,
    SessionResumed,
    SessionStarted,
    SilenceEnded,
    SilenceHint,
    SpendChanged,
    StepStarted,
    TaskChanged,
    TaskState,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolEnded,
    ToolStarted,
    Transition,
    TurnEnded,
    TurnStarted,
)
from harness.policies.protocols.requests import RequestFold
from harness.policies.team.members import TeamFold
from harness.ui.folds import loops, model
from harness.ui.folds.breakers import MODEL, BreakerFold
from harness.ui.folds.model import ModelStatus, Phase
from harness.ui.folds.work import WorkFold, plan_after
from harness.ui.panel.state import Panel, StepMark

KEPT_STEPS = 500
"""Past steps that can be shown."""
KEPT_FAILURES = 100
"""Failures kept per turn; those without a cost have no other bound."""
_OF_TOOLS = (ToolStarted, ToolEnded, PermissionAsked, PermissionAnswered, QuestionAsked, QuestionAnswered)
"""After these the phase is that of the tools."""


@dataclass(slots=True)
class _Stream:
    """A reply that is being received."""

    phase: Phase = Phase.ASKING
    since: float = 0.0
    """Unix time at which this phase began."""
    characters: int = 0
    """Of its text, its thinking and its complete tool calls."""
    call_characters: int = 0
    """Of the input of the tool call being written."""


class PanelFold:
    """The panel now, and at the end of each of the last steps."""

    def __init__(self) -> None:
        self._panel = Panel()
        """From recorded events; without the parts that `_whole` adds."""
        self._breakers = BreakerFold()
        self._work = WorkFold()
        self._team = TeamFold()
        self._requests = RequestFold()
        self._model = ModelStatus()
        self._at = 0.0
        self._is_old = False
        """Whether `_panel` lacks the latest model, breakers, work and time, which are added only when it is read."""
        self._turn_runs = False
        self._cycle_has_step = False
        """Whether a step began since the failure budget was reset. Until then charges belong to the cycle before: an
        interrupted batch is charged when the next cycle begins."""
        self._ends: OrderedDict[int, Panel] = OrderedDict()
        """The panel at the end of each step, without the timeline, which is the same for all."""
        self._stream: _Stream | None = None
        """The current reply; this and `_silence` come from transient events."""
        self._silence: SilenceHint | None = None

    @property
    def now(self) -> Panel:
        """The panel after all events."""
        panel = self._whole()
        if (stream := self._stream) is not None:
            characters = stream.characters + stream.call_characters
            known = panel.model._replace(phase=stream.phase, since=stream.since, streamed_characters=characters)
            panel = panel._replace(model=known)
        if self._silence is not None:
            panel = panel._replace(model=panel.model._replace(silence=self._silence))
        return panel

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps that can be shown, oldest first."""
        return tuple(mark.step for mark in self._panel.marks)

    def at_step(self, step: int) -> Panel:
        """The panel at the end of `step`, with the timeline of the whole session; of the last step the panel now.

        Raises KeyError for a step that is unknown or too old.
        """
        if self._panel.marks and step == self._panel.marks[-1].step:
            return self.now
        return self._ends[step]._replace(marks=self._panel.marks)

    def on_event(self, event: Event, at: float) -> None:
        """Process an event of Unix time `at`."""
        match event:
            case TextDelta() | ThinkingDelta() | ToolCallDelta():
                self._streamed(event, at)
            case SilenceHint():
                if self._model.phase in (Phase.ASKING, Phase.COMPACTING):
                    self._silence = event
            case SilenceEnded():
                self._silence = None
            case Notice():
                pass
            case _:
                self._fold(event, at)
                self._end_streaming(event)
                self._at, self._is_old = at, True

    # ── transient events ────────────────────────────────────────────────────────────────────────

    def _streamed(self, event: TextDelta | ThinkingDelta | ToolCallDelta, at: float) -> None:
        if self._model.phase is not Phase.ASKING:
            return
        stream = self._stream = self._stream or _Stream()
        phase = Phase.THINKING if isinstance(event, ThinkingDelta) else Phase.ANSWERING
        if phase is not stream.phase:
            stream.phase, stream.since = phase, at
        if not isinstance(event, ToolCallDelta):
            stream.characters += len(event.text)
            return
        if event.characters < stream.call_characters:  # another call
            stream.characters += stream.call_characters
        stream.call_characters = event.characters

    def _end_streaming(self, event: Event) -> None:
        """Transient state ends with its request."""
        phase = self._model.phase
        if isinstance(event, RequestSent) or phase is not Phase.ASKING:
            self._stream = None
        if isinstance(event, RequestSent) or phase not in (Phase.ASKING, Phase.COMPACTING):
            self._silence = None

    # ── recorded events ─────────────────────────────────────────────────────────────────────────

    def _fold(self, event: Event, at: float) -> None:
        match event:
            case TurnStarted():
                self._end_step()
                self._turn_runs, self._cycle_has_step = True, False
            case SessionStarted() | SessionResumed():
                self._end_step()
                self._turn_runs = self._cycle_has_step = False
            case StepStarted():
                self._end_step()
                self._cycle_has_step = True
            case FailureCharged() if not self._cycle_has_step:
                return
            case TurnEnded():
                self._turn_runs = False
        before = self._model
        panel = _after(self._panel, event, compacting=before.compacting is not None)
        self._panel = _marked(panel, event, before.chosen)
        self._breakers.on_event(event, at)
        self._work.on_event(event, at)
        self._team.on_event(event, at)
        self._requests.on_event(event)
        self._model = model.after(before, event, at, self._resting)
        if isinstance(event, _OF_TOOLS):
            self._model = model.in_phase(self._model, self._phase_of_tools(panel), at)
        if isinstance(event, StepStarted):
            while self._ends and next(iter(self._ends)) < self._panel.marks[0].step:
                self._ends.popitem(last=False)

    @property
    def _resting(self) -> Phase:
        return Phase.DECIDING if self._turn_runs else Phase.IDLE

    def _phase_of_tools(self, panel: Panel) -> Phase:
        match panel.asked:
            case PermissionAsked():
                return Phase.PERMISSION
            case QuestionAsked():
                return Phase.QUESTION
        return Phase.TOOLS if panel.running else self._resting

    def _end_step(self) -> None:
        panel = self._whole()
        if panel.marks and panel.marks[-1].step not in self._ends:
            self._ends[panel.marks[-1].step] = panel._replace(marks=())

    def _whole(self) -> Panel:
        if self._is_old:
            self._is_old = False
            self._panel = self._panel._replace(
                at=self._at,
                model=self._model,
                rows=self._breakers.tools,
                endpoints=self._breakers.models,
                routes=self._breakers.routes,
                cascades=self._breakers.cascades,
                work=self._work.now,
                team=self._team.rows,
                requests=self._requests.waiting,
            )
        return self._panel


def _after(panel: Panel, event: Event, *, compacting: bool) -> Panel:
    """The panel after an event, without the timeline and the parts that have a fold of their own."""
    if (known := loops.after(panel.loops, event)) is not panel.loops:
        panel = panel._replace(loops=known)
    if (declared := plan_after(panel.plan, event)) is not panel.plan:
        panel = panel._replace(plan=declared)
    match event:
        case SessionStarted(session_id=session_id):
            return Panel(session_id=session_id)
        case SessionResumed():
            return panel._replace(consumed=0, failures=(), running=(), asked=None)
        case TurnStarted(turn=turn):
            begun = panel._replace(turn=turn, consumed=0, failures=(), running=(), asked=None)
            return begun._replace(deferred=(), paused=None, ended=None)
        case StepStarted(step=step):
            return panel._replace(step=step)
        case RequestSent(purpose="turn", estimated_tokens=tokens, window=window):
            return panel._replace(context_tokens=tokens, window=window or panel.window)
        case FaultOccurred(fault=Fault(kind=FaultKind.PROMPT_TOO_LONG, limit=int(limit))):
            return panel._replace(window=limit)  # as the server counts, whatever was assumed
        case ReplyReceived(usage=usage) if usage.prompt and not compacting:
            return panel._replace(context_tokens=usage.prompt + usage.output)
        case CompactionEnded(succeeded=True, tokens_after=tokens):
            return panel._replace(context_tokens=tokens)
        case HistoryReplaced(messages=()):
            return panel._replace(context_tokens=0)
        case SpendChanged():
            return panel._replace(spend=event)
        case PermissionAsked() | QuestionAsked():
            return panel._replace(asked=event)
        case PermissionAnswered() | QuestionAnswered() if panel.asked and panel.asked.call_id == event.call_id:
            return panel._replace(asked=None)
        case ToolStarted():
            return panel._replace(running=(*panel.running, event))
        case ToolEnded(call_id=call_id):
            asked = None if panel.asked and panel.asked.call_id == call_id else panel.asked
            running = tuple(tool for tool in panel.running if tool.call_id != call_id)
            return panel._replace(running=running, asked=asked)
        case FailureCharged(consumed=consumed, budget=budget):
            failures = (*panel.failures, event)[-KEPT_FAILURES:]
            return panel._replace(consumed=consumed, budget=budget, failures=failures)
        case DispatchLimitsSet(limits=limits):
            return panel._replace(budget=limits.budget)
        case BoardCounted():
            return panel._replace(board=event)
        case TaskChanged(task=task, subject=subject, state=state, text=why):
            held = {id: name for id, name in panel.held if id != task}
            held |= {task: subject} if state is TaskState.IN_PROGRESS else {}
            set_aside = tuple(one for one in panel.set_aside if one[0] != task)
            set_aside += ((task, subject, why),) if state is TaskState.DEFERRED else ()
            return panel._replace(held=tuple(held.items()), set_aside=set_aside)
        case PauseReported(report=report):
            return panel._replace(paused=report, deferred=report.deferred)
        case TurnEnded():
            return panel._replace(ended=event, running=(), asked=None)
        case _:
            return panel


def _marked(panel: Panel, event: Event, chosen: str) -> Panel:
    """The panel with the timeline after an event; a switch to the model `chosen` is not an incident."""
    if isinstance(event, StepStarted):
        return panel._replace(marks=(*panel.marks, StepMark(event.step))[-KEPT_STEPS:])
    if not panel.marks:
        return panel
    mark = _mark(panel.marks[-1], event, chosen)
    return panel if mark is panel.marks[-1] else panel._replace(marks=(*panel.marks[:-1], mark))


def _mark(mark: StepMark, event: Event, chosen: str) -> StepMark:
    match event:
        case Transition(code=code):
            return mark._replace(code=code)
        case RetryScheduled():
            return mark._replace(retries=mark.retries + 1)
        case FaultOccurred(fault=fault) if fault.kind is not FaultKind.CANCELLED:
            return mark._replace(faults=mark.faults + 1)
        case ToolEnded(failure=failure) if failure is not None:
            return mark._replace(tool_failures=mark.tool_failures + 1)
        case Dispatched(dispatch=Dispatch.SKIP | Dispatch.PAUSE):
            return mark._replace(skipped=mark.skipped + 1)
        case BreakerChanged(key=key) if key.startswith(MODEL):
            return mark  # shown as a retry or a switch
        case BreakerChanged(before=BreakerState.CLOSED, after=BreakerState.OPEN):
            return mark._replace(opened=mark.opened + 1)
        case BreakerChanged(why=ChangeReason.PROBE_GIVEN):
            return mark._replace(probes=mark.probes + 1)
        case LoopFound():
            return mark._replace(loops=mark.loops + 1)
        case CompactionEnded(succeeded=True):
            return mark._replace(compacted=True)
        case ModelSwitched(to_model=model) if model != chosen:
            return mark._replace(switched=True)
        case _:
            return mark
