"""A whole session's agents and background commands, after everything in any order: nothing is left.

Admission, the queue of arrivals, agents and commands are the real ones, on a real loop. Only the work is cheap: an
agent answers when the test says so, and a command has no process.
"""

import asyncio
import gc
import itertools
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import cast
from weakref import WeakSet

import pytest

from harness.base.errors import HarnessError
from harness.engine.background.commands import NotHandedOver
from harness.engine.build.agent import background_of
from harness.engine.conversation import Conversation
from harness.engine.subagents.reports import SubagentSpec
from harness.engine.subagents.subagents import REMEMBERED
from harness.events import (
    AgentCreated,
    AgentEnd,
    AgentEnded,
    ArrivalKind,
    Arrived,
    CommandCreated,
    CommandEnd,
    CommandEnded,
    CommandHandedOver,
    Delivered,
    Event,
    Message,
    MessageAdded,
    MovedToBackground,
    Origin,
    StepStarted,
    TransitionCode,
    TurnEnded,
    Usage,
    WorkAdmitted,
    WorkReleased,
)
from harness.processes import Processes, ProcessResult
from harness.tools.agent import AgentArguments
from harness.tools.background_commands import CommandState
from harness.tools.tool import ToolContext
from harness.tools.workspace import Workspace
from tests.agent.stage import settings_of
from tests.engine.admission.callers import NOTHING
from tests.engine.cores import core_with
from tests.engine.hand_clock import HandClock, quiet
from tests.policies.admission.oracle import balanced
from tests.whole import WHOLE

pytestmark = pytest.mark.anyio

OPERATIONS = 10_000 if WHOLE else 2_000
HAPPENS = (
    *("ask", "ask", "ask in the background", "ask in the background", "go on", "continue in the background", "storm"),
    *("answer", "answer", "answer", "answer", "fail", "fail", "raise", "cancel", "stop agent", "move"),
    *("start", "start", "start", "exit", "exit", "exit", "exit", "stop command", "hand over"),
    *("deliver", "time", "time"),
)


class Broken(Exception):  # noqa: N818 (what it says of the agent)
    """What an agent raises that fails in an unforeseen way."""


class CheapWorker:
    """An agent that does nothing until the test says how it ends."""

    journal = ""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.conversation = Conversation(lambda event: None, messages=messages)
        self.end: asyncio.Future[TransitionCode] = asyncio.get_running_loop().create_future()
        self.closed = False

    async def run(self, prompt: str) -> AsyncGenerator[Event, None]:
        """Take the task."""
        yield StepStarted(1)
        code = await self.end
        yield MessageAdded(Message("assistant", ({"type": "text", "text": "It is so."},)), Origin.REPLY)
        yield TurnEnded(1, code, "the test says so", "It is so.", Usage(), 0.0, 1, 1, 1.0)

    def deliver(self) -> AsyncGenerator[Event, None]:
        """The mail of a member."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """End the turn."""
        if not self.end.done():
            self.end.set_result(TransitionCode.ABORTED_STREAMING)

    async def aclose(self) -> tuple[()]:
        """Nothing is its own."""
        self.closed = True
        return ()


class CheapChild:
    """A command without a process."""

    held_s = 0.0

    def __init__(self, pid: int, output: Path) -> None:
        self.pid, self.output, self.handed_over = pid, output, False
        self.exit: asyncio.Future[ProcessResult] = asyncio.get_running_loop().create_future()

    @property
    def ended(self) -> bool:
        """Whether `wait` returns at once."""
        return self.exit.done()

    async def wait(self) -> ProcessResult:
        """Wait for the end."""
        return await asyncio.shield(self.exit)

    async def end(self) -> ProcessResult:
        """End it."""
        await asyncio.sleep(0)
        if not self.exit.done():
            self.exit.set_result(ProcessResult(-15))
        return await self.wait()

    def hand_over(self) -> None:
        """No longer ours."""
        self.handed_over = True


class CheapProcesses:
    """Starts such children."""

    def __init__(self) -> None:
        self.all: WeakSet[CheapChild] = WeakSet()
        self._pids = itertools.count(1_000)

    @property
    def children(self) -> list[CheapChild]:
        """Those that live and are ours."""
        living = [child for child in self.all if not child.ended and not child.handed_over]
        return sorted(living, key=lambda child: child.pid)

    async def start(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        output: Path,
        **_: object,
    ) -> CheapChild:
        """Begin one, whatever it may do."""
        child = CheapChild(next(self._pids), output)
        self.all.add(child)
        return child

    async def aclose(self) -> tuple[()]:
        """End all."""
        for child in self.children:
            await child.end()
        return ()


class Session:
    """The background work of one conversation, and its events."""

    def __init__(self, folder: Path) -> None:
        loaded = settings_of(folder, "http://127.0.0.1:9", shared_admission=False, background_timeout_s=120.0)
        self.others = asyncio.all_tasks()
        self.clock, self.processes = HandClock(), CheapProcesses()
        self.events: list[Event] = []
        self.workers: WeakSet[CheapWorker] = WeakSet()
        self.callers: set[asyncio.Task[object]] = set()
        log = logging.getLogger("cheap subagents")
        log.setLevel(logging.CRITICAL)
        processes = cast("Processes", self.processes)
        core = core_with(
            loaded.settings,
            Conversation(self.events.append),
            processes=processes,
            clock=self.clock,
            log=log,
            outputs=folder / "outputs",
        )
        self.work = background_of(core, self._create, ("bash",))
        self._context = ToolContext(Workspace(loaded.settings.workspace), core.outputs, "toolu_1", processes)

    def happens(self, what: str, dice: Random) -> None:
        """One action on one subagent."""
        agents, commands = self.work.subagents, self.work.commands
        working, children = self.working, self.processes.children
        match what:
            case "ask" | "ask in the background":
                self._ask(background=what != "ask")
            case "storm" if not self.work.admission[0].deferred:
                for _ in range(dice.randrange(30)):
                    self._ask(background=dice.random() < 0.5)
            case "go on" | "continue in the background" if agents.known:
                self._ask(agent=dice.choice(agents.known), background=what != "go on")
            case "answer" if working:
                dice.choice(working).end.set_result(TransitionCode.COMPLETED)
            case "fail" if working:
                codes = (TransitionCode.MAX_TURNS, TransitionCode.MODEL_ERROR, TransitionCode.LOOP_STOPPED)
                dice.choice(working).end.set_result(dice.choice(codes))
            case "raise" if working:
                dice.choice(working).end.set_exception(dice.choice((Broken(), HarnessError("no"))))
            case "cancel" if waiting := [task for task in self.callers if not task.done()]:
                dice.choice(sorted(waiting, key=lambda task: task.get_name())).cancel()
            case "move":
                agents.move()
            case "stop agent" if agents.known:
                agents.stop(dice.choice(agents.known))
            case "start":
                self._calls(commands.start("make", "toolu_1", dice.choice((None, 30.0))))
            case "exit" if children:
                dice.choice(children).exit.set_result(ProcessResult(dice.choice((0, 1))))
            case "stop command" if rows := [row for row in commands.rows[-30:] if row.state is not CommandState.ENDED]:
                self._calls(commands.stop(dice.choice(rows).id, notify=dice.random() < 0.5))
            case "hand over" if rows := [row for row in commands.rows[-30:] if row.state is CommandState.RUNS]:
                try:
                    commands.hand_over(dice.choice(rows).id)
                except NotHandedOver:
                    return  # it ends at this moment
            case "deliver":
                self.work.deliver()
            case "time":
                self.clock.move(dice.choice((0.5, 1.0, 10.0, 61.0)))

    @property
    def working(self) -> list[CheapWorker]:
        """The working agents without a chosen end."""
        living = [worker for worker in self.workers if not worker.end.done()]
        return sorted(living, key=id)

    def check(self) -> None:
        """What holds at every moment."""
        assert len(self.working) <= 5
        assert len(self.processes.children) <= self.work.admission[1].limits.max_concurrent
        for status in self.work.admission:
            assert len(status.running) <= status.limits.max_concurrent
            assert len(status.queued) <= status.limits.max_queue_size
            assert balanced(status.counts)

    async def ends(self) -> None:
        """Cancel all waiting calls and close the work while everything else runs."""
        for task in self.callers:
            task.cancel()
        await asyncio.gather(*self.callers, return_exceptions=True)
        self.callers.clear()
        await self.work.aclose()
        await quiet()

    def _create(self, order: SubagentSpec) -> CheapWorker:
        worker = CheapWorker(order.messages)
        self.workers.add(worker)
        return worker

    def _ask(self, agent: str | None = None, *, background: bool) -> None:
        task = AgentArguments(description="look", prompt="Look.", agent=agent, background=background)
        self._calls(self.work.subagents.ask(self._context, task))

    def _calls(self, call: Coroutine[None, None, object]) -> None:
        task: asyncio.Task[object] = asyncio.create_task(call)
        self.callers.add(task)
        task.add_done_callback(self.callers.discard)


@pytest.mark.parametrize("seed", range(5 if WHOLE else 1))
async def test_after_thousands_of_things_a_session_that_is_closed_leaves_nothing(seed: int, tmp_path: Path) -> None:
    dice, session = Random(seed), Session(tmp_path)
    for _ in range(OPERATIONS):
        session.happens(dice.choice(HAPPENS), dice)
        await quiet(2)
        session.check()
    for what in ("ask in the background", "start") * 10:
        session.happens(what, dice)
    await quiet()
    await session.ends()
    check_told(session.events)
    # Timers, tasks, children, and entries of every map.
    assert session.clock.sleepers == []
    assert asyncio.all_tasks() - session.others == set()
    assert session.processes.children == []
    assert session.work.subagents.running == ()
    assert len(session.work.subagents.known) <= REMEMBERED
    for runner in (session.work.subagents.admission, session.work.commands.admission):
        runner._controller.sweep((), session.clock.now())
        assert runner._controller.sizes() == NOTHING
    gc.collect()
    assert len(session.workers) == len(session.processes.all) == 0


def check_told(events: Sequence[Event]) -> None:
    """Every request has one end, and each result without a waiting call arrived once."""
    told = Counter(type(event) for event in events)
    assert told[WorkAdmitted] == told[WorkReleased] > OPERATIONS / 10
    agents = Counter(event.agent for event in events if isinstance(event, AgentCreated))
    assert agents == Counter(event.agent for event in events if isinstance(event, AgentEnded))
    commands = [event.command for event in events if isinstance(event, CommandCreated)]
    over = [event.command for event in events if isinstance(event, CommandEnded | CommandHandedOver)]
    assert sorted(over) == sorted(commands)
    arrived = Counter(
        event.source for event in events if isinstance(event, Arrived) and event.kind is not ArrivalKind.COMMAND_QUIET
    )
    background = Counter(event.agent for event in events if isinstance(event, AgentCreated) and event.background)
    background += Counter(event.work for event in events if isinstance(event, MovedToBackground))
    silent = {event.command for event in events if isinstance(event, CommandEnded) and event.reported}
    assert arrived == background + Counter(set(commands) - silent)
    delivered = [number for event in events if isinstance(event, Delivered) for number in event.numbers]
    assert sorted(delivered) == list(range(1, len(delivered) + 1))  # agents come before commands
    ends = {event.end for event in events if isinstance(event, AgentEnded | CommandEnded)}
    assert ends >= {AgentEnd.ANSWERED, AgentEnd.LIMIT, AgentEnd.STUCK, AgentEnd.FAILED, AgentEnd.CANCELLED}
    assert ends >= {CommandEnd.EXITED, CommandEnd.STOPPED, CommandEnd.TIMED_OUT, CommandEnd.SHUT_DOWN}
    assert told[CommandHandedOver]
