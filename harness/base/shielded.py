"""Work that must come to its end although the turn was interrupted."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def uninterrupted(work: Awaitable[T], on_cancel: Callable[[], None] | None = None) -> T:
    """Await `work` to its end, and only then pass on a cancellation that came meanwhile.

    A thread cannot be stopped from outside and a half-ended process group must not be left: both are
    waited for, so that nothing of a call runs on after it was reported as cancelled. `on_cancel` is called when the
    cancellation comes.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
            if on_cancel is not None:
                on_cancel()
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # looked at, so that asyncio does not report it as lost
    raise cancelled
