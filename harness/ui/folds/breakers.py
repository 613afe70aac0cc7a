"""Breakers of tools and models, folded from events.

The tools are a replay of the policy. No access to the running session is needed, so the same fold serves another
process and a file.
"""

from collections.abc import Iterable
from dataclasses import replace

from harness.events import (
    Alternative,
    BreakerChanged,
    BreakerCommanded,
    BreakerState,
    CascadeChanged,
    CascadePhase,
    ChangeReason,
    Dispatched,
    DispatchLimitsSet,
    DispatchReason,
    Event,
    HealthRow,
    PlanChanged,
    SessionResumed,
    SessionStarted,
    StepStarted,
    ToolEnded,
    ToolScored,
    TurnStarted,
)
from harness.policies.breakers.dispatcher import BreakerReplay
from harness.policies.breakers.registry import BreakerRegistry

MODEL = "model:"
"""Prefix of the breaker keys of models."""
FAILED = (ChangeReason.FAILED, ChangeReason.THRESHOLD, ChangeReason.PROBE_FAILED)
SUCCEEDED = (ChangeReason.SUCCEEDED, ChangeReason.PROBE_SUCCEEDED)
INPUTS = (
    BreakerCommanded,
    Dispatched,
    DispatchLimitsSet,
    PlanChanged,
    SessionResumed,
    StepStarted,
    ToolEnded,
    ToolScored,
    TurnStarted,
)
"""Events that the policy is fed with."""
ENOUGH_TO_SUSPECT = 2
"""Open tools with the same failure signature."""


class BreakerFold:
    """The breakers of a session."""

    def __init__(self) -> None:
        self._begin_session()

    def _begin_session(self) -> None:
        self._replay = BreakerReplay(BreakerRegistry(()))
        self._inputs: list[tuple[Event, float]] = []
        """Everything replayed so far, for a replay with other tools."""
        self._cascades: dict[str, CascadeChanged] = {}
        """The last change of each cascade that is not over, by signature."""
        self._routes: dict[str, Alternative] = {}
        self._models: dict[str, HealthRow] = {}

    @property
    def tools(self) -> tuple[HealthRow, ...]:
        """The table in the order of the toolbox; failing parts, such as "bash:npm", follow their tool."""
        return self._replay.registry.rows()

    @property
    def models(self) -> tuple[HealthRow, ...]:
        """The models whose breaker was ever open, by name."""
        return tuple(row for _, row in sorted(self._models.items()))

    @property
    def cascades(self) -> tuple[CascadeChanged, ...]:
        """The cascades that are not over."""
        return tuple(map(self._cascade_now, filter(self._holds, self._cascades.values())))

    @property
    def routes(self) -> tuple[tuple[str, Alternative], ...]:
        """The alternative offered last, for each tool that is not closed."""
        return tuple((key, route) for key, route in self._routes.items() if self._is_open(key))

    def on_event(self, event: Event, at: float) -> None:
        """Process an event of Unix time `at`."""
        match event:
            case SessionStarted():
                self._begin_session()
            case BreakerChanged(key=key) if key.startswith(MODEL):
                self._model_changed(event, key.removeprefix(MODEL), at)
            case BreakerChanged(key=key, after=BreakerState.CLOSED):
                self._routes.pop(key, None)
            case CascadeChanged(signature=signature, phase=CascadePhase.OVER):
                self._cascades.pop(signature, None)
            case CascadeChanged(signature=signature):
                self._cascades[signature] = event
            case ToolEnded():
                self._play(replace(event, summary="", detail=""), at)
            case StepStarted(step=step) if step < self._replay.registry.step:
                pass  # the policy refuses steps out of order
            case _:
                self._play(event, at)

    def _play(self, event: Event, at: float) -> None:
        match event:
            case DispatchLimitsSet(tools=tools):
                self._use(tools)
            case Dispatched(tool=tool, reason=reason) if reason is not DispatchReason.UNKNOWN_TOOL:
                whole = (event.key or tool).partition(":")[0]
                if whole not in self._replay.registry.tools:
                    self._use((*self._replay.registry.tools, whole))
            case SessionResumed():
                self._models.clear()  # a new process starts with closed breakers of models
        if isinstance(event, Dispatched) and event.alternatives:
            self._routes[event.key or event.tool] = event.alternatives[0]
        if isinstance(event, INPUTS):
            self._inputs.append((event, at))
            self._replay.on_event(event, at)

    def _use(self, tools: Iterable[str]) -> None:
        """Replay with other tools, as a resumed session does."""
        if (tools := tuple(tools)) != self._replay.registry.tools:
            self._replay = BreakerReplay(BreakerRegistry(tools))
            for event, at in self._inputs:
                self._replay.on_event(event, at)

    def _model_changed(self, event: BreakerChanged, model: str, at: float) -> None:
        if model not in self._models and event.after is BreakerState.CLOSED:
            return
        row = self._models.get(model, HealthRow(model, BreakerState.CLOSED, 0))
        row = replace(row, state=event.after, failures=event.failures)
        if event.why in FAILED:
            row = replace(row, last_failure=at, message=event.detail)
        elif event.why in SUCCEEDED:
            row = replace(row, last_success=at)
        self._models[model] = row

    def _is_open(self, key: str) -> bool:
        registry = self._replay.registry
        return registry.has_row(key) and registry.breaker(key).state is not BreakerState.CLOSED

    def _holds(self, cascade: CascadeChanged) -> bool:
        """A suspicion ends without an event when too few of its tools are open."""
        suspected = cascade.phase is CascadePhase.SUSPECTED
        return not suspected or sum(map(self._is_open, cascade.tools)) >= ENOUGH_TO_SUSPECT

    def _cascade_now(self, cascade: CascadeChanged) -> CascadeChanged:
        """A confirmation brings the probe forward without an event."""
        registry = self._replay.registry
        group = next((group for group in registry.cascades if group.signature == cascade.signature), None)
        if cascade.phase is not CascadePhase.SYSTEMIC or group is None:
            return cascade
        return replace(cascade, probe_at=None if registry.unconfirmed(group) else group.due)
