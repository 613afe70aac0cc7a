"""One timer that is there only while something is due."""

import asyncio
from collections.abc import Callable

from harness.base.clock import Clock


class Alarm:
    """Calls back at one moment, which may be moved or taken back."""

    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        """
        Args:
            ring: called once when the moment has come; it may set the next one.
        """
        self._clock, self._ring = clock, ring
        self._due: float | None = None
        self._timer: asyncio.Task[None] | None = None

    def set(self, due: float | None, now: float) -> None:
        """Ring at `due`, and not when it was said before; None: not at all. Unix time in seconds."""
        if due == self._due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        if due is not None:
            self._timer = asyncio.create_task(self._wait(max(0.0, due - now)))

    async def aclose(self) -> None:
        """Ring no more."""
        self.set(None, 0.0)
        if self._timer is not None:
            await asyncio.wait({self._timer})

    async def _wait(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._timer = self._due = None
        self._ring()
