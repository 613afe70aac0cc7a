"""The first of several awaitables."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")


async def race(*contenders: Awaitable[Any]) -> tuple["asyncio.Future[Any] | None", ...]:
    """Wait for the first contender and cancel the others, also when the race itself is cancelled.

    Returns a future in the place of each contender that is done, and None for the others.
    """
    futures = [asyncio.ensure_future(contender) for contender in contenders]
    try:
        done, _ = await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        return tuple(future if future in done else None for future in futures)
    finally:
        for future in futures:
            future.cancel()


async def unless(stop: asyncio.Event, work: Awaitable[T]) -> T | None:
    """The result of `work`, or None when `stop` is set first; `work` is cancelled then."""
    done, _ = await race(work, stop.wait())
    return None if done is None else done.result()
