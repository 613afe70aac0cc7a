"""Everything at once for eight hours of a clock, and with any one part killed at any event."""

import asyncio
import gc
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path

import psutil
import pytest

from harness.events import CompactionEnded, Event, JobFired, TransitionCode, TurnEnded
from harness.journal import read
from harness.practice.faults.model_orders import order_of
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Opening, Session, open_session
from harness.settings import LoadedSettings
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import STARTED, calls, left_running, says, settings_of
from tests.agent.test_permission_rules import bash
from tests.agent.test_task_board import call
from tests.agent.test_team import message, of_member, start
from tests.engine.hand_clock import HandClock
from tests.mcp.conftest import practice
from tests.whole import WHOLE

pytestmark = [pytest.mark.anyio, pytest.mark.stories]

FOREVER = '\ntimes = "forever"\n'
STEP_S, HOUR_S, HOURS = 600.0, 3_600.0, 8
SHORTEST_S = 60.0
"""Sleeps up to this long are those of retries and of looks; they end by themselves, quickly."""


def of_lead(entry: str, text: str) -> str:
    return f'{entry.rstrip()}\nwhen = {{ text = "{text}", offers = "team_start" }}{FOREVER}'


def of_ann(entry: str, text: str) -> str:
    return of_member(entry, text).rstrip() + FOREVER


STORM = "[server]\nwindow = 40000\n[chance]\nprobability = 0.2\nseed = 8\n"
DAY = (
    calls(call("schedule_create", when="*/10 * * * *", prompt="Look at the water."), start("ann"))
    + says("The day begins.")
    + of_ann(says("I am here."), "Look.")
    + of_lead(calls(call("mcp__p__echo", text="3 metres"), message("ann", "How is the lamp?")), "Look at the water.")
    + of_lead(says("I look after it."), "to ann is in the mailbox")
    + of_ann(calls(bash("echo it burns")), "How is the lamp?")
    + of_ann(says("The lamp burns."), "it burns")
    + '[[reply]]\nwhen = { purpose = "summary" }\ntext = "The water was at 3 metres."'
    + FOREVER
    + '[[reply]]\ntext = "Good."'
    + FOREVER
)


class DayClock(HandClock):
    """Moved by the test; short sleeps end by themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.time = STARTED

    async def sleep(self, seconds: float) -> None:
        if seconds > SHORTEST_S:
            await super().sleep(seconds)
        else:
            await asyncio.sleep(seconds / 1_000)


class Everything:
    """A session with everything, whose events are counted."""

    def __init__(self, loaded: LoadedSettings, clock: DayClock) -> None:
        self._loaded, self.clock = loaded, clock
        self.seen: list[Event] = []
        self.changed = asyncio.Event()
        self.on_event: Callable[[int], None] = lambda number: None

    def _record(self, event: Event, at: float) -> None:
        self.seen.append(event)
        self.changed.set()
        self.on_event(len(self.seen))

    @asynccontextmanager
    async def opened(self, opening: Opening | None = None) -> AsyncIterator[Session]:
        session = await open_session(self._loaded, AnsweringUser(), opening, observer=self._record, clock=self.clock)
        session.inbox.notify(self.changed.set)
        try:
            assert session.mcp is not None
            await session.mcp.settle(60.0)
            yield session
        finally:
            await session.aclose()

    async def turn(self, session: Session, prompt: str = "") -> None:
        async with aclosing(session.run(prompt) if prompt else session.deliver()) as events:
            async for _ in events:
                pass

    async def settle(self, session: Session) -> None:
        """Deliver what arrives, until nothing works."""
        while session.inbox.waking or session.background.agents_work:
            self.changed.clear()
            if session.inbox.waking:
                await self.turn(session)
            elif session.background.agents_work:
                await asyncio.wait_for(self.changed.wait(), 120)

    def count(self, kind: type[Event]) -> int:
        return sum(isinstance(event, kind) for event in self.seen)


def everything(folder: Path, address: str) -> Everything:
    settings = {"team": True, "board": "session", "schedule_tools": True, "mcp_servers": {"p": practice()}}
    loaded = settings_of(folder, address, compact_at="14000", shared_admission=False, **settings)
    return Everything(loaded, DayClock())


@pytest.mark.timeout(900)
async def test_eight_hours_in_a_storm_leave_no_more_behind_than_one(tmp_path: Path) -> None:
    """Most descriptors, tasks and timers: in the last two hours no more than in the third and fourth."""
    script = STORM + DAY
    async with PracticeServer(script=Script.parse(script), remember=0) as server:
        here, samples = everything(tmp_path, server.base_url), list[tuple[int, int, int]]()
        async with here.opened() as session:
            await here.turn(session, "Begin the day.")
            await here.settle(session)
            here.clock.move(STEP_S / 2)  # a job fires a little after its time
            for number in range(1, int(HOURS * HOUR_S / STEP_S) + 1):
                here.clock.move(STEP_S)
                while here.count(JobFired) < number:
                    here.changed.clear()
                    await asyncio.wait_for(here.changed.wait(), 120)
                await here.settle(session)
                here.seen = [event for event in here.seen if isinstance(event, JobFired)]
                samples.append(now())
            ends = [event for event in read_events(session) if isinstance(event, TurnEnded)]
        assert {end.code for end in ends} == {TransitionCode.COMPLETED}
        assert len(ends) >= HOURS * HOUR_S / STEP_S
        assert sum(isinstance(event, CompactionEnded) for event in read_events(session)) >= 3, "or the history grows"
        quarter = len(samples) // 4
        second, last = (list(zip(*part, strict=True)) for part in (samples[quarter : 2 * quarter], samples[-quarter:]))
        for name, before, after in zip(("descriptors", "tasks", "timers"), second, last, strict=True):
            assert max(after) <= max(before) + 2, (name, samples)


def now() -> tuple[int, int, int]:
    """Open descriptors, tasks, timers."""
    gc.collect()
    loop = asyncio.get_running_loop()
    timers = sum(not timer.cancelled() for timer in loop._scheduled)  # type: ignore[attr-defined]
    return psutil.Process().num_fds(), len(asyncio.all_tasks()), timers


def read_events(session: Session) -> list[Event]:
    return [record.event for record in read(session.path).records]


KILLABLE = ("server", "member", "command", "model")
SHORT = (
    calls(
        call("task_create", tasks=[{"subject": "Look"}]),
        bash("exec sleep 1000").replace("input = {", "input = { background = true,"),
        start("ann"),
    )
    + calls(call("mcp__p__echo", text="3 metres"), call("mcp__p__append", text="4 metres"))
    + calls(message("ann", "How is the lamp?"), call("task_list", status="all"))
    + says("Asked.")
    + of_ann(calls(bash("echo it burns")), "Look.")
    + of_ann(says("The lamp burns."), "it burns")
    + of_ann(says("It burns, as I said."), "How is the lamp?")
    + '[[reply]]\ntext = "Good."'
    + FOREVER
)
POINTS = tuple(range(5, 120, 1 if WHOLE else 23))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", KILLABLE)
@pytest.mark.parametrize("point", POINTS)
async def test_any_part_killed_at_any_event_leaves_the_rest_going_on(tmp_path: Path, part: str, point: int) -> None:
    """Every turn ends with an answer, no request is refused, nothing is left running, and the session resumes."""
    async with PracticeServer(script=Script.parse(SHORT), remember=0) as server:
        here = everything(tmp_path, server.base_url)
        async with here.opened() as session:

            def kill(number: int) -> None:
                if number == point:
                    asyncio.get_running_loop().call_soon(lambda: killed(part, session, server))

            here.on_event = kill
            await here.turn(session, "Begin.")
            await here.settle(session)
            await here.turn(session, "And now?")
            await here.settle(session)
            settings = session.settings
        assert len(here.seen) > point
        async with here.opened(Opening("latest")) as again:
            await here.turn(again, "Where are we?")
            await here.settle(again)
            ends = [event for event in read_events(again) if isinstance(event, TurnEnded)]
        assert {end.code for end in ends} == {TransitionCode.COMPLETED}, [end.reason for end in ends]
        assert left_running(settings) == []


def killed(part: str, session: Session, server: PracticeServer) -> None:
    """Kill a part if it is there."""
    match part:
        case "server":
            children = psutil.Process().children(recursive=True)
            found = [one for one in children if "mcp_server.py" in " ".join(one.cmdline())]
        case "command":
            pids = [row.pid for row in session.background.commands.rows if row.end is None and row.pid]
            found = [psutil.Process(pid) for pid in pids]
        case "member":
            for id in session.subagents.running:
                session.subagents.stop(id, "killed")
            return
        case _:
            order = order_of("reset")
            assert order is not None
            server.orders.add(order)
            return
    for process in found:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)
