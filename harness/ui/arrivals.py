"""Waiting for what the agents in the background bring, where there is nobody to type meanwhile."""

import asyncio

from harness.session import Session


class Arrivals:
    """What arrives in one session. Knows when to look again, and when to look no more."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._changed = asyncio.Event()
        self._stopped = False
        session.incoming.on_change = self._changed.set

    def stop(self) -> None:
        """Wait for nothing any more."""
        self._stopped = True
        self._changed.set()

    async def come(self) -> bool:
        """Wait until something has arrived. False: no agent works in the background any more, or it was stopped."""
        while not self._stopped and not self._session.incoming.waiting and self._agents_work:
            self._changed.clear()
            await self._changed.wait()
        return bool(self._session.incoming.waiting) and not self._stopped

    @property
    def _agents_work(self) -> bool:
        return any(row.background and row.state.value != "ended" for row in self._session.agents)
