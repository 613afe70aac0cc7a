"""A clock that only the test moves."""

import asyncio


class HandClock:
    """Those who sleep on it wake when it is moved past their moment."""

    def __init__(self) -> None:
        self.time = 0.0
        self.sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> float:
        """Seconds since the beginning of the test."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Wait for the hand of the test, if there is anything to wait for."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        sleeper = (self.time + seconds, asyncio.get_running_loop().create_future())
        self.sleepers.append(sleeper)
        try:
            await sleeper[1]
        finally:
            self.sleepers.remove(sleeper)

    def move(self, seconds: float) -> None:
        """It is so much later now."""
        self.time += seconds
        for due, sleeper in self.sleepers:
            if due <= self.time and not sleeper.done():
                sleeper.set_result(None)


async def quiet(rounds: int = 8) -> None:
    """Let every task run until it waits for something else."""
    for _ in range(rounds):
        await asyncio.sleep(0)
