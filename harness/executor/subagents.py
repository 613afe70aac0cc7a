"""Agents that work for an agent: who they are, what each does now, and what comes of it (facts/lessons.md, s06).

A subagent is an agent like any other, with its own history, tools, breakers, recovery and escape. What it shares with
the one that asked is the person, the permissions, the money, the connection to the model and the gate, which lets few
of them work at a time. None of them can ask for further ones.

Whatever happens to one, whoever asked gets exactly one report, and only an answer is called an answer.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Protocol

from harness.clock import Clock
from harness.conversation import Conversation
from harness.errors import HarnessError
from harness.events import (
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    ArrivalKind,
    Event,
    Message,
    PermissionAnswered,
    PermissionAsked,
    RetryScheduled,
    SpendChanged,
    StepStarted,
    ToolOutcome,
    ToolStarted,
    TurnEnded,
)
from harness.executor.agent_reports import Report, report_of, said, told
from harness.executor.asker import Asker, OnBehalf
from harness.executor.gating import Gating, NotAdmitted
from harness.executor.incoming import Incoming
from harness.model import agent_texts
from harness.tools.delegating import TaskArguments
from harness.tools.output import shorten
from harness.tools.tool import ToolContext, ToolResult, shorten_line
from harness.uninterrupted import uninterrupted

REMEMBERED = 50
"""Agents of a session that can be asked to go on, the ones asked last."""


class AgentState(StrEnum):
    """How far an agent is with its task."""

    WAITS = "waits"
    """For its turn at the gate."""
    RUNS = "runs"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent, as it stands now."""

    id: str
    """ "a1", counted within a session."""
    task: str
    """What it is to do, in a few words."""
    state: AgentState
    since: float
    """Unix time at which it came into this state; 0 where nobody saw it."""
    moved: AgentMoved | None = None
    """What it does, and what it has cost; None: it has not begun."""
    ended: AgentEnded | None = None
    """How its last task ended."""
    background: bool = False
    """Nobody waits for its answer."""
    journal: str = ""
    """Name of the file with its own events; empty: nobody keeps them."""


class Worker(Protocol):
    """An agent at work on one task."""

    @property
    def conversation(self) -> Conversation:
        """What it says and hears."""
        ...

    @property
    def journal(self) -> str:
        """Name of the file with its events; empty: nobody keeps them."""
        ...

    def run(self, prompt: str) -> AsyncGenerator[Event, None]:
        """Take the task; the last event is `TurnEnded`."""
        ...

    def interrupt(self) -> None:
        """End the turn as soon as possible."""
        ...

    async def aclose(self) -> None:
        """Let go of everything that is its own."""
        ...


@dataclass(frozen=True, slots=True)
class Order:
    """What kind of agent is wanted."""

    agent: str
    tools: tuple[str, ...]
    """Names of what it may use."""
    asker: Asker
    again: bool
    """It has worked before, and goes on from there."""
    messages: tuple[Message, ...] = ()
    """Its history, where no journal keeps it."""


@dataclass(slots=True)
class _Known:
    """An agent of this session."""

    agent: str
    row: AgentRow
    messages: tuple[Message, ...] = ()
    tasks: int = 0
    """Tasks that it works on or waits with."""
    running: Worker | None = None
    stopped: str = ""
    """Why it is to end; empty: it is not."""


class Subagents:
    """Lets agents work for one conversation."""

    def __init__(
        self,
        conversation: Conversation,
        gating: Gating,
        incoming: Incoming,
        asker: Asker,
        clock: Clock,
        log: logging.Logger,
        *,
        hire: Callable[[Order], Worker],
        tools: tuple[str, ...],
        model: Callable[[], str],
        result_characters: int,
        kept: bool,
    ) -> None:
        """
        Args:
            gating: lets few of them work at a time.
            incoming: takes the reports that nobody waits for.
            hire: makes an agent. Raises HarnessError when it cannot.
            tools: names of what an agent may be given.
            model: the model that will answer.
            result_characters: most characters of an answer that enter the history.
            kept: each of them has a journal.
        """
        self._conversation = conversation
        self._gating = gating
        self._incoming = incoming
        self._asker = asker
        self._clock = clock
        self._log = log
        self._hire = hire
        self._tools = tools
        self._model = model
        self._result_characters = result_characters
        self._kept = kept
        self._known: dict[str, _Known] = {}
        self._count = 0
        self._background: dict[asyncio.Task[None], str] = {}

    # ── what the tool calls ─────────────────────────────────────────────────────────────────────

    async def ask(self, context: ToolContext, task: TaskArguments) -> ToolResult:
        """Have the task done, and say what came of it. A cancellation ends the agent and is passed on."""
        chosen = self._tools if task.tools is None else tuple(dict.fromkeys(task.tools))
        if wrong := [name for name in chosen if name not in self._tools]:
            text = f"No agent can be given {', '.join(wrong)}; there are {', '.join(self._tools)}."
            return ToolResult(text, ToolOutcome.INVALID, shorten_line(text))
        again = task.agent is not None
        known = self._known.get(task.agent) if task.agent is not None else self._new()
        if known is None:
            hint = f"there are {', '.join(self._known)}" if self._known else "none has worked yet"
            text = f"There is no agent {task.agent} to go on with; {hint}. Leave `agent` out to start a new one."
            return ToolResult(text, ToolOutcome.INVALID, shorten_line(text))
        order = Order(known.agent, chosen, OnBehalf(self._asker, known.agent), again, known.messages)
        self._conversation.emit(
            created := AgentCreated(
                *(known.agent, context.call_id, shorten_line(task.description), task.prompt, self._model(), chosen),
                background=task.background,
                again=again,
                journal=f"{known.agent}.jsonl" if self._kept else "",
            )
        )
        known.row = _first_row(created, self._clock.now())
        if task.background:
            self._later(known, order, task)
            text = agent_texts.works_in_background(known.agent)
            return ToolResult(text, summary=f"{known.agent} works in the background")
        report = await self._carried_out(known, order, task.prompt)
        return self._result(known.agent, report, context)

    def _result(self, agent: str, report: Report, context: ToolContext) -> ToolResult:
        content, whole = shorten(told(agent, report), self._result_characters, context.output_file)
        if report.answered:
            return ToolResult(content, summary=_took(agent, report), detail=report.text, full_output=whole)
        summary = shorten_line(f"{agent} did not finish: {report.reason}")
        return ToolResult(content, ToolOutcome.ERROR, summary, detail=report.text, full_output=whole)

    def _later(self, known: _Known, order: Order, task: TaskArguments) -> None:
        async def work() -> None:
            report = Report(AgentEnd.CANCELLED, "the program ended while it worked")
            try:
                report = await self._carried_out(known, order, task.prompt)
            finally:
                result = told(known.agent, report)
                text = agent_texts.background_answer(known.agent, shorten_line(task.description), result)
                self._incoming.arrive(ArrivalKind.AGENT_ENDED, known.agent, text)

        running = asyncio.create_task(work(), name=f"agent {known.agent}")
        self._background[running] = known.agent
        running.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        del self._background[task]
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("an agent in the background failed", exc_info=error)
        self._incoming.on_change()

    # ── one task of one agent ───────────────────────────────────────────────────────────────────

    async def _carried_out(self, known: _Known, order: Order, prompt: str) -> Report:
        """Let the agent in through the gate, and work; the end is told whatever it is."""
        known.tasks += 1
        known.stopped = ""
        report = Report(AgentEnd.CANCELLED, "it was interrupted")
        try:
            work = partial(self._work, known, order, prompt)
            report = await self._gating.run(known.agent, work, lambda done: done.ending)
        except NotAdmitted as refusal:
            report = Report(AgentEnd.NOT_STARTED, known.stopped or str(refusal))
        finally:
            known.tasks -= 1
            self._tell_end(known, report)
            self._forget()
        return report

    async def _work(self, known: _Known, order: Order, prompt: str) -> Report:
        try:
            worker = self._hire(order)
        except HarnessError as error:
            return Report(AgentEnd.FAILED, str(error))
        known.running = worker
        known.row = replace(known.row, state=AgentState.RUNS, since=self._clock.now())
        before = len(worker.conversation.messages)
        follower = _Follower(known, worker.conversation.spend, self._conversation)
        try:
            # A cancelled agent is interrupted and comes to its end: its journal is whole, and its processes are gone.
            ended = await uninterrupted(_played(worker, prompt, follower.see), worker.interrupt)
        except HarnessError as error:
            return Report(AgentEnd.FAILED, str(error), said(worker.conversation.messages[before:]))
        except Exception as error:  # noqa: BLE001 (the border: whatever fails in an agent is told to whoever asked)
            self._log.exception("an agent failed")
            reason = f"something in the program failed ({type(error).__name__}: {error})"
            return Report(AgentEnd.FAILED, reason, said(worker.conversation.messages[before:]))
        finally:
            known.running = None
            if not worker.journal:
                known.messages = worker.conversation.messages
            await worker.aclose()
        if ended is None:
            return Report(AgentEnd.FAILED, "its turn had no end", said(worker.conversation.messages[before:]))
        report = report_of(ended, worker.conversation.messages[before:])
        return replace(report, reason=known.stopped) if report.end is AgentEnd.CANCELLED and known.stopped else report

    def _tell_end(self, known: _Known, report: Report) -> None:
        self._conversation.emit(
            ended := AgentEnded(
                known.agent,
                report.end,
                report.reason,
                len(report.text),
                report.steps,
                report.requests,
                report.usage,
                report.cost_usd,
                report.duration_s,
            )
        )
        if not known.tasks:
            known.row = replace(known.row, state=AgentState.ENDED, since=self._clock.now(), ended=ended)

    # ── what a person does ──────────────────────────────────────────────────────────────────────

    @property
    def running(self) -> tuple[str, ...]:
        """The agents that work or wait for their turn, and that nobody waits for."""
        return tuple(self._background.values())

    @property
    def rows(self) -> tuple[AgentRow, ...]:
        """Those that can be asked to go on, the one asked last at the end."""
        return tuple(known.row for known in self._known.values())

    @property
    def known(self) -> tuple[str, ...]:
        """The ids of the same."""
        return tuple(self._known)

    def stop(self, agent: str, why: str = "the person stopped it") -> bool:
        """End what an agent does or waits for; whoever asked for it is told. False: it does nothing."""
        known = self._known.get(agent)
        if known is None:
            return False
        if known.running is not None:
            known.stopped = why
            known.running.interrupt()
            return True
        if known.tasks:
            known.stopped = why
            self._gating.end(agent)
        return bool(known.tasks)

    def recall(self, events: Iterable[Event]) -> None:
        """Know the agents of an earlier run of this session again; their journals hold what they remember."""
        for event in events:
            if isinstance(event, AgentCreated):
                self._count = max(self._count, int(event.agent[1:]) if event.agent[1:].isdecimal() else 0)
                if event.journal:
                    self._remember(_Known(event.agent, replace(_first_row(event, 0.0), state=AgentState.ENDED)))

    async def aclose(self) -> None:
        """End every agent that works in the background; nobody is told of it any more."""
        tasks = tuple(self._background)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _new(self) -> _Known:
        self._count += 1
        agent = f"a{self._count}"
        return self._remember(_Known(agent, AgentRow(agent, "", AgentState.WAITS, self._clock.now())))

    def _remember(self, known: _Known) -> _Known:
        self._known.pop(known.agent, None)
        self._known[known.agent] = known
        return known

    def _forget(self) -> None:
        """Only the last ones can be asked to go on; of the others nothing is kept, here and at the gate."""
        idle = [known.agent for known in self._known.values() if not known.tasks]
        for agent in idle[: max(0, len(self._known) - REMEMBERED)]:
            del self._known[agent]
            self._gating.end(agent)


async def _played(worker: Worker, prompt: str, see: Callable[[Event], None]) -> TurnEnded | None:
    ended: TurnEnded | None = None
    async with aclosing(worker.run(prompt)) as events:
        async for event in events:
            see(event)
            if isinstance(event, TurnEnded):
                ended = event
    return ended


class _Follower:
    """Makes of what an agent does what the one that asked is to know: where it is, and what it costs."""

    def __init__(self, known: _Known, spend: SpendChanged, asking: Conversation) -> None:
        self._known = known
        self._asking = asking
        self._before = self._spend = spend
        self._step = 0

    def see(self, event: Event) -> None:
        match event:
            case SpendChanged():
                before, self._spend = self._spend, event
                self._asking.spent_by_another(before, event)
            case StepStarted():
                self._step += 1
                self._moved("asks the model")
            case ToolStarted(tool=tool, summary=summary):
                self._moved(shorten_line(f"{tool} {summary}"))
            case RetryScheduled(delay_s=delay, detail=detail):
                self._moved(shorten_line(f"waits {delay:.0f} s to try again: {detail}"))
            case PermissionAsked(tool=tool, summary=summary):
                self._moved(shorten_line(f"asks for {tool} {summary}"), waits_for_person=True)
            case PermissionAnswered(tool=tool, answer=answer):
                self._moved(f"{tool}: {'not allowed' if answer == 'no' else 'allowed'}")

    def _moved(self, doing: str, *, waits_for_person: bool = False) -> None:
        usage = self._spend.usage - self._before.usage
        moved = AgentMoved(
            self._known.agent,
            self._step,
            doing,
            self._spend.requests - self._before.requests,
            usage.prompt + usage.output,
            self._spend.cost_usd - self._before.cost_usd,
            waits_for_person,
        )
        self._known.row = replace(self._known.row, moved=moved)
        self._asking.emit(moved)


def _first_row(created: AgentCreated, now: float) -> AgentRow:
    return AgentRow(
        created.agent,
        created.task,
        AgentState.WAITS,
        now,
        background=created.background,
        journal=created.journal,
    )


def _took(agent: str, report: Report) -> str:
    return f"{agent} answered, {report.steps} step{'s' * (report.steps != 1)}"
