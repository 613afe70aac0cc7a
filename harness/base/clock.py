"""Time, as a thing that can be handed in: a test's clock does not wait."""

import asyncio
import time
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """What the executor needs of time."""

    def now(self) -> float:
        """Unix time in seconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`; can be cancelled."""
        ...


def time_of_day(at: float) -> str:
    """A moment in Unix time as the clock on the wall shows it: "14:03:59"."""
    return datetime.fromtimestamp(at).astimezone().strftime("%H:%M:%S")


class SystemClock:
    """The time of the machine."""

    def now(self) -> float:
        """Unix time in seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`; can be cancelled."""
        await asyncio.sleep(seconds)
