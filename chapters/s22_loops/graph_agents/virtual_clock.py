"""Time in which nobody waits."""

import asyncio


class VirtualClock:
    """A clock that is set forward by those who sleep."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def now(self) -> float:
        """Seconds since the beginning of its time."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Let everybody else have a turn, and be `seconds` later; can be cancelled."""
        await asyncio.sleep(0)
        self._now += seconds
