"""Agents that claim their own work from a board of the program."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING

from chapters.course import DemoSession
from harness.engine.conversation import Conversation
from harness.events import Event, Notice
from harness.policies.tasks.decisions import Refused

if TYPE_CHECKING:
    from harness.agent import Agent
    from harness.tasks.work import TaskWork


class BoardAgent:
    """An agent on the board "harbour", with a name of its own."""

    def __init__(self, session: DemoSession, name: str, **limits: object) -> None:
        settings = session.settings(permission_mode="yolo", board="harbour", **limits)
        conversation = Conversation(self._record)
        self._session = session
        self.name = name
        self.agent: Agent = session.agent(settings, conversation=conversation, outputs=session.outputs(name))
        self.idle = False

    def _record(self, event: Event) -> None:
        if not event.transient:
            self._session.show(event)

    @property
    def board(self) -> "TaskWork":
        """Its claims and changes."""
        assert self.agent.parts.board is not None
        return self.agent.parts.board

    async def turn(self, events: AsyncGenerator[Event, None]) -> None:
        """Show the transient events of a turn; the others are shown when they are recorded."""
        async with aclosing(events):
            async for event in events:
                if event.transient:
                    self._session.show(event)

    async def claim(self) -> str:
        """The task that it has claimed, with description and history; empty: it is idle, which is shown once."""
        claimed = await self.board.claim()
        if not isinstance(claimed, Refused):
            self.idle = False
            return await self.board.described(claimed.tasks[0].id)
        if not self.idle:
            self.idle = True
            self._session.show(Notice("info", f"{self.name} is idle. {claimed.reason}"))
        return ""

    async def work(self, text: str) -> None:
        """One turn for a task; what the turn has not ended goes back."""
        await self.turn(self.agent.run(text))
        await self.board.give_back("its turn ended without a result")


async def work_until_idle(agents: Iterable[BoardAgent]) -> None:
    """The agents claim, the one that has been idle longest first, and work, until none gets a task."""
    waiting = list(agents)
    while claimed := [(agent, text) for agent in waiting if (text := await agent.claim())]:
        for agent, text in claimed:
            await agent.work(text)
            waiting.remove(agent)
            waiting.append(agent)
