"""A turn can be ended at every await, in every way, and the next prompt just works (F1, G4, J1)."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.agent import Agent
from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import NoAsker, WaitChoice
from harness.events import (
    Event,
    HistoryRepaired,
    MessageAdded,
    Origin,
    PermissionAsked,
    RequestSent,
    RetryScheduled,
    TextDelta,
    ToolCallDelta,
    ToolEnded,
    ToolOutcome,
    TransitionCode,
    TurnEnded,
    WaitOffered,
)
from harness.model.notices import INTERRUPTION_NOTE
from harness.permissions import PermissionAnswer, PermissionRequest
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.agent.stage import (
    Played,
    VirtualClock,
    calls,
    check_events,
    check_requests,
    fails,
    kept_text,
    left_running,
    played,
    ran_in,
    run,
    says,
    settings_of,
    shown_text,
    stage,
    summarises,
    too_long,
)
from tests.whole import WHOLE

pytestmark = pytest.mark.anyio

AGAIN = "Never mind; what is left to do?"
ABORTED = {TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS}
READ = '{ name = "read_file", input = { path = "note.txt" } }'
FIND = '{ name = "glob", input = { pattern = "*.txt" } }'
SLOW = '{ name = "bash", input = { command = "sleep 0.02; echo slow >> ran.txt" } }'
RICH = (
    f"[[reply]]\nwhen = {{ text = '{AGAIN}' }}\ntext = 'Nothing.'\ntimes = 'forever'\n"
    + calls(READ, FIND, run("first"), text="I look into the note and the folder.", chunk="25")
    + fails(529)
    + calls(SLOW, READ, text="Once more, slowly.", chunk="25")
    + too_long()
    + "\n[[reply]]\nwhen = { purpose = 'summary' }\nstatus = 529\n"
    + summarises()
    + says("The note says forty-two, and nothing else needs to be done.", chunk="25", fault='"reset"')
    + says("The note says forty-two, and nothing else needs to be done.", chunk="25")
)
"""Parallel tools, a permission question, two waits for a retry, a compaction, a broken stream, streamed text."""


class SlowUser(NoAsker):
    """Says yes, but only after the front end has shown the question."""

    present = True

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """Yes, once."""
        await self.asked.wait()
        return PermissionAnswer("once")

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Wait."""
        return "wait"


class SlowClock(VirtualClock):
    """A wait is over as soon as the front end has shown it."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Wait for the front end, not for time."""
        await self.shown.wait()
        await super().sleep(seconds)


@dataclass
class Tape:
    """Replaces the journal and receives each event at once."""

    emitted: list[Event] = field(default_factory=list)
    at_emission: Callable[[], None] | None = None

    def record(self, event: Event) -> None:
        """Take the event, then do what the test wants to do at this very moment."""
        self.emitted.append(event)
        if self.at_emission is not None:
            self.at_emission()


@dataclass
class Scene:
    """An agent in the middle of the rich scenario."""

    agent: Agent
    server: PracticeServer
    user: SlowUser
    clock: SlowClock
    tape: Tape

    def shown(self, event: Event) -> None:
        """Show an event as a front end does; then the user and the clock continue."""
        for kind, going_on in ((PermissionAsked, self.user.asked), (RetryScheduled, self.clock.shown)):
            if isinstance(event, kind):
                going_on.set()

    async def whole(self) -> Played:
        """Play the turn to its end."""
        return await played(self.agent.run("What does the note say?"), self.shown)

    async def next_prompt_works(self) -> None:
        """The same agent takes the next prompt, and all that was sent so far is well."""
        self.tape.at_emission = None
        workspace = self.agent.parts.core.settings.workspace
        assert left_running(self.agent.parts.core.settings) == []
        turn = await played(self.agent.run(AGAIN), self.shown)
        assert (turn.end.code, turn.end.answer) == (TransitionCode.COMPLETED, "Nothing.")
        check_requests(self.server.requests)
        assert set(ran_in(workspace).values()) <= {1}


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    folder.mkdir()
    async with PracticeServer(script=Script.parse(RICH)) as server:
        settings = settings_of(folder, server.base_url, permission_mode="ask").settings
        (settings.workspace / "note.txt").write_text("forty-two\n")
        user, clock = SlowUser(), SlowClock()
        tape = Tape()
        async with Agent(settings, asker=user, conversation=Conversation(tape.record), clock=clock) as agent:
            yield Scene(agent, server, user, clock, tape)


async def test_nothing_is_wrong_with_the_scenario_itself(tmp_path: Path) -> None:
    async with scene(tmp_path / "whole") as here:
        turn = await here.whole()
        assert turn.codes == [
            TransitionCode.NEXT_TURN,
            TransitionCode.NEXT_TURN,
            TransitionCode.REACTIVE_COMPACT_RETRY,
            TransitionCode.COMPLETED,
        ]
        assert ran_in(here.agent.parts.core.settings.workspace) == {"first": 1, "slow": 1}
        check_events(turn.events, len(here.server.requests))


async def number_of_events(folder: Path) -> int:
    async with scene(folder) as here:
        return len((await here.whole()).events)


def some(numbers: range, begin: int) -> range:
    """Every 24th when not all are played. Each of the three ways to end a turn begins elsewhere, so that
    every eighth event is played in one of them."""
    return numbers if WHOLE else numbers[2 * begin :: 24]


async def test_an_interruption_at_any_event_ends_the_turn_and_nothing_is_lost(tmp_path: Path) -> None:
    count = await number_of_events(tmp_path / "count")
    for number in some(range(1, count + 1), 0):
        async with scene(tmp_path / str(number)) as here:

            def interrupt(here: Scene = here, number: int = number) -> None:
                if len(here.tape.emitted) == number:
                    here.agent.interrupt()

            here.tape.at_emission = interrupt
            turn = await here.whole()
            assert turn.events == here.tape.emitted
            check_interrupted(turn, number)
            await here.next_prompt_works()
            check_requests_counted(here)


def check_interrupted(turn: Played, number: int) -> None:
    """`number`: of the event at which the user interrupted."""
    before, after = turn.events[:number], turn.events[number:]
    ended_before = bool(Played(before).codes) and Played(before).codes[-1] is turn.end.code
    if turn.end.code is TransitionCode.COMPLETED:
        assert not any(isinstance(event, RequestSent | TextDelta) for event in after)
    else:
        assert turn.end.code in ABORTED
        assert not ended_before or turn.codes == Played(before).codes
        assert not any(isinstance(event, RequestSent) for event in after)
        note = [event for event in turn.of(MessageAdded) if event.origin is Origin.REPAIR]
        assert [event.message.text for event in note] == [INTERRUPTION_NOTE]
    assert len(turn.of(TurnEnded)) == 1
    assert kept_text(turn.events) == shown_text(turn.events)
    for event in after:
        if isinstance(event, ToolEnded) and turn.end.code in ABORTED:
            assert event.outcome in (ToolOutcome.CANCELLED, ToolOutcome.OK, ToolOutcome.DENIED)


def check_requests_counted(here: Scene) -> None:
    """Each request is announced; one that is interrupted in that moment is not sent."""
    announced = sum(isinstance(event, RequestSent) for event in here.tape.emitted)
    assert announced - len(here.server.requests) in (0, 1)
    assert here.agent.conversation.spend.requests == announced


async def test_closing_the_iterator_at_any_event_leaves_a_working_agent(tmp_path: Path) -> None:
    count = await number_of_events(tmp_path / "count")
    for number in some(range(1, count), 4):
        async with scene(tmp_path / str(number)) as here:
            events = here.agent.run("What does the note say?")
            for _ in range(number):
                here.shown(await anext(events))
            await events.aclose()
            emitted = len(here.tape.emitted)
            assert left_running(here.agent.parts.core.settings) == []
            assert len(here.tape.emitted) == emitted
            await here.next_prompt_works()


async def test_cancelling_the_task_at_any_event_leaves_a_working_agent(tmp_path: Path) -> None:
    count = await number_of_events(tmp_path / "count")
    for number in some(range(1, count), 8):
        async with scene(tmp_path / str(number)) as here:
            task = asyncio.ensure_future(here.whole())

            def cancel(here: Scene = here, number: int = number, task: asyncio.Task[Played] = task) -> None:
                if len(here.tape.emitted) == number:
                    task.cancel()

            here.tape.at_emission = cancel
            await asyncio.wait({task})
            assert task.cancelled() or task.result().end.code is TransitionCode.COMPLETED
            await here.next_prompt_works()


async def test_an_interruption_or_a_cancellation_at_any_time_leaves_a_working_agent(tmp_path: Path) -> None:
    dice = random.Random(0)
    for number in range(16 if WHOLE else 4):
        async with scene(tmp_path / f"interrupted {number}") as here:
            timer = asyncio.get_running_loop().call_later(dice.uniform(0, 0.15), here.agent.interrupt)
            turn = await here.whole()
            timer.cancel()
            assert turn.end.code in ABORTED | {TransitionCode.COMPLETED}
            assert kept_text(turn.events) == shown_text(turn.events)
            await here.next_prompt_works()
        async with scene(tmp_path / f"cancelled {number}") as here:
            task = asyncio.ensure_future(here.whole())
            await asyncio.wait({task}, timeout=dice.uniform(0, 0.15))
            task.cancel()
            await asyncio.wait({task})
            await here.next_prompt_works()


async def test_the_text_that_had_arrived_is_sent_with_the_next_prompt(tmp_path: Path) -> None:
    script = says("One two three four five.", chunk="4", event_delay="0.05") + says("Six.")
    async with stage(tmp_path, script) as here:
        turn = await here.turn(on_event=lambda event: here.agent.interrupt() if isinstance(event, TextDelta) else None)
        assert turn.end.answer == "One "
        assert (await here.turn("Go on.")).end.answer == "Six."
        sent = here.bodies[-1]["messages"]
        assert [message["role"] for message in sent] == ["user", "assistant", "user"]
        assert [block["text"] for block in sent[1]["content"]] == ["One "]
        assert [block["text"] for block in sent[2]["content"]] == [INTERRUPTION_NOTE, "Go on."]


async def test_an_interruption_after_thinking_and_a_call_needs_no_repair(tmp_path: Path) -> None:
    script = f'\n[[reply]]\nthinking = "I need a tool."\ntools = [{run("one")}, {run("two")}]\nevent_delay = 0.01\n'
    async with stage(tmp_path, script + says("Well.")) as here:
        written: list[int] = []

        def stop_at_the_second_call(event: Event) -> None:
            if isinstance(event, ToolCallDelta):
                if event.characters == 0 and any(written):
                    here.agent.interrupt()
                written.append(event.characters)

        await here.turn(on_event=stop_at_the_second_call)
        assert any(written)
        assert (await here.turn("And?")).of(HistoryRepaired) == []
