"""A retry budget that several agents share, so that retries cannot multiply the load on a provider that is failing.

A token bucket (https://sre.google/sre-book/handling-overload/): each request adds a share of a retry, up to `burst`,
and each retry takes one. Whatever fails, in whatever order:

    attempts ≤ (1 + share) · requests + burst

where every attempt that is not a retry counts as a request. An agent that works alone is not held by it: it has its own
limits, `retries_per_request` and `retries_per_turn`. The burst covers the retries of one request.
"""

from dataclasses import dataclass, replace
from math import floor

ROUNDING = 1e-9
"""Ten times a tenth of a retry is a whole one, also in floating point."""


@dataclass(frozen=True, slots=True)
class RetryBudget:
    """Where the budget stands. Frozen: each move gives the next one."""

    share: float = 0.1
    """Retries that a request adds."""
    burst: int = 10
    """Retries there are at the beginning, and at most."""
    requests: int = 0
    retries: int = 0
    taken: float = 0.0
    """Retries that are gone from the burst and not added back by requests yet."""

    @property
    def left(self) -> int:
        """Retries that may be made now."""
        return max(0, floor(self.burst - self.taken + ROUNDING))

    def after_request(self) -> "RetryBudget":
        """A request went out that is no retry."""
        return replace(self, requests=self.requests + 1, taken=max(0.0, self.taken - self.share))

    def after_retry(self) -> "RetryBudget":
        """A retry was decided."""
        return replace(self, retries=self.retries + 1, taken=self.taken + 1)
