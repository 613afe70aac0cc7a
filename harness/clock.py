"""Time, as a thing that can be handed in: a test's clock does not wait."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """What the executor needs of time."""

    def now(self) -> float:
        """Unix time in seconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`; can be cancelled."""
        ...


class SystemClock:
    """The time of the machine."""

    def now(self) -> float:
        """Unix time in seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`; can be cancelled."""
        await asyncio.sleep(seconds)
