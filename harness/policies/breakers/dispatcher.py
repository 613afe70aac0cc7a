"""The breaker registry as a fold over events: live in a session, and in the replay of its journal.

Requests, results, steps, turns and commands are inputs, and each is an event of the journal. The state of the breakers
is therefore never stored (docs/design/breakers.md#replay).

Calls of one batch run side by side. Their results are held until the last one is in, and then count in the order of the
reply.
"""

from collections.abc import Callable

from harness.events import (
    BreakerCommanded,
    Dispatch,
    Dispatched,
    DispatchLimitsSet,
    Event,
    PlanChanged,
    SessionResumed,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolScored,
    TurnStarted,
)
from harness.policies.breakers.decisions import CallPermit, DispatchDecision, Finish, Result
from harness.policies.breakers.registry import BreakerRegistry

RUNS = (Dispatch.CALL, Dispatch.PROBE)
FINISHES = {
    ToolOutcome.CANCELLED: Finish.CANCELLED,
    ToolOutcome.DENIED: Finish.DENIED,
    ToolOutcome.INVALID: Finish.INVALID,
}
"""Outcomes that do not count for the tool. All others are a failure if one is named, otherwise a success."""


class Dispatcher:
    """Passes events to the registry in the right order."""

    def __init__(self, registry: BreakerRegistry) -> None:
        self.registry = registry
        self._out: dict[str, tuple[int, CallPermit]] = {}
        """Running calls by id: place in the reply, and permit."""
        self._ended: list[tuple[int, CallPermit, Result, float]] = []

    def decide(self, call_id: str, tool: str, place: int, parts: tuple[str, ...] = ()) -> DispatchDecision:
        """The decision about a call; `place` is its position in the reply, `parts` are the parts of the tool that it
        uses."""
        decision = self.registry.decide(tool, parts)
        if decision.dispatch in RUNS:
            self._out[call_id] = place, decision.permit
        return decision

    def on_event(self, event: Event, at: float = 0.0) -> None:
        """Take an event that is an input of the registry; others are ignored.

        Args:
            at: when it happened, in Unix time; for the table only.
        """
        match event:
            case ToolEnded():
                self._end(event, at)
            case StepStarted(step=step):
                self._settle()
                self.registry.begin_step(step)
            case TurnStarted() | SessionResumed():
                self._settle()
                self.registry.begin_cycle()
                if isinstance(event, TurnStarted) and event.prompt:
                    self.registry.plan(())  # a new task; a turn without a prompt goes on with the old one
            case PlanChanged(items=items):
                self.registry.plan(items)
            case ToolScored(tool=tool, score=score, why=why):
                self.registry.score(tool, score, why)
            case BreakerCommanded(command=command, tool=tool) if not tool or self.registry.knows(tool):
                self.registry.command(command, tool)  # a tool that is gone since then has no breaker
            case DispatchLimitsSet(limits=limits):
                self.registry.configure(limits)

    def _end(self, event: ToolEnded, at: float) -> None:
        out = self._out.pop(event.call_id, None)
        if out is None:
            return  # it was answered without being let through
        place, permit = out
        result = event.failure or FINISHES.get(event.outcome, Finish.OK)
        self._ended.append((place, permit, result, at))
        if not self._out:
            self._settle()

    def _settle(self) -> None:
        """The batch has ended. Calls without a result will not get one: a probe among them is lost with its lease."""
        ended, self._ended = self._ended, []
        self._out.clear()
        self.registry.record_batch(ended)


class BreakerReplay:
    """The registry of a journal: decides each recorded call again, and reports decisions that differ."""

    def __init__(
        self, registry: BreakerRegistry, differs: Callable[[Dispatched, DispatchDecision], None] | None = None
    ) -> None:
        """`differs` is called for a recorded decision that would be different today, such as after a change of the
        rules."""
        self.dispatcher = Dispatcher(registry)
        self._differs = differs

    @property
    def registry(self) -> BreakerRegistry:
        """The registry after the events so far."""
        return self.dispatcher.registry

    def on_event(self, event: Event, at: float = 0.0) -> tuple[Event, ...]:
        """Take the next event of the journal; returns the events of the registry."""
        if isinstance(event, Dispatched):
            whole = (event.key or event.tool).partition(":")[0]
            decision = self.dispatcher.decide(event.call_id, whole, event.index, event.parts)
            if self._differs and (decision.dispatch, decision.reason) != (event.dispatch, event.reason):
                self._differs(event, decision)
        else:
            self.dispatcher.on_event(event, at)
        return self.registry.drain_events()
