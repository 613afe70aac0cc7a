"""An agent that ignores all advice, and a driver that enforces it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.events import ErrorClass, Event, Intervened, LoopFound, LoopLeft, Rung
from harness.policies.loops.detector_set import DetectorsSnapshot
from harness.policies.loops.ladder import Abilities
from harness.policies.loops.monitor import LoopAction, LoopMonitor
from harness.policies.loops.observations import ObservedCall


def observed(
    action: str, step: int, *, ok: bool = True, error: ErrorClass | None = None, result: str = ""
) -> ObservedCall:
    """The call of a tool that is called like its action."""
    return ObservedCall(
        number=step,
        step=step,
        at=float(step),
        wall=1.7e9 + step,
        call_id=f"call_{step}",
        tool=action,
        action=action,
        result=result or f"result of {action}",
        ok=ok,
        error="" if ok else "refused",
        error_class=None if ok else error or ErrorClass.UNKNOWN,
        summary=f"{action} x",
    )


def done(action: LoopAction, step: int, *, applied: bool = True, call: str = "") -> Intervened:
    """The event of an action that was carried out; `call` is what a substitution keeps from being made."""
    veto = call if action.rung is Rung.SUBSTITUTE else ""
    loop = action.loop
    return Intervened(
        loop.signature,
        loop.projection,
        action.rung,
        action.number,
        action.quota,
        step,
        "done",
        action=veto,
        applied=applied,
    )


@dataclass
class Driver:
    """Carries out the advice step by step, as an agent loop would."""

    monitor: LoopMonitor = field(default_factory=LoopMonitor)
    abilities: Abilities = field(default_factory=Abilities)
    ok: Callable[[str], bool] = lambda action: True
    error: ErrorClass | None = None
    veto: str = ""
    """The call that a substitution keeps from being made; empty: the one that was just asked for."""
    step: int = 0
    taken: list[tuple[int, Rung]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    before: DetectorsSnapshot | None = None
    """Where a rollback leads; None: to the very beginning."""

    @property
    def stopped(self) -> bool:
        return bool(self.taken) and self.taken[-1][1] is Rung.STOP

    def asks(self, *actions: str, repeat: int = 1) -> None:
        """One step for each action, up to a stop."""
        for action in actions * repeat:
            if not self.stopped:
                self._ask(action)

    def found(self) -> list[LoopFound]:
        return [event for event in self.events if isinstance(event, LoopFound)]

    def left(self) -> list[LoopLeft]:
        return [event for event in self.events if isinstance(event, LoopLeft)]

    def _ask(self, action: str) -> None:
        self.step += 1
        if self.before is None:
            self.before = self.monitor.snapshot()
        if signature := self.monitor.kept_from(action):
            self.events += self.monitor.ignored(signature, self.step)
        else:
            call = observed(action, self.step, ok=self.ok(action), error=self.error)
            self.events += self.monitor.step([call])
        if advice := self.monitor.advise(self.abilities, 0.5):
            self.carry_out(advice, action)

    def carry_out(self, advice: LoopAction, call: str) -> None:
        self.taken.append((self.step, advice.rung))
        event = done(advice, self.step, call=self.veto or call)
        self.events.append(event)
        self.monitor.on_event(event)
        if advice.rung is Rung.ROLLBACK and self.before is not None:
            self.monitor.rolled_back(self.before)


def rungs(driver: Driver) -> Sequence[Rung]:
    return [rung for _, rung in driver.taken]
