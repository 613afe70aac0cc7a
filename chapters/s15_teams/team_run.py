"""The team of s15: shows what happens in turns and between them, by a clock that the demo puts forward."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from chapters.course import DemoSession
from harness.engine.conversation import Conversation
from harness.events import Event, MemberChanged

if TYPE_CHECKING:
    from harness.agent import Agent


class DemoClock:
    """The clock of the machine, put forward by the demo."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Unix time in seconds."""
        return time.time() + self._ahead

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` of this clock."""
        until = self.now() + seconds
        while (left := until - self.now()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), left)

    def forward(self, seconds: float) -> None:
        """Let time pass."""
        self._ahead += seconds
        self._moved.set()
        self._moved = asyncio.Event()


class TeamRun:
    """A lead and its members; shows what happens in turns and between them."""

    def __init__(self, session: DemoSession) -> None:
        self._session = session
        self._changed = asyncio.Event()
        self._rests: Counter[str] = Counter()
        self.clock = DemoClock()
        settings = session.settings(permission_mode="yolo", team=True)
        folder = session.outputs("team")
        conversation = Conversation(self._record)
        self.agent: Agent = session.agent(settings, conversation=conversation, clock=self.clock, agents=folder)

    def _record(self, event: Event) -> None:
        if not event.transient:
            self._session.show(event)
        if isinstance(event, MemberChanged):
            self.rests(event.member.name)
        self._changed.set()

    def rests(self, name: str) -> None:
        """The commands of the members wait for such files, so that every run is the same."""
        self._rests[name] += 1
        (self._session.workspace / f"{name}-{self._rests[name]}").touch()

    async def turn(self, events: AsyncGenerator[Event, None]) -> None:
        """Show a turn; what is recorded has been shown."""
        async with aclosing(events):
            async for event in events:
                if event.transient:
                    self._session.show(event)
        self.rests("lead")

    async def settle(self) -> None:
        """Deliver what arrives, as front ends do, until no member works."""
        background = self.agent.parts.background
        assert background is not None
        background.inbox.notify(self._changed.set)
        while True:
            self._changed.clear()
            if background.inbox.waking:
                await self.turn(self.agent.deliver())
            elif background.subagents.running:
                await self._changed.wait()
            else:
                return
