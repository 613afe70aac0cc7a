"""s13: an oven that no call waits for. Its bell rings while the agent is idle, and again in the middle of a turn."""

import asyncio
import os
from types import TracebackType
from typing import Self

from chapters.course import DemoSession
from harness.engine.conversation import Conversation
from harness.events import Arrived, Event, PollNoted


class Bell:
    """A pipe that the command reads a line from before it ends."""

    def __init__(self, session: DemoSession) -> None:
        self._path = session.workspace / "bell"

    def __enter__(self) -> Self:
        os.mkfifo(self._path)
        self._pipe = os.open(self._path, os.O_RDWR)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._pipe)

    def ring(self) -> None:
        """One command ends."""
        os.write(self._pipe, b"now\n")


class BetweenTurns:
    """Shows what happens while no turn runs."""

    def __init__(self, session: DemoSession) -> None:
        self._session = session
        self._waits = False
        self._arrived = asyncio.Event()

    def record(self, event: Event) -> None:
        """Called with each event of the conversation."""
        if self._waits:
            self._session.show(event)
        if isinstance(event, Arrived):
            self._arrived.set()

    async def arrival(self, bell: Bell) -> None:
        """Ring, and wait until there is something to report to the model."""
        self._arrived.clear()
        self._waits = True
        bell.ring()
        await self._arrived.wait()
        self._waits = False


async def demo(session: DemoSession) -> None:
    """No call waits for the oven, and each end is reported once."""
    settings = session.settings(permission_mode="yolo", background_at_limit=True)
    prompts, between = session.prompts(), BetweenTurns(session)
    async with session.agent(settings, conversation=Conversation(between.record)) as agent:
        with Bell(session) as bell:
            await session.watch(agent.run(await anext(prompts)))
            await between.arrival(bell)
            await session.watch(agent.deliver())
            async for event in agent.run(await anext(prompts)):
                session.show(event)
                if isinstance(event, PollNoted):
                    bell.ring()
            async for prompt in prompts:
                await session.watch(agent.run(prompt))
