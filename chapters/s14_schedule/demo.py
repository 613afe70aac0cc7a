"""s14: a schedule by a clock that the demo sets. Days pass in a second; jobs, file and turns are real."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from chapters.course import DemoSession
from harness.base.concurrency import in_thread
from harness.engine.conversation import Conversation
from harness.engine.inbox import Inbox
from harness.engine.schedule.runner import ScheduleRunner
from harness.engine.schedule.tools import schedule_tools
from harness.events import Event, JobFired, Notice
from harness.schedule.store import ScheduleStore
from harness.slots.store import this_process

if TYPE_CHECKING:
    from harness.agent import Agent

ZONE = ZoneInfo("Europe/Berlin")
FRIDAY = "2027-03-26 08:58"


def moment(text: str) -> float:
    """A local time as Unix time."""
    return datetime.fromisoformat(text).replace(tzinfo=ZONE).timestamp()


class DemoClock:
    """Shows the time that the demo sets. Sleepers wake when their time is reached."""

    def __init__(self, at: float) -> None:
        self._at = at
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Unix time in seconds."""
        return self._at

    def sleep(self, seconds: float) -> Coroutine[object, object, None]:
        """Return after `seconds` of this clock, counted from the call."""
        return self._until(self._at + seconds)

    async def _until(self, at: float) -> None:
        while self._at < at:
            await self._moved.wait()

    def set(self, text: str) -> None:
        """Move the hands to a local time."""
        self._at = moment(text)
        self._moved.set()
        self._moved = asyncio.Event()


TIMES = ("2027-03-26 09:01", "2027-03-27 02:45", "2027-03-28 03:10", "2027-03-31 10:00")
"""The kettle; a night; the night when the clocks change; three nights while the machine slept."""
BAD_NIGHTS = ("2027-04-01 02:45", "2027-04-02 02:45", "2027-04-03 02:45")
"""The model fails each time."""


def inbox_of(agent: "Agent") -> Inbox:
    """Where prompts wait for the next turn."""
    assert agent.parts.background is not None
    return agent.parts.background.inbox


class Schedule:
    """The jobs, and what happens with them."""

    def __init__(self, session: DemoSession) -> None:
        self.clock = DemoClock(moment(FRIDAY))
        self.conversation = Conversation(self._record)
        self._session = session
        self._path = session.outputs("schedule.sqlite")
        self._fired = asyncio.Event()
        self._in_turn = False
        self.ours: ScheduleRunner | None = None

    def begin(self, inbox: Inbox) -> ScheduleRunner:
        """Our jobs; `inbox` is the agent's."""
        self.ours = ScheduleRunner(self.store("first"), inbox, self.clock, emit=self.conversation.emit, zone=ZONE)
        return self.ours

    def store(self, name: str) -> ScheduleStore:
        """The file with the jobs, as a program with this name uses it."""
        return ScheduleStore(self._path, this_process(name), clock=self.clock)

    async def another_program_looks(self) -> None:
        """Another program opens the same file and would fire the due jobs."""
        other = self.store("other")
        may = await in_thread(other.own)
        other.close()
        self._session.show(Notice("info", f"another program may fire the lasting jobs: {'yes' if may else 'no'}"))

    def _record(self, event: Event) -> None:
        if not self._in_turn:
            self._session.show(event)
        if isinstance(event, JobFired):
            self._fired.set()
        if self.ours is not None:
            self.ours.on_event(event)

    async def turn(self, events: AsyncGenerator[Event, None]) -> None:
        """Show a turn."""
        self._in_turn = True
        await self._session.watch(events)
        self._in_turn = False
        if self.ours is not None:
            await self.ours.written()

    async def fired(self, text: str) -> None:
        """Set the clock to a time at which a job fires."""
        self._session.show(Notice("info", f"It is {text} now."))
        self._fired.clear()
        self.clock.set(text)
        await self._fired.wait()


async def demo(session: DemoSession) -> None:
    """The model makes the jobs on a Friday; then time passes, and another program looks at the same jobs."""
    schedule, prompts = Schedule(session), session.prompts()
    tools = schedule_tools(lambda: schedule.ours or schedule.begin(inbox_of(agent)))
    async with session.agent(
        session.settings(permission_mode="yolo"), conversation=schedule.conversation, tools=tools
    ) as agent:
        ours = schedule.begin(inbox_of(agent))
        try:
            await schedule.turn(agent.run(await anext(prompts)))
            for time in (*TIMES, *BAD_NIGHTS):
                await schedule.fired(time)
                if time == TIMES[1]:
                    await schedule.another_program_looks()
                await schedule.turn(agent.deliver())
            async for prompt in prompts:
                await schedule.turn(agent.run(prompt))
        finally:
            await ours.aclose()
