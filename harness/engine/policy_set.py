"""The policies of an agent that a program can hand in; what is not handed in follows from the settings."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.events import DispatchLimits, Outcome
from harness.policies import recovery
from harness.policies.admission.limits import GateLimits
from harness.policies.loops.policy import EscapePolicy
from harness.policies.recovery import Decision, RecoveryLimits, Situation, TurnState

Decide = Callable[[TurnState, Outcome, RecoveryLimits, Situation], Decision]
"""Maps the outcome of a model call to the next decision. Pure: time and chance are in the `Situation`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """What an agent decides by. Its subagents use the same.

    Breakers, loops and admission keep state between calls, so a program hands in their numbers, not their code.
    Raises TypeError for a value of the wrong kind.
    """

    decide: Decide = recovery.decide
    """Replaces or wraps `harness.policies.recovery.decide` for the model calls of a turn, summaries excepted."""
    recovery: RecoveryLimits | None = None
    """Numbers of the recovery policy. `interactive` follows from the asker; a subagent has its own limits of steps and
    money."""
    breakers: DispatchLimits | None = None
    """Numbers of the circuit breakers and the failure budget."""
    loops: EscapePolicy | None = None
    """Numbers of loop detection and the interventions."""
    admission: GateLimits | None = None
    """How many subagents work at the same time and how many may wait."""

    def __post_init__(self) -> None:
        if not callable(self.decide):
            raise TypeError(f"Policies(decide=…) takes a function like policies.recovery.decide, not {self.decide!r}.")
        for name, kind in _NUMBERS.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                given = type(value).__name__
                raise TypeError(
                    f"Policies({name}=…) takes {kind.__name__}, not {given}: of this policy only the numbers can be "
                    f"handed in."
                )


_NUMBERS: dict[str, type] = {
    "recovery": RecoveryLimits,
    "breakers": DispatchLimits,
    "loops": EscapePolicy,
    "admission": GateLimits,
}
