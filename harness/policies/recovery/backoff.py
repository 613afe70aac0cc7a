"""The wait before a retry, and the retry budget that agents share (docs/design/recovery.md#backoff)."""

from dataclasses import dataclass, replace
from math import floor

BASE_S = 0.5
CEILING_S = 32.0
JITTER = 0.25


def floor_s(retry: int) -> float:
    """The wait before retry number `retry` (from 1) without jitter: 0.5 s, doubled each time, at most 32 s."""
    if retry < 1:
        raise ValueError(f"retries count from 1, not {retry}")
    return float(min(BASE_S * 2 ** min(retry - 1, 16), CEILING_S))


def delay_s(retry: int, retry_after_s: float | None, chance: float) -> float:
    """Seconds to wait before retry number `retry`.

    The backoff is a floor under the server's wish: a small Retry-After would otherwise burn all
    attempts within seconds.

    Args:
        retry: 1 for the first retry of a request.
        retry_after_s: what the server asked for, or None.
        chance: a uniform random number in [0, 1); it spreads the wait over [b, 1.25 b].
    """
    backoff = floor_s(retry) * (1 + JITTER * chance)
    return max(backoff, retry_after_s or 0.0)


ROUNDING = 1e-9
"""Ten times a tenth of a retry is a whole one, also in floating point."""


@dataclass(frozen=True, slots=True)
class RetryBudget:
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
