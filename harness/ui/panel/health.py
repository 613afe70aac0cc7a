"""How the tools are, folded from what the dispatch layer reports.

Nothing is decided here: the events say how each breaker stands, so that the panel needs no board of its own.
"""

from dataclasses import replace

from harness.events import (
    BreakerChanged,
    BreakerState,
    CascadeChanged,
    CascadePhase,
    ChangeReason,
    Dispatch,
    Dispatched,
    DispatchLimitsSet,
    Event,
    HealthRow,
    Route,
    ToolEnded,
    ToolOutcome,
)

MODEL = "model:"
"""What the key of a model's breaker begins with."""
WELL = (ToolOutcome.OK, ToolOutcome.ERROR)
"""Outcomes of a tool that works: also one that answers that it could not do it."""
RUNS = (Dispatch.CALL, Dispatch.PROBE)


class Health:
    """Folds the breaker table. All that is read is frozen."""

    def __init__(self) -> None:
        self._tools: dict[str, HealthRow] = {}
        self._models: dict[str, HealthRow] = {}
        self._routes: dict[str, Route] = {}
        self._groups: dict[str, CascadeChanged] = {}
        self._called: set[str] = set()
        """Ids of calls that were let through and have not ended."""

    @property
    def rows(self) -> tuple[HealthRow, ...]:
        """One for each tool, in the order of the toolbox."""
        return tuple(self._tools.values())

    @property
    def endpoints(self) -> tuple[HealthRow, ...]:
        """Models whose breaker ever left CLOSED."""
        return tuple(self._models.values())

    @property
    def routes(self) -> tuple[tuple[str, Route], ...]:
        """The way round that was offered last, for each tool that is not closed."""
        return tuple((tool, route) for tool, route in self._routes.items() if self._troubled(tool))

    @property
    def cascades(self) -> tuple[CascadeChanged, ...]:
        """Groups that fail from one cause, or are not all tried yet."""
        return tuple(self._groups.values())

    def see(self, event: Event, at: float) -> bool:
        """Take in an event; returns whether anything here changed."""
        match event:
            case DispatchLimitsSet(tools=tools):
                others = {name: row for name, row in self._tools.items() if name not in tools}
                self._tools = {name: self._tools.get(name) or _new(name) for name in tools} | others
            case Dispatched():
                return self._dispatched(event)
            case ToolEnded():
                return self._ended(event, at)
            case BreakerChanged(key=key) if key.startswith(MODEL):
                name = key.removeprefix(MODEL)
                if name in self._models or event.after is not BreakerState.CLOSED:
                    self._models[name] = _moved(self._models.get(name) or _new(name), event)
            case BreakerChanged(key=tool):
                self._tools[tool] = _moved(self._tools.get(tool) or _new(tool), event)
            case CascadeChanged():
                self._group(event)
            case _:
                return False
        return True

    def _dispatched(self, event: Dispatched) -> bool:
        if event.dispatch in RUNS:
            self._called.add(event.call_id)
        if event.routes:
            self._routes[event.tool] = event.routes[0]
        return bool(event.routes)

    def _ended(self, event: ToolEnded, at: float) -> bool:
        if event.call_id not in self._called:
            return False
        self._called.discard(event.call_id)
        row = self._tools.get(event.tool) or _new(event.tool)
        if event.failure is not None:
            self._tools[event.tool] = replace(row, last_failure=at, message=event.failure.message)
        elif event.outcome in WELL:
            self._tools[event.tool] = replace(row, last_success=at)
        else:
            return False
        return True

    def _group(self, event: CascadeChanged) -> None:
        before = self._groups.pop(event.signature, None)
        for tool in before.tools if before is not None else ():
            self._tools[tool] = replace(self._tools[tool], note="")
        if event.phase is CascadePhase.OVER:
            return
        self._groups[event.signature] = event
        if event.phase is CascadePhase.SUSPECTED:
            return
        waits = event.phase is CascadePhase.SYSTEMIC and event.probe_at is None
        note = f"waits for /confirm: {event.root}" if waits else f"{event.phase.value}: {event.root}"
        for tool in event.tools:
            row = self._tools.get(tool) or _new(tool)
            if row.state is not BreakerState.CLOSED:
                probe = event.probe_at if event.phase is CascadePhase.SYSTEMIC else event.step
                self._tools[tool] = replace(row, note=note, probe_at=probe)

    def _troubled(self, tool: str) -> bool:
        row = self._tools.get(tool)
        return row is not None and row.state is not BreakerState.CLOSED


def _new(name: str) -> HealthRow:
    return HealthRow(name, BreakerState.CLOSED, 0)


def _moved(row: HealthRow, event: BreakerChanged) -> HealthRow:
    note = row.note
    if event.why is ChangeReason.ISOLATED:
        note = "isolated by hand"
    elif event.after is BreakerState.CLOSED or event.why in (ChangeReason.RELEASED, ChangeReason.TRIPPED):
        note = ""
    return replace(row, state=event.after, failures=event.failures, probe_at=event.probe_at, note=note)
