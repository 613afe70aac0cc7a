"""The breakers of model endpoints, which overloads open (docs/design/recovery.md#endpoint-breakers).

An open breaker does not hold requests back: a turn begins with its first model, and without a fallback overloads are
retried to the end. It decides when to switch to the next model.

    first request of a turn to a model whose breaker is open                  the half-open attempt
    a request while it is open and its pause is over                          the same, once the outcome is known
    a reply while it is open                                                  the same, and it closes the breaker
    an overload while it is open, before that                                 is counted, and changes nothing
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from harness.policies.breakers.breaker import CLOSED, HALF_OPEN, OPEN, Breaker, BreakerLimits


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The breakers of the models of a conversation, by model. They outlive turns. Moments are Unix time in seconds."""

    breakers: Mapping[str, Breaker] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, model: str) -> Breaker:
        """The breaker of one model; closed for an unknown model."""
        return self.breakers.get(model, Breaker())

    def turned_to(self, model: str, now: float, limits: BreakerLimits) -> "Endpoints":
        """A turn begins with `model` or switches to it: its count starts at 0, and an open breaker gets its attempt,
        even before its pause is over."""
        breaker = self.of(model)
        if breaker.state is OPEN:
            return self._with(model, breaker.probing(now, limits))
        return self._with(model, replace(breaker, failures=0) if breaker.state is CLOSED else breaker)

    def overloaded(self, model: str, now: float, limits: BreakerLimits) -> "Endpoints":
        """A request to `model` failed with an overload."""
        breaker = self.of(model)
        if breaker.state is OPEN and not breaker.probe_due(now):
            return self._with(model, replace(breaker, failures=breaker.failures + 1))
        return self._with(model, _attempted(breaker, now, limits).failed(now, limits))

    def answered(self, model: str, now: float, limits: BreakerLimits) -> "Endpoints":
        """`model` replied. Nothing else closes a breaker."""
        return self._with(model, _attempted(self.of(model), now, limits).succeeded())

    def disturbed(self, model: str, now: float) -> "Endpoints":
        """A request to `model` failed in another way, which interrupts a row of overloads."""
        breaker = self.of(model)
        if breaker.state is HALF_OPEN:
            breaker = breaker.released(now)
        return self._with(model, replace(breaker, failures=0))

    def _with(self, model: str, breaker: Breaker) -> "Endpoints":
        return self if breaker == self.of(model) else Endpoints(MappingProxyType({**self.breakers, model: breaker}))


def _attempted(breaker: Breaker, now: float, limits: BreakerLimits) -> Breaker:
    """A request that went out although the breaker was open is its half-open attempt."""
    return breaker.probing(now, limits) if breaker.state is OPEN else breaker
