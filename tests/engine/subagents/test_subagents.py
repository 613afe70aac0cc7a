"""Subagents: exactly one report per task, whatever happens to it, and nothing left behind."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.engine.admission.runner import AdmissionEntry
from harness.engine.conversation import Conversation
from harness.engine.inbox import Inbox
from harness.engine.subagents.fan_out import FanOutQuestions
from harness.engine.subagents.reports import SubagentSpec, SubagentState
from harness.engine.subagents.subagents import REMEMBERED, Subagents
from harness.events import (
    AdmissionPool,
    AgentCreated,
    AgentEnd,
    AgentEnded,
    Arrived,
    Event,
    Message,
    Origin,
    StepStarted,
    ToolOutcome,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
)
from harness.policies.admission.controller import AdmissionController, AdmissionLimits
from harness.tools.agent import AgentArguments
from harness.tools.tool import ToolContext, ToolResult
from harness.tools.workspace import Workspace
from tests.engine.cores import core_in
from tests.engine.hand_clock import HandClock, quiet

pytestmark = pytest.mark.anyio

ANSWERS = TransitionCode.COMPLETED
FAILS = TransitionCode.MODEL_ERROR


class Colleague:
    """An agent that says what the test wants, when the test wants it."""

    journal = ""

    def __init__(self, office: "Office", order: SubagentSpec) -> None:
        self._office = office
        self.order = order
        self.told: list[Event] = []
        self.conversation = Conversation(self.told.append, messages=order.messages)
        self.prompt = ""
        self.go = asyncio.Event()
        self.interrupted = False
        self.closed = 0

    async def run(self, prompt: str) -> AsyncGenerator[Event, None]:
        """One step, which costs ten cents, and an end."""
        self.prompt = prompt
        talk = self.conversation
        at = len(self.told)
        talk.emit(TurnStarted(1, prompt))
        talk.add("user", ({"type": "text", "text": prompt},), Origin.PROMPT)
        talk.emit(StepStarted(1))
        talk.add_spend(Usage(10, 5), 0.1, wasted=False)
        talk.add("assistant", ({"type": "text", "text": f"About {prompt}"},), Origin.REPLY)
        for event in self.told[at:]:
            yield event
            await asyncio.sleep(0)
        await self.go.wait()
        if self._office.breaks:
            raise ZeroDivisionError("a fault of ours")
        if self._office.shortens:
            talk.replace((Message("user", ({"type": "text", "text": "All in short."},)),), "compaction")
        code = TransitionCode.ABORTED_STREAMING if self.interrupted else self._office.code
        yield TurnEnded(1, code, "the reason", f"About {prompt}", Usage(10, 5), 0.1, 1, 1, 2.0)

    def deliver(self) -> AsyncGenerator[Event, None]:
        """The mail of a member."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """End soon."""
        self.interrupted = True
        self.go.set()

    async def aclose(self) -> tuple[()]:
        """Nothing is open."""
        self.closed += 1
        return ()


class Office:
    """Everything around the agents of one conversation, without a model."""

    def __init__(self, folder: Path, limits: AdmissionLimits | None = None, *, kept: bool = False) -> None:
        self.tasks = asyncio.all_tasks()
        self.events: list[Event] = []
        self.of_subagent: list[Colleague] = []
        self.refuses = ""
        self.code = ANSWERS
        self.breaks = self.shortens = self.hasty = False
        self.clock = HandClock()
        self.conversation = Conversation(self.events.append)
        core = core_in(
            folder,
            self.conversation,
            clock=self.clock,
            agents=folder / "agents" if kept else None,
            result_characters=10_000,
            shared_admission=False,
        )
        self.controller: AdmissionController[AdmissionEntry] = AdmissionController(
            limits or AdmissionLimits(), AdmissionPool.AGENTS
        )
        self.incoming = Inbox(self.conversation.emit)
        self.agents = Subagents(
            core, self.controller, self.incoming, FanOutQuestions(core), self.hire, tools=("grep", "bash")
        )
        self._context = ToolContext(Workspace(folder), folder / "outputs", "call")

    def hire(self, order: SubagentSpec) -> Colleague:
        """Another one."""
        if self.refuses:
            raise HarnessError(self.refuses)
        self.of_subagent.append(Colleague(self, order))
        if self.hasty:
            self.of_subagent[-1].go.set()
        return self.of_subagent[-1]

    async def ask(self, prompt: str = "it", **more: object) -> ToolResult:
        """What the tool does."""
        asked = AgentArguments.model_validate({"description": f"do {prompt}", "prompt": prompt, **more})
        return await self.agents.ask(self._context, asked)

    def asked(self, prompt: str = "it", **more: object) -> "asyncio.Task[ToolResult]":
        """Start the call without waiting for it."""
        return asyncio.create_task(self.ask(prompt, **more))

    def of(self, kind: type[AgentEnded]) -> list[AgentEnd]:
        """How agents ended, in that order."""
        return [event.end for event in self.events if isinstance(event, kind)]

    async def aclose(self) -> None:
        """As a crew does."""
        await self.agents.admission.aclose()
        await self.agents.aclose()

    def check(self) -> None:
        """One end for each task; what each has cost was paid once; every agent was let go of."""
        created = [event for event in self.events if isinstance(event, AgentCreated)]
        ends = [event for event in self.events if isinstance(event, AgentEnded)]
        assert sorted(event.agent for event in created) == sorted(event.agent for event in ends)
        assert self.conversation.spend.cost_usd == pytest.approx(sum(event.cost_usd for event in ends))
        assert self.conversation.spend.requests == sum(event.requests for event in ends)
        assert [one.closed for one in self.of_subagent] == [1] * len(self.of_subagent)
        sizes = self.controller.sizes()
        assert (sizes.running, sizes.queued, sizes.deferred) == (0, 0, 0)
        assert all(row.state is SubagentState.ENDED for row in self.agents.rows)


async def test_a_second_task_waits_and_a_third_takes_its_place_and_all_are_reported(tmp_path: Path) -> None:
    office = Office(tmp_path)
    first = office.asked("one")
    await quiet()
    second = office.asked("two", agent="a1")
    await quiet()
    (row,) = office.agents.rows
    assert row.state is SubagentState.RUNS  # waiting tasks do not hide running ones
    third = office.asked("three", agent="a1")
    await quiet()
    assert second.done()
    assert not first.done()
    assert "newer work for it took its place" in (await second).content
    assert office.agents.rows[0].state is SubagentState.RUNS
    office.of_subagent[0].go.set()
    assert (await first).content.startswith("About one")
    await quiet()
    office.of_subagent[1].go.set()
    assert (await third).content.startswith("About three")
    assert "About one" in str(office.of_subagent[1].order.messages)  # it continues from its earlier work
    assert office.of(AgentEnded) == [AgentEnd.NOT_STARTED, AgentEnd.ANSWERED, AgentEnd.ANSWERED]
    office.check()


async def test_a_user_stops_what_an_agent_does_and_what_it_waits_with(tmp_path: Path) -> None:
    office = Office(tmp_path)
    tasks = [office.asked("one")]
    await quiet()
    tasks.append(office.asked("two", agent="a1"))
    await quiet()
    assert office.agents.stop("a1")
    results = await asyncio.gather(*tasks)
    assert all("the user stopped it" in result.content for result in results)
    assert sorted(office.of(AgentEnded)) == [AgentEnd.CANCELLED, AgentEnd.NOT_STARTED]
    assert len(office.of_subagent) == 1
    assert not office.agents.stop("a1")
    office.check()
    again = office.asked("three", agent="a1")
    await quiet()
    office.of_subagent[1].go.set()
    assert "stopped" not in (await again).content


async def test_a_moved_agent_works_on_and_reports_once(tmp_path: Path) -> None:
    office = Office(tmp_path)
    call = office.asked("one")
    await quiet()
    assert office.agents.movable
    assert office.agents.move() == ("a1",)
    result = await call
    assert "moved agent a1 to the background. It was not restarted" in result.content
    assert (office.agents.running, office.agents.move(), len(office.of_subagent)) == (("a1",), (), 1)
    killed = list(office.events)
    office.of_subagent[0].go.set()
    await quiet()
    (arrived,) = office.incoming.waiting
    assert arrived.text.startswith('Agent a1, asked in the background to "do one", has ended.\n\nAbout one')
    office.check()
    later = Office(tmp_path)
    later.incoming.recall(killed)
    later.agents.recall(killed)
    (lost,) = later.incoming.waiting
    assert "it was at work when the session was left" in lost.text


async def test_an_agent_that_failed_five_times_in_a_row_rests_and_says_until_when(tmp_path: Path) -> None:
    office = Office(tmp_path)
    office.code, office.hasty = FAILS, True
    await office.ask()
    for _ in range(4):
        await office.ask(agent="a1")
    paused = await office.ask(agent="a1")
    assert len(office.of_subagent) == 5
    assert "a1 is paused until" in paused.content
    assert "failed 5 times in a row" in paused.content
    assert paused.outcome is ToolOutcome.ERROR
    office.clock.move(61.0)
    office.code = ANSWERS
    assert (await office.ask(agent="a1")).outcome is ToolOutcome.OK
    office.check()


async def test_an_agent_that_cannot_be_made_has_not_started_and_is_not_offered_again(tmp_path: Path) -> None:
    office = Office(tmp_path)
    office.refuses = "what agent a1 did before is not kept any more"
    result = await office.ask()
    assert result.content == (
        "The agent did not finish: it was never started, what agent a1 did before is not kept any more. "
        "Nothing was done."
    )
    assert office.of(AgentEnded) == [AgentEnd.NOT_STARTED]
    office.refuses, office.hasty = "", True
    await office.ask(agent="a1")
    assert not office.of_subagent[0].order.again  # no earlier work to continue
    office.check()


async def test_a_fault_of_ours_in_an_agent_is_reported_with_what_it_had_said_and_cost(tmp_path: Path) -> None:
    office = Office(tmp_path)
    office.breaks = office.hasty = True
    result = await office.ask()
    assert result.outcome is ToolOutcome.ERROR
    assert "ZeroDivisionError: a fault of ours" in result.content
    assert "About it" in result.content
    office.check()


@pytest.mark.parametrize("background", [False, True])
async def test_cancelled_at_any_moment_nothing_is_left_and_the_end_is_reported(
    tmp_path: Path, background: bool
) -> None:
    for rounds in range(24):
        office = Office(tmp_path, AdmissionLimits(max_concurrent=1, max_queue_size=1))
        tasks = [office.asked("one", background=background), office.asked("two", background=background)]
        await quiet(rounds)
        if rounds == 20:
            office.of_subagent[0].go.set()
            await quiet(2)
        if background:
            await asyncio.gather(*tasks)
            await office.aclose()
            assert len(office.incoming.waiting) == 2
        else:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await quiet()
        assert not office.agents.running
        office.check()
        await office.aclose()
        assert asyncio.all_tasks() == office.tasks


# ── how many are known ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kept", [False, True])
async def test_of_very_many_agents_the_last_are_listed_and_those_with_a_journal_may_continue(
    tmp_path: Path, kept: bool
) -> None:
    office = Office(tmp_path, kept=kept)
    office.hasty = True
    await asyncio.gather(*(office.ask(str(number)) for number in range(400)))
    assert len(office.agents.rows) == REMEMBERED
    assert office.controller.sizes().conversations == REMEMBERED
    result = await office.ask("more", agent="a7")
    assert result.outcome is (ToolOutcome.OK if kept else ToolOutcome.INVALID)
    assert office.of_subagent[-1].order.again == kept
    assert (await office.ask("more", agent="a401")).outcome is ToolOutcome.INVALID
    assert (await office.ask("more", agent="a٣")).outcome is ToolOutcome.INVALID
    office.check()
    await office.aclose()
    assert replace(office.controller.sizes(), conversations=0, watched=0) == office.controller.sizes()
    assert asyncio.all_tasks() == office.tasks


# ── a session that is gone on with ──────────────────────────────────────────────────────────────


async def test_whenever_the_program_is_killed_each_background_task_is_reported_exactly_once(tmp_path: Path) -> None:
    office = Office(tmp_path, kept=True)
    await office.ask("one", background=True)
    await quiet()
    await office.ask("two", agent="a1", background=True)
    foreground = office.asked("three")
    await quiet()
    office.of_subagent[0].go.set()
    office.of_subagent[1].go.set()
    await foreground
    await quiet(20)
    office.of_subagent[2].go.set()
    await quiet(20)
    journal = tuple(office.events)
    assert len([event for event in journal if isinstance(event, Arrived)]) == 2
    for length in range(len(journal) + 1):
        later = Office(tmp_path, kept=True)
        before = journal[:length]
        later.incoming.recall(before)
        later.agents.recall(before)
        whole = (*before, *later.events)
        wanted = [event.agent for event in before if isinstance(event, AgentCreated) and event.background]
        assert [event.source for event in whole if isinstance(event, Arrived)] == wanted
        created = sorted(event.agent for event in before if isinstance(event, AgentCreated))
        assert sorted(event.agent for event in whole if isinstance(event, AgentEnded)) == created
        numbers = [event.number for event in whole if isinstance(event, Arrived)]
        assert numbers == sorted(set(numbers))
        once_more = Office(tmp_path, kept=True)
        once_more.incoming.recall(whole)
        once_more.agents.recall(whole)
        assert once_more.events == []
        await later.aclose()
        await once_more.aclose()
    await office.aclose()
