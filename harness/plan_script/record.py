"""What the journal of a session holds of its plan script, so that a resumed one gets the same results."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness import journal
from harness.base.errors import JournalError
from harness.engine.subagents.reports import report_of
from harness.events import (
    AgentCreated,
    AgentEnd,
    Event,
    Message,
    MessageAdded,
    Origin,
    ScriptResult,
    ScriptStarted,
    TransitionCode,
    TurnEnded,
)
from harness.plan_script.plan import AgentOrder

PREFIX = "plan-"
"""Of the call ids of a script; its position and digest follow."""
_RUNNING = frozenset({TransitionCode.COMPLETED, TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS})
"""Ends after which failures of agents are results like others: the script has gone on with them."""


def call_id(order: AgentOrder) -> str:
    """The id of a call in the events of its subagent."""
    return f"{PREFIX}{order.position}-{order.digest}"


@dataclass(slots=True)
class ScriptRecord:
    """The fold of the events of a session."""

    started: ScriptStarted | None = None
    """None: no script has run in it."""
    finished: bool = False
    results: dict[str, ScriptResult] = field(default_factory=dict)
    """By position."""
    created: dict[str, AgentCreated] = field(default_factory=dict)
    """By call id: what was begun and has no result yet."""

    def on_event(self, event: Event) -> None:
        match event:
            case ScriptStarted():
                self.started = self.started or event
            case AgentCreated(call_id=id) if id.startswith(PREFIX):
                self.created[id] = event
            case ScriptResult(position=position, digest=digest):
                self.results[position] = event
                self.created.pop(f"{PREFIX}{position}-{digest}", None)
            case TurnEnded(code=code):
                self.finished = code is TransitionCode.COMPLETED
                if code not in _RUNNING:  # whoever resumes a plan that failed wants to try again
                    self.results = {at: one for at, one in self.results.items() if one.end is AgentEnd.ANSWERED}

    def result(self, order: AgentOrder) -> ScriptResult | None:
        """What an earlier run got for this call; None: nothing, or it asked for something else."""
        found = self.results.get(order.position)
        return found if found is not None and found.digest == order.digest else None

    def changed(self, order: AgentOrder) -> bool:
        """An earlier run asked for something else here."""
        found = self.results.get(order.position)
        return found is not None and found.digest != order.digest


def recorded(events: Iterable[Event]) -> ScriptRecord:
    """What these events say about a script."""
    record = ScriptRecord()
    for event in events:
        record.on_event(event)
    return record


def ended_unrecorded(path: Path, order: AgentOrder, created: AgentCreated) -> ScriptResult | None:
    """The result of a subagent that ended right before its session was killed, from its own journal; None: it had not
    ended, or nobody knows."""
    try:
        records = journal.read(journal.agents_folder(path) / created.journal).records if created.journal else ()
    except (JournalError, OSError):
        return None
    said: list[Message] = []
    for record in records:
        match record.event:
            case MessageAdded(message=message, origin=Origin.REPLY):
                said.append(message)
            case TurnEnded() as ended:
                report = report_of(ended, said)
                end = (created.agent, report.end, report.text, report.reason)
                found = ScriptResult(order.position, order.digest, *end, record.at)
                return None if report.end is AgentEnd.CANCELLED else found
    return None
