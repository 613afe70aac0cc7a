"""What becomes known of an agent while it works for another."""

from collections.abc import Callable
from contextlib import aclosing

from harness.engine.conversation import Conversation, spent_since
from harness.engine.subagents.reports import Report, report_of, said
from harness.engine.subagents.worker import Worker
from harness.events import (
    AgentEnd,
    AgentMoved,
    Event,
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
    TurnEnded,
)
from harness.tools.tool import shorten_line


async def played(worker: Worker, prompt: str, see: Callable[[Event], None]) -> None:
    """Have the task carried out; `see` is shown every event."""
    async with aclosing(worker.run(prompt)) as events:
        async for event in events:
            see(event)


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
        self._tell = moved
        self._before = self._spend = spend
        self._step = 0
        self._replies: list[Message] = []
        self._ended: TurnEnded | None = None

    def report(self, failure: str) -> Report:
        """How the task ended; `failure` says why where the turn had no end."""
        if self._ended is not None:
            return report_of(self._ended, self._replies)
        spent = self._spent
        return Report(
            AgentEnd.FAILED,
            failure,
            said(self._replies),
            self._step,
            spent.requests,
            spent.usage,
            spent.cost_usd,
            unpriced=spent.unpriced,
        )

    def see(self, event: Event) -> None:
        """The agent has done this."""
        match event:
            case SpendChanged():
                before, self._spend = self._spend, event
                self._asking.spent_by_another(before, event)
            case MessageAdded(message=message, origin=Origin.REPLY):
                self._replies.append(message)
            case TurnEnded():
                self._ended = event
            case StepStarted():
                self._step += 1
                self._moved("asks the model")
            case ToolStarted(tool=tool, summary=summary):
                self._moved(shorten_line(f"{tool} {summary}"))
            case RetryScheduled(delay_s=delay, detail=detail):
                self._moved(shorten_line(f"waits {delay:.0f} s to try again: {detail}"))
            case PermissionAsked(tool=tool, summary=summary):
                self._moved(shorten_line(f"asks for {tool} {summary}"), waits_for_person=True)
            case QuestionAsked(question=question):
                self._moved(shorten_line(f"asks: {question}"), waits_for_person=True)
            case QuestionAnswered(how=how):
                self._moved("its question was declined" if how == "declined" else "its question was answered")
            case PermissionAnswered(tool=tool, answer=answer):
                self._moved(f"{tool}: {'not allowed' if answer == 'no' else 'allowed'}")

    @property
    def _spent(self) -> SpendChanged:
        """What this task has cost."""
        return spent_since(self._before, self._spend)

    def _moved(self, doing: str, *, waits_for_person: bool = False) -> None:
        spent = self._spent
        tokens = spent.usage.prompt + spent.usage.output
        taken = spent.requests, tokens, spent.cost_usd
        self._tell(AgentMoved(self._agent, self._step, doing, *taken, waits_for_person, unpriced=spent.unpriced))
