"""A request that is sent again when it fails."""

from collections.abc import Awaitable, Callable
from math import isfinite
from typing import Any

from anthropic import APIConnectionError, APIStatusError

BASE_S = 0.5
LONGEST_S = 32.0
JITTER = 0.25
RETRIES = 6
"""How often a request is sent again after the first time."""
LATER = frozenset({429, 500, 502, 503, 504, 529})
"""Statuses with which the same request can succeed later."""


def delay(retry: int, retry_after: float | None, chance: float) -> float:
    """Seconds to wait before retry number `retry`, which counts from 1."""
    backoff: float = min(BASE_S * 2 ** (retry - 1), LONGEST_S) * (1 + JITTER * chance)
    return max(backoff, retry_after or 0.0)


def seconds_in(header: str | None) -> float | None:
    """The number of seconds in a retry-after header; None where there is no header, or no such number in it."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


async def ask(
    send: Callable[[], Awaitable[Any]], sleep: Callable[[float], Awaitable[None]], chance: Callable[[], float]
) -> Any:
    """The reply to a request, which `send` sends once each time it is called."""
    for retry in range(1, RETRIES + 1):
        retry_after = None
        try:
            return await send()
        except APIStatusError as error:
            if error.status_code not in LATER:
                raise
            retry_after = seconds_in(error.response.headers.get("retry-after"))
        except APIConnectionError:
            pass  # the connection broke: the wait is our own
        await sleep(delay(retry, retry_after, chance()))
    return await send()
