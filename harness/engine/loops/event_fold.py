"""What the escape policy knows, folded from the events of a conversation.

Live, the events come one by one; a session that is gone on with folds those of its journal first and knows the same.
"""

from collections.abc import Iterable, Iterator

from harness.engine.loops.behaviour import Behaviour, Observed, Round
from harness.events import (
    Attempt,
    EscapeSet,
    Event,
    FaultKind,
    FaultOccurred,
    Intervened,
    ItemStatus,
    Loop,
    LoopAnswered,
    PlanChanged,
    PlanItem,
    Projection,
    ReplyReceived,
    RolledBack,
    Rung,
    StepStarted,
    Transition,
    TransitionCode,
    TurnStarted,
)
from harness.policies.loops.detectors import DetectorsSnapshot
from harness.policies.loops.observations import Call, Visit
from harness.policies.loops.orchestrator import Orchestrator
from harness.policies.loops.waits import Waits

SNAPSHOTS = 64
"""Rounds back to which the detectors can be taken."""


class EscapeFold:
    """Shows the policy what the events say, and passes on what it finds."""

    def __init__(self, orchestrator: Orchestrator, behaviour: Behaviour) -> None:
        self.orchestrator = orchestrator
        self.behaviour = behaviour
        self.waits = Waits()
        self._round = Round(0, ())
        self._snapshots: dict[int, DetectorsSnapshot] = {}
        """The detectors after the last rounds, by step."""
        self._tried: dict[str, list[Attempt]] = {}
        self._switched_off: dict[str, str] = {}
        """Calls whose tool was switched off because of a loop, by digest, with its signature."""
        self._plan: tuple[PlanItem, ...] = ()
        self._step = 0

    @property
    def failed(self) -> Call | None:
        """The last call, if it failed."""
        last = self._round.calls[-1] if self._round.calls else None
        return None if last is None or last.ok else last

    @property
    def pending(self) -> list[PlanItem]:
        """The parts of the plan that have not been begun."""
        return [item for item in self._plan if item.status is ItemStatus.PENDING]

    def last_call(self, tool: str) -> Call | None:
        """The last call of a tool in the last round."""
        return next((call for call in reversed(self._round.calls) if call.tool == tool), None)

    def tried(self, signature: str) -> tuple[Attempt, ...]:
        """What was done about a loop in this turn."""
        return tuple(self._tried.get(signature, ()))

    def see(self, event: Event, at: float) -> Iterator[Event]:
        """Take in an event with its Unix time; what the policy finds is yielded."""
        match event:
            case TurnStarted():
                self.orchestrator.new_prompt()
                self.waits.forget()
                self._snapshots.clear()
                self._tried.clear()
                self._switched_off.clear()
            case StepStarted(step=step):
                self._step = step
            case PlanChanged(items=items):
                self._plan = items
            case Intervened(signature=signature):
                self._tried.setdefault(signature, []).append(Attempt(event.rung, event.step, event.detail))
                if event.rung is Rung.BREAKER and (call := self.last_call(event.tool)) is not None:
                    self._switched_off[call.action] = signature
                self.orchestrator.see(event)
            case EscapeSet() | LoopAnswered():
                self.orchestrator.see(event)
            case RolledBack(step=step) if step in self._snapshots:
                self.orchestrator.rolled_back(self._snapshots[step])
            case FaultOccurred(fault=fault) if fault.kind is FaultKind.REPETITION:
                text = Loop(Projection.TEXT, fault.error_code or "", 1, 1, fault.message)
                yield from self.orchestrator.reply(text, self._step)
            case ReplyReceived():
                yield from self.orchestrator.reply(None, self._step)
            case Transition(step=step, code=TransitionCode.COMPLETED):
                yield from self.orchestrator.answered(step)
        for observed in self.behaviour.see(event, at):
            yield from self._observe(observed)

    def _observe(self, observed: Observed) -> Iterable[Event]:
        if isinstance(observed, Visit):
            return self.orchestrator.visit(observed)
        self._round = observed
        follows: list[Event] = []
        for action in observed.skipped:
            if signature := self.orchestrator.kept_from(action) or self._switched_off.get(action, ""):
                follows += self.orchestrator.ignored(signature, observed.step)
        calls = self.waits.sorted(observed.calls, self.orchestrator.policy.wait_spaced_s)
        follows += self.orchestrator.step(calls)
        self._snapshots[observed.step] = self.orchestrator.snapshot()
        while len(self._snapshots) > SNAPSHOTS:
            del self._snapshots[next(iter(self._snapshots))]
        return follows
