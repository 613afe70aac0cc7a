"""The endpoints of models: one breaker for each, which overloads open (resilience C7, Q5).

It is the breaker of the tools with another key and other distances: seconds instead of steps. An open one does not
keep requests back, because a turn begins on its first model whatever happened before (recovery C4), and where there
is no other model to turn to, overloads are retried to the end. It decides when to turn to the next one.

    the first request after a turn comes to a model whose breaker is open    the half-open attempt
    a request that goes out while it is open and its pause is over            the same, as soon as the outcome is known
    a reply while it is open                                                  the same, and it closes the breaker
    an overload while it is open, before that                                 is counted, and moves nothing
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
        """Where one model stands; a model that nothing is known of has a closed breaker."""
        return self.breakers.get(model, Breaker())

    def turned_to(self, model: str, now: float, limits: BreakerLimits) -> "Endpoints":
        """A turn begins on `model` or turns to it: it counts from 0 here, and an open breaker is given its attempt.

        That does not wait for the pause to be over (recovery C4).
        """
        breaker = self.of(model)
        if breaker.state is OPEN:
            return self._with(model, breaker.probing(now, limits))
        return self._with(model, replace(breaker, failures=0) if breaker.state is CLOSED else breaker)

    def overloaded(self, model: str, now: float, limits: BreakerLimits) -> "Endpoints":
        """A request to `model` was answered with an overload (recovery C1)."""
        breaker = self.of(model)
        if breaker.state is OPEN and not breaker.probe_due(now):
            return self._with(model, replace(breaker, failures=breaker.failures + 1))
        return self._with(model, _attempted(breaker, now, limits).failed(now, limits))

    def answered(self, model: str, now: float, limits: BreakerLimits) -> "Endpoints":
        """`model` replied. Nothing else closes a breaker."""
        return self._with(model, _attempted(self.of(model), now, limits).succeeded())

    def disturbed(self, model: str, now: float) -> "Endpoints":
        """A request to `model` failed in another way: the row is broken (C1), and an attempt has said nothing."""
        breaker = self.of(model)
        if breaker.state is HALF_OPEN:
            breaker = breaker.released(now)
        return self._with(model, replace(breaker, failures=0))

    def _with(self, model: str, breaker: Breaker) -> "Endpoints":
        return self if breaker == self.of(model) else Endpoints(MappingProxyType({**self.breakers, model: breaker}))


def _attempted(breaker: Breaker, now: float, limits: BreakerLimits) -> Breaker:
    """A request that went out although the breaker was open has been its half-open attempt."""
    return breaker.probing(now, limits) if breaker.state is OPEN else breaker
