"""A request that is sent again when it fails. Three functions are missing; TASK.md says what they have to do."""

from collections.abc import Awaitable, Callable
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
    """Seconds to wait before retry number `retry`, which counts from 1.

    `retry_after` is what the server asked for, in seconds, or None. `chance` is a random number from 0 to 1.
    """
    # ── your part begins ─────────────────────────────────────────────
    return 0.0
    # ── your part ends ───────────────────────────────────────────────


def seconds_in(header: str | None) -> float | None:
    """The number of seconds in a retry-after header; None where there is no header, or no such number in it."""
    # ── your part begins ─────────────────────────────────────────────
    return None
    # ── your part ends ───────────────────────────────────────────────


async def ask(
    send: Callable[[], Awaitable[Any]], sleep: Callable[[float], Awaitable[None]], chance: Callable[[], float]
) -> Any:
    """The reply to a request, which `send` sends once each time it is called.

    `send` raises APIStatusError, with `error.status_code` and `error.response.headers`, or APIConnectionError when the
    connection broke. Wait with `sleep`, and take a random number from `chance` for each wait.
    """
    # ── your part begins ─────────────────────────────────────────────
    try:
        return await send()
    except (APIStatusError, APIConnectionError):
        return None
    # ── your part ends ───────────────────────────────────────────────
