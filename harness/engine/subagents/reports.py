"""Subagents as their parent sees them: the order, how far they are, and the report that the parent's model reads.

Only an answer is reported as an answer. Every other end "did not finish", with the reason and the text so far.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from harness.base.external_text import counted
from harness.engine.conversation import Conversation, spent_since
from harness.engine.core import Seat
from harness.engine.permissions.asker import Asker
from harness.events import (
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    Effort,
    Event,
    FaultKind,
    FaultOccurred,
    Health,
    Json,
    LoopFound,
    LoopLeft,
    Message,
    MessageAdded,
    Origin,
    PermissionAnswered,
    PermissionAsked,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    SpendChanged,
    StepStarted,
    ToolStarted,
    TransitionCode,
    TurnEnded,
    Usage,
    WorkEnd,
)
from harness.model import notices
from harness.processes import SurvivingProcess
from harness.tools.tool import shorten_line

SAID_CHARACTERS = 4_000
"""Most characters of what an agent had said before it failed that are handed back."""

ENDS = {
    TransitionCode.COMPLETED: AgentEnd.ANSWERED,
    TransitionCode.EMPTY_ANSWER: AgentEnd.SILENT,
    TransitionCode.MAX_TURNS: AgentEnd.LIMIT,
    TransitionCode.WAIT_LIMIT: AgentEnd.LIMIT,
    TransitionCode.MAX_OUTPUT_TOKENS_EXHAUSTED: AgentEnd.LIMIT,
    TransitionCode.BUDGET_EXHAUSTED: AgentEnd.LIMIT,
    TransitionCode.FAILURE_BUDGET_PAUSED: AgentEnd.PAUSED,
    TransitionCode.LOOP_STOPPED: AgentEnd.STUCK,
    TransitionCode.ABORTED_STREAMING: AgentEnd.CANCELLED,
    TransitionCode.ABORTED_TOOLS: AgentEnd.CANCELLED,
}
"""What the end of its turn means; every other code is a failure of the model or of its answers."""


@dataclass(frozen=True, slots=True)
class SubagentSpec:
    """The subagent that a task needs."""

    agent: str
    """Its id, such as "a1"."""
    tools: tuple[str, ...]
    """Names of its tools."""
    asker: Asker
    again: bool
    """It has worked before and continues from there."""
    messages: tuple[Message, ...] = ()
    """Its history, where no journal keeps it."""
    model: str = ""
    """Its model; empty: that of the parent."""
    effort: Effort | None = None
    """None: that of the parent."""
    role: str = ""
    """Text of its kind for the system prompt; empty: of no special kind."""
    seat: Seat | None = None
    """Of a member, whose limit of money holds for all its tasks; None: it is none."""
    workspace: Path | None = None
    """The working tree that it works in; None: that of its earlier tasks, or of the parent."""
    answer_format: Json | None = None
    """The `output_config.format` of its answers; None: any text."""


class Subagent(Protocol):
    """An agent that was started for one task."""

    @property
    def conversation(self) -> Conversation:
        """Its history and spend."""
        ...

    @property
    def journal(self) -> str:
        """Name of the file with its events; empty: it has none."""
        ...

    def run(self, prompt: str) -> AsyncGenerator[Event, None]:
        """Work on the task; the last event is `TurnEnded`."""
        ...

    def deliver(self) -> AsyncGenerator[Event, None]:
        """Work on the mail of a member that waits; no event if there is none."""
        ...

    def interrupt(self) -> None:
        """End the turn as soon as possible, also one that has not begun."""
        ...

    async def aclose(self) -> tuple[SurvivingProcess, ...]:
        """Close its resources, and end what its commands left running; returns those processes."""
        ...


@dataclass(frozen=True, slots=True)
class SubagentReport:
    """The end of one task of one agent."""

    end: AgentEnd
    reason: str = ""
    """One line; empty where it answered."""
    text: str = ""
    """Its answer; where it did not answer, what it had said so far."""
    steps: int = 0
    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    duration_s: float = 0.0
    unpriced: int = 0
    """Requests without a known price."""
    ended_processes: tuple[SurvivingProcess, ...] = ()
    """Left running by its commands, and ended with it."""
    code: TransitionCode | None = None
    """How its turn ended; None: it had no end."""
    fault: FaultKind | None = None
    """The fault of the model that ended it; None: another reason."""

    @property
    def answered(self) -> bool:
        """`text` is an answer."""
        return self.end is AgentEnd.ANSWERED

    @property
    def ending(self) -> WorkEnd:
        """How it ended, for admission."""
        match self.end:
            case AgentEnd.ANSWERED:
                return WorkEnd.SUCCEEDED
            case AgentEnd.CANCELLED:
                return WorkEnd.CANCELLED
            case _:
                return WorkEnd.FAILED


def report_of(ended: TurnEnded, messages: Sequence[Message]) -> SubagentReport:
    """The report of a turn; `messages` are those of this task."""
    end = ENDS.get(ended.code, AgentEnd.FAILED)
    text, reason = ended.answer.strip(), ended.reason
    if end is AgentEnd.SILENT or (end is AgentEnd.ANSWERED and not text):
        end, reason = AgentEnd.SILENT, "it ended without a word"
    answered = end is AgentEnd.ANSWERED
    return SubagentReport(
        end,
        "" if answered else f"{reason} ({ended.code.value})" if end is not AgentEnd.SILENT else reason,
        text if answered else said(messages),
        ended.steps,
        ended.requests,
        ended.usage,
        ended.cost_usd,
        ended.duration_s,
        ended.unpriced,
        code=ended.code,
    )


def said(messages: Sequence[Message]) -> str:
    """The last words of an agent, as much as is handed back of them."""
    words = "\n\n".join(message.text.strip() for message in messages if message.role == "assistant" and message.text)
    words = words.strip()
    return words if len(words) <= SAID_CHARACTERS else "… " + words[-SAID_CHARACTERS:].lstrip()


def report_text(agent: str, report: SubagentReport, resume: str | None = None) -> str:
    """The report as the parent's model reads it; `resume` as in `unfinished_answer`."""
    if report.end is AgentEnd.NOT_STARTED:
        return notices.not_started(report.reason)
    if report.answered:
        took = f"{counted(report.steps, 'step')}, {report.usage.prompt + report.usage.output} tokens"
        return f"{report.text}\n\n[agent {agent}: {took}]{_ended_processes(report)}"
    return notices.unfinished_answer(agent, report.reason, report.text, resume) + _ended_processes(report)


def _ended_processes(report: SubagentReport) -> str:
    names = [f"{process.name} ({process.pid})" for process in report.ended_processes]
    return f"\n[Its commands had left these running, and they ended with it: {', '.join(names)}]" if names else ""


def ended_with(agent: str, report: SubagentReport) -> AgentEnded:
    """The event of the end of a task."""
    return AgentEnded(
        agent,
        report.end,
        report.reason,
        report.steps,
        report.requests,
        report.usage,
        report.cost_usd,
        report.duration_s,
        report.unpriced,
    )


class SubagentState(StrEnum):
    """How far an agent is with its task."""

    WAITS = "waits"
    """For admission."""
    RUNS = "runs"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class SubagentRow:
    """The present state of one subagent."""

    id: str
    """ "a1", counted within a session."""
    task: str
    """What it is to do, in a few words."""
    state: SubagentState
    since: float
    """Unix time at which it came into this state; 0: unknown."""
    moved: AgentMoved | None = None
    """What it does, and what it has cost; None: it has not begun."""
    ended: AgentEnded | None = None
    """How its last task ended."""
    background: bool = False
    """Nobody waits for its answer."""
    journal: str = ""
    """Name of the file with its own events; empty: it has no journal."""


def first_row(created: AgentCreated, now: float) -> SubagentRow:
    """The row of an agent that was given a task at this moment."""
    return SubagentRow(
        created.agent,
        created.task,
        SubagentState.WAITS,
        now,
        background=created.background,
        journal=created.journal,
    )


async def played(subagent: Subagent, prompt: str | None, on_event: Callable[[Event], None]) -> None:
    """Have the task carried out; `on_event` receives every event. None: the mail of a member is its task."""
    async with aclosing(subagent.deliver() if prompt is None else subagent.run(prompt)) as events:
        async for event in events:
            on_event(event)


class Follower:
    """Makes of what an agent does what the one that asked is to know: where it is, what it costs, how it ended."""

    def __init__(
        self, agent: str, spend: SpendChanged, asking: Conversation, moved: Callable[[AgentMoved], None]
    ) -> None:
        """
        Args:
            spend: what the agent has cost before this task.
            asking: pays for it.
            moved: hears what it does now.
        """
        self._agent = agent
        self._asking = asking
        self._emit = moved
        self._before = self._spend = spend
        self._step = 0
        self._replies: list[Message] = []
        self._ended: TurnEnded | None = None
        self._fault: FaultKind | None = None
        self._model_fails = False
        self._loops: set[str] = set()
        """Signatures of the loops that it is in."""

    def report(self, failure: str) -> SubagentReport:
        """How the task ended; `failure` says why where the turn had no end."""
        if self._ended is not None:
            fault = self._fault if self._ended.code is TransitionCode.API_ERROR else None
            return replace(report_of(self._ended, self._replies), fault=fault)
        spent = self._spent
        return SubagentReport(
            AgentEnd.FAILED,
            failure,
            said(self._replies),
            self._step,
            spent.requests,
            spent.usage,
            spent.cost_usd,
            unpriced=spent.unpriced,
        )

    def on_event(self, event: Event) -> None:
        """The agent has done this."""
        match event:
            case SpendChanged():
                before, self._spend = self._spend, event
                self._asking.add_spend_of_subagent(before, event)
            case MessageAdded(message=message, origin=Origin.REPLY):
                self._replies.append(message)
                self._model_fails = False
            case FaultOccurred(fault=fault):
                self._fault, self._model_fails = fault.kind, True
            case LoopFound(loop=loop):
                self._loops.add(loop.signature)
                self._moved(shorten_line(f"repeats itself: {loop.summary}"))
            case LoopLeft(signature=signature):
                self._loops.discard(signature)
            case TurnEnded():
                self._ended = event
                self._asking.denials += event.denials
            case StepStarted():
                self._step += 1
                self._moved("asks the model")
            case ToolStarted(tool=tool, summary=summary):
                self._moved(shorten_line(f"{tool} {summary}"))
            case RetryScheduled(delay_s=delay, detail=detail):
                self._moved(shorten_line(f"waits {delay:.0f} s to try again: {detail}"))
            case PermissionAsked(tool=tool, summary=summary):
                self._moved(shorten_line(f"asks for {tool} {summary}"), waits_for_user=True)
            case QuestionAsked(question=question):
                self._moved(shorten_line(f"asks: {question}"), waits_for_user=True)
            case QuestionAnswered(how=how):
                self._moved("its question was declined" if how == "declined" else "its question was answered")
            case PermissionAnswered(tool=tool, answer=answer):
                self._moved(f"{tool}: {'not allowed' if answer == 'no' else 'allowed'}")

    @property
    def _spent(self) -> SpendChanged:
        """What this task has cost."""
        return spent_since(self._before, self._spend)

    def _moved(self, doing: str, *, waits_for_user: bool = False) -> None:
        spent = self._spent
        tokens = spent.usage.prompt + spent.usage.output
        taken = spent.requests, tokens, spent.cost_usd
        health = Health.LOOP if self._loops else Health.MODEL if self._model_fails else Health.WELL
        self._emit(AgentMoved(self._agent, self._step, doing, *taken, waits_for_user, spent.unpriced, health))
