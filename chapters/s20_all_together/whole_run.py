"""The whole program in s20: a session with everything in it, under a fast clock, and what the demo waits for."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import datetime
from typing import TypeVar

from chapters.course import DemoSession, LessonError
from harness.engine.team.member import MemberDraft
from harness.engine.worktrees import worktrees_for
from harness.events import Event, Notice
from harness.model.prices import Price
from harness.processes import Processes
from harness.session import Opening, Session
from harness.ui.lines.reports import work_facts

E = TypeVar("E", bound=Event)
SPEED = 20
"""Seconds of the clock of the chapter in one second."""
MORNING = datetime.fromisoformat("2027-03-26 09:32")
FIRST_COMMIT = (
    ("init", "--quiet", "--initial-branch=main"),
    ("config", "user.name", "A learner"),
    ("config", "user.email", "learner@localhost"),
    ("config", "commit.gpgSign", "false"),
    ("add", "--all"),
    ("commit", "--quiet", "--message", "The ferries"),
)
START_S, WAIT_S = 20.0, 60.0
"""Seconds that the server has to start, and that the demo waits for anything else."""


class FastClock:
    """Begins in the morning, goes fast, and can be put forward."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Unix time in seconds."""
        return MORNING.timestamp() + (time.monotonic() - self._began) * SPEED + self._ahead

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` of this clock."""
        until = self.now() + seconds
        while (left := until - self.now()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), left / SPEED)

    def forward(self, seconds: float) -> None:
        """Let time pass."""
        self._ahead += seconds
        self._moved.set()
        self._moved = asyncio.Event()


async def make_repository(session: DemoSession) -> None:
    """Make a repository with one commit of the workspace."""
    processes = Processes()
    try:
        git = worktrees_for(session.settings(), processes, "chapter").git
        for words in FIRST_COMMIT:
            await git(*words, cwd=session.workspace)
    finally:
        await processes.aclose()


class Whole:
    """A session with everything, and the events that it has reported."""

    def __init__(self, demo: DemoSession) -> None:
        self._demo = demo
        self._changed = asyncio.Event()
        self._since = 0.0
        self.events: list[Event] = []
        self.clock = FastClock()
        server = {"command": "python3", "args": [str(demo.workspace / "tide.py")], "trusted": True}
        self._settings = {
            "permission_mode": "edits",
            "permissions_allow": ["bash(*)"],
            "team": True,
            "team_claims": False,
            "schedule_tools": True,
            "board": "session",
            "check_command": "python3 check.py",
            "mcp_servers": {"tide": server},
            "mcp_connect_s": START_S,
            "prices": (Price(demo.MODEL, input=3.0, output=15.0),),
        }

    @asynccontextmanager
    async def opened(self, resume: str | None = None, **settings: object) -> AsyncIterator[Session]:
        """A session; closed with the block."""
        self._since = time.time()
        chosen = self._demo.settings(**{**self._settings, **settings})
        session = await self._demo.open(chosen, Opening(resume=resume), observer=self._record, clock=self.clock)
        session.inbox.notify(self._changed.set)
        try:
            assert session.mcp is not None
            await session.mcp.settle(START_S)
            yield session
        finally:
            await session.aclose()

    def _record(self, event: Event, at: float) -> None:
        """Show an event; those of an earlier run are read first, and were shown then."""
        if at >= self._since and not event.transient:
            self.events.append(event)
            self._demo.show(event)
            self._changed.set()

    def of(self, kind: type[E]) -> list[E]:
        """The events of a kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, what: str, holds: Callable[[], bool]) -> None:
        """Wait for what an event brings about. Raises LessonError where it does not come."""
        try:
            async with asyncio.timeout(WAIT_S):
                while not holds():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError as error:
            raise LessonError(f"After {WAIT_S:g} s there is no sign of {what}.") from error

    async def turn(self, events: AsyncGenerator[Event, None]) -> None:
        """Show a turn; what is recorded has been shown."""
        async with aclosing(events):
            async for event in events:
                if event.transient:
                    self._demo.show(event)

    async def settle(self, session: Session) -> None:
        """Deliver what arrives, as front ends do, until nothing runs."""
        while session.inbox.waking or session.background.agents_work:
            if session.inbox.waking:
                await self.turn(session.deliver())
            else:
                await self.until("the end of the work", lambda: not self._works(session))

    def _works(self, session: Session) -> bool:
        """Nothing can be delivered yet, and something will come."""
        return session.background.agents_work and not session.inbox.waking

    async def join(self, session: Session, *names: str) -> None:
        """Members that are idle, each in a worktree, as `harness run --goal` has them."""
        for name in names:
            tools = session.subagents.tools_for("", None)
            await session.background.team.join(MemberDraft(name, tools, worktree=True))

    async def show_status(self, session: Session) -> None:
        """Show what /status says about the work."""
        facts = await work_facts(session)
        self._demo.show(Notice("info", "; ".join(f"{name}: {value}" for name, value in facts.items())))

    def show_end(self, session: Session) -> None:
        """Show what a closed session has left."""
        counts = session.processes.counts
        left = counts.started - counts.exited - counts.terminated - counts.killed
        self._demo.show(Notice("info", f"closed; processes that still run: {left}"))

    def open_gate(self, name: str) -> None:
        """Let the command go on that waits for this file."""
        (self._demo.workspace / f"{name}.gate").touch()
