"""How a subagent ended, and what whoever asked for it is told. Only an answer is ever told as an answer.

it ended its turn and said something       its words, and what it took
everything else                            "did not finish", why, and what it had said so far, named as that
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.events import AgentEnd, AgentEnded, Ending, Message, TransitionCode, TurnEnded, Usage
from harness.model import agent_texts

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
class Report:
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

    @property
    def answered(self) -> bool:
        """`text` is an answer."""
        return self.end is AgentEnd.ANSWERED

    @property
    def ending(self) -> Ending:
        """What the gate is told."""
        match self.end:
            case AgentEnd.ANSWERED:
                return Ending.SUCCEEDED
            case AgentEnd.CANCELLED:
                return Ending.CANCELLED
            case _:
                return Ending.FAILED


def report_of(ended: TurnEnded, messages: Sequence[Message]) -> Report:
    """The report of a turn; `messages` are those of this task."""
    end = ENDS.get(ended.code, AgentEnd.FAILED)
    text, reason = ended.answer.strip(), ended.reason
    if end is AgentEnd.SILENT or (end is AgentEnd.ANSWERED and not text):
        end, reason = AgentEnd.SILENT, "it ended without a word"
    answered = end is AgentEnd.ANSWERED
    return Report(
        end,
        "" if answered else f"{reason} ({ended.code.value})" if end is not AgentEnd.SILENT else reason,
        text if answered else said(messages),
        ended.steps,
        ended.requests,
        ended.usage,
        ended.cost_usd,
        ended.duration_s,
        ended.unpriced,
    )


def said(messages: Sequence[Message]) -> str:
    """The last words of an agent, as much as is handed back of them."""
    words = "\n\n".join(message.text.strip() for message in messages if message.role == "assistant" and message.text)
    words = words.strip()
    return words if len(words) <= SAID_CHARACTERS else "… " + words[-SAID_CHARACTERS:].lstrip()


def told(agent: str, report: Report) -> str:
    """What the model that asked is told."""
    if report.end is AgentEnd.NOT_STARTED:
        return agent_texts.not_started(report.reason)
    if report.answered:
        took = f"{report.steps} step{'s' * (report.steps != 1)}, {report.usage.prompt + report.usage.output} tokens"
        return f"{report.text}\n\n[agent {agent}: {took}]"
    return agent_texts.unfinished(agent, report.reason, report.text)


def ended_with(agent: str, report: Report) -> AgentEnded:
    """The event of the end of a task."""
    return AgentEnded(
        agent,
        report.end,
        report.reason,
        len(report.text),
        report.steps,
        report.requests,
        report.usage,
        report.cost_usd,
        report.duration_s,
        report.unpriced,
    )
