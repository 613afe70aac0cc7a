"""How long to wait before the same request goes out again (recovery B1, B2, §8)."""

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
