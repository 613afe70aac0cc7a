"""The breaker table, folded from events alone.

A view does not ask the breakers: it may follow another process, or replay a file. Their changes are events. What
is not told by a change of its own is the moment of each failure and success: calls of one batch run side by side,
and their results count when the last has come, in the order of the reply, unless the breaker has moved on by then.
So results are held back here in the same way, and one that moves its breaker lets the next one count only when
that move was told.
"""

from collections import deque
from dataclasses import dataclass, replace

from harness.events import (
    BreakerChanged,
    BreakerCommand,
    BreakerCommanded,
    BreakerState,
    CascadeChanged,
    CascadeMode,
    CascadePhase,
    ChangeReason,
    Dispatch,
    Dispatched,
    DispatchLimits,
    DispatchLimitsSet,
    DispatchReason,
    Event,
    HealthRow,
    Route,
    Score,
    SessionResumed,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolScored,
    TurnStarted,
    key_of,
)

MODEL = "model:"
"""What the key of a breaker begins with that is a model's."""
RUNS = (Dispatch.CALL, Dispatch.PROBE)
SAYS_NOTHING = (ToolOutcome.CANCELLED, ToolOutcome.DENIED, ToolOutcome.INVALID)
"""Outcomes that say nothing about the tool."""
FAILED = (ChangeReason.FAILED, ChangeReason.THRESHOLD, ChangeReason.PROBE_FAILED)
SUCCEEDED = (ChangeReason.SUCCEEDED, ChangeReason.PROBE_SUCCEEDED)
ENOUGH_TO_SUSPECT = 2
"""Open tools with one signature."""


@dataclass(frozen=True, slots=True)
class _Result:
    """A call that came back and has not counted yet."""

    place: int
    tool: str
    generation: int
    ended: ToolEnded
    at: float


@dataclass(frozen=True, slots=True)
class _Tool:
    """What is known of one tool."""

    row: HealthRow
    generation: int = 0
    score: Score | None = None
    believed_until: int = 0
    """First step in which the score is not believed any more."""
    probed: int = 0
    """Step in which a probe was given last."""


@dataclass(frozen=True, slots=True)
class _Group:
    told: CascadeChanged
    confirmed: bool = False
    """A person said that the cause is gone, and the canary has not failed since."""


class Health:
    """How the tools and the endpoints are, as far as events tell."""

    def __init__(self) -> None:
        self._tools: dict[str, _Tool] = {}
        self._order: tuple[str, ...] = ()
        self._limits = DispatchLimits()
        self._step = 0
        self._out: dict[str, tuple[int, str, int]] = {}
        """Calls that were let through and have not ended, by id: place, tool, generation."""
        self._ended: list[_Result] = []
        self._counting: deque[_Result] = deque()
        """Results of a batch that is over; the first one waits until the move of its breaker is told."""
        self._groups: dict[str, _Group] = {}
        self._routes: dict[str, Route] = {}
        self._endpoints: dict[str, HealthRow] = {}

    @property
    def rows(self) -> tuple[HealthRow, ...]:
        """The table in the order of the toolbox."""
        return tuple(self._row(key) for name in self._order for key in (name, *self._failing_parts(name)))

    def _failing_parts(self, tool: str) -> list[str]:
        """What of a tool fails, such as "bash:npm"."""
        parts = [key for key in self._tools if key.startswith(f"{tool}:")]
        rows = [(key, self._tools[key].row) for key in parts]
        return [key for key, row in rows if row.failures or row.state is not BreakerState.CLOSED]

    @property
    def endpoints(self) -> tuple[HealthRow, ...]:
        """The breakers of models that were ever open, by name."""
        return tuple(row for _, row in sorted(self._endpoints.items()))

    @property
    def cascades(self) -> tuple[CascadeChanged, ...]:
        """The groups that are not over."""
        return tuple(group.told for group in self._groups.values())

    @property
    def routes(self) -> tuple[tuple[str, Route], ...]:
        """The way round that was offered last, for each tool that is not closed."""
        return tuple((name, route) for name, route in self._routes.items() if name in self._open)

    def see(self, event: Event, at: float) -> None:
        """Take in an event of Unix time `at`."""
        match event:
            case BreakerChanged(key=key) if key.startswith(MODEL):
                self._endpoint(event, key.removeprefix(MODEL), at)
            case BreakerChanged():
                self._changed(event)
            case Dispatched():
                self._dispatched(event)
            case ToolEnded() if event.call_id in self._out:
                self._returned(event, at)
            case CascadeChanged():
                self._cascade(event)
            case StepStarted(step=step):
                self._settle()
                self._step = step
            case TurnStarted():
                self._settle()
            case SessionResumed():
                self._settle()
                self._endpoints.clear()  # a new process knows nothing of the endpoints
            case ToolScored(tool=tool, score=score):
                until = self._step + self._limits.score_lasts
                self._tools[tool] = replace(self._tool(tool), score=score, believed_until=until)
            case BreakerCommanded(command=BreakerCommand.CONFIRM):
                self._confirmed()
            case DispatchLimitsSet(limits=limits, tools=tools):
                self._limits = limits
                self._order = tools

    # ── results ─────────────────────────────────────────────────────────────────────────────────

    def _dispatched(self, event: Dispatched) -> None:
        if event.dispatch in RUNS:
            self._out[event.call_id] = event.place, event.key or event.tool, event.generation
        if event.routes:
            self._routes[event.key or event.tool] = event.routes[0]
        if event.tool not in self._order and event.reason is not DispatchReason.UNKNOWN_TOOL:
            self._order += (event.tool,)

    def _returned(self, event: ToolEnded, at: float) -> None:
        place, tool, generation = self._out.pop(event.call_id)
        key = key_of(tool, event.failure) if event.failure else tool
        if key == tool:
            self._ended.append(_Result(place, tool, generation, event, at))
        else:  # the tool did its work, and what it ran failed
            worked = replace(event, failure=None, outcome=ToolOutcome.OK)
            self._ended.append(_Result(place, tool, generation, worked, at))
            self._ended.append(_Result(place, key, self._tool(key).generation, event, at))
        if not self._out:
            self._settle()

    def _settle(self) -> None:
        """The batch is over; what has not come by now does not count."""
        self._out.clear()
        self._counting.extend(sorted(self._ended, key=lambda result: result.place))
        self._ended = []
        self._count()

    def _count(self) -> None:
        """Let results count until one of them moves its breaker."""
        while self._counting and not self._moves(self._counting[0]):
            self._counting.popleft()

    def _moves(self, result: _Result) -> bool:
        """Note the moment of a result; whether its breaker will be told to have changed."""
        tool = self._tool(result.tool)
        if result.generation != tool.generation:
            return False
        row, failure = tool.row, result.ended.failure
        if failure:
            changed = replace(row, last_failure=result.at, message=failure.message)
        elif result.ended.outcome in SAYS_NOTHING:
            return row.state is BreakerState.HALF_OPEN
        else:
            changed = replace(row, last_success=result.at)
        self._tools[result.tool] = replace(tool, row=changed)
        return failure is not None or row.failures > 0 or row.state is not BreakerState.CLOSED

    # ── breakers ────────────────────────────────────────────────────────────────────────────────

    def _changed(self, event: BreakerChanged) -> None:
        tool = self._tool(event.key)
        row = replace(tool.row, state=event.after, failures=event.failures, probe_at=event.probe_at)
        probed = event.step if event.why is ChangeReason.PROBE_GIVEN else tool.probed
        self._tools[event.key] = replace(tool, row=row, generation=event.generation, probed=probed)
        if event.why is ChangeReason.PROBE_FAILED:
            self._unconfirmed(event.key)
        if event.after is BreakerState.CLOSED:
            self._routes.pop(event.key, None)
            self._forget_suspicions()
        if self._counting and self._counting[0].tool == event.key:
            self._counting.popleft()
            self._count()

    def _endpoint(self, event: BreakerChanged, model: str, at: float) -> None:
        row = self._endpoints.get(model, HealthRow(model, BreakerState.CLOSED, 0))
        if model not in self._endpoints and event.after is BreakerState.CLOSED:
            return
        row = replace(row, state=event.after, failures=event.failures)
        if event.why in FAILED:
            row = replace(row, last_failure=at, message=event.detail)
        elif event.why in SUCCEEDED:
            row = replace(row, last_success=at)
        self._endpoints[model] = row

    # ── common causes ───────────────────────────────────────────────────────────────────────────

    def _cascade(self, event: CascadeChanged) -> None:
        known = self._groups.get(event.signature)
        if event.phase is CascadePhase.OVER:
            self._groups.pop(event.signature, None)
            return
        if event.phase is not CascadePhase.SUSPECTED and (known is None or known.told.phase is CascadePhase.SUSPECTED):
            self._tools = {name: replace(tool, score=None) for name, tool in self._tools.items()}
        again = known is not None and known.told.phase is CascadePhase.RECOVERING
        confirmed = known is not None and known.confirmed and not again
        self._groups[event.signature] = _Group(event, confirmed)

    def _confirmed(self) -> None:
        for signature, group in self._groups.items():
            if group.told.phase is CascadePhase.SYSTEMIC:
                self._groups[signature] = _Group(replace(group.told, probe_at=self._step), confirmed=True)

    def _unconfirmed(self, tool: str) -> None:
        """A probe failed: what a person said of the cause of its group does not hold."""
        for signature, group in self._groups.items():
            if tool in group.told.tools:
                self._groups[signature] = replace(group, confirmed=False)

    def _forget_suspicions(self) -> None:
        """A suspicion ends without an event, when fewer than two of its tools are open."""
        self._groups = {
            signature: group
            for signature, group in self._groups.items()
            if group.told.phase is not CascadePhase.SUSPECTED
            or len(self._open & set(group.told.tools)) >= ENOUGH_TO_SUSPECT
        }

    @property
    def _open(self) -> set[str]:
        return {name for name, tool in self._tools.items() if tool.row.state is not BreakerState.CLOSED}

    # ── rows ────────────────────────────────────────────────────────────────────────────────────

    def _tool(self, name: str) -> _Tool:
        return self._tools.get(name) or _Tool(HealthRow(name, BreakerState.CLOSED, 0))

    def _row(self, name: str) -> HealthRow:
        tool = self._tool(name)
        row = tool.row
        group = self._group_of(name)
        isolated = row.state is BreakerState.OPEN and row.probe_at is None
        if isolated:
            return replace(row, note="isolated by hand")
        if group is None:
            return replace(row, note=self._scored(tool))
        note = f"{group.told.phase.value}: {group.told.root}"
        if self._waits_for_a_person(group):
            note = f"waits for /confirm: {group.told.root}"
        probe_at = self._probe_of(group) if row.state is BreakerState.OPEN else None
        return replace(row, note=note, probe_at=probe_at)

    def _group_of(self, tool: str) -> _Group | None:
        joined = (CascadePhase.SYSTEMIC, CascadePhase.RECOVERING)
        groups = (group for group in self._groups.values() if group.told.phase in joined)
        return next((group for group in groups if tool in group.told.tools), None)

    def _waits_for_a_person(self, group: _Group) -> bool:
        waits = group.told.phase is CascadePhase.SYSTEMIC and not group.confirmed
        return waits and self._limits.cascade is CascadeMode.CONFIRM

    def _probe_of(self, group: _Group) -> int | None:
        if self._waits_for_a_person(group):
            return None
        if group.told.phase is CascadePhase.SYSTEMIC:
            return group.told.probe_at
        # While they recover, each step probes one of them. Whoever was probed last may have left the group since.
        probed = max((tool.probed for tool in self._tools.values()), default=0)
        return max(self._step, probed + 1)

    def _scored(self, tool: _Tool) -> str:
        believed = tool.score if self._step < tool.believed_until else None
        return believed.value if believed in (Score.DEGRADED, Score.UNAVAILABLE) and believed else ""
