"""A session as a Markdown page, and the export of a session to a file."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from harness.base.external_text import visible
from harness.base.secrets import Secret
from harness.events import (
    Event,
    HistoryReplaced,
    MessageAdded,
    Origin,
    PauseReport,
    PauseReported,
    PermissionAnswered,
    PermissionAsked,
    PlanChanged,
    ProposedPlan,
    QuestionAnswered,
    QuestionAsked,
    Rung,
    StuckReported,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
)
from harness.journal import Record, SessionState, read, replay
from harness.journal.export import as_json, masked, save
from harness.policies.breakers.failure_budget import budget_used
from harness.session import Session
from harness.ui.lines.events import recorded_line
from harness.ui.lines.line import priced
from harness.ui.lines.work import EventLines


def export(session: Session, file: Path, form: Literal["markdown", "json"]) -> None:
    """Write the session so far to `file`, keys masked. Raises HarnessError if the file cannot be written."""
    write = markdown if form == "markdown" else as_json
    save(write(read(session.path).records, session.secrets), file)


def markdown(records: Sequence[Record], secrets: Iterable[Secret] = ()) -> str:
    """The conversation as Markdown: prompts, answers, tool calls, other events as notes, totals.

    Secrets and everything shaped like a key are masked. Control characters are spelt out, so that a terminal that shows
    the page does not obey them.
    """
    state = replay(records)
    body = [*_header(state, records), *_Page().blocks(records), *_totals(state)]
    text = "\n\n".join(body) + "\n"
    return visible(masked(text.encode("utf-8", "replace").decode(), secrets))


def _header(state: SessionState, records: Sequence[Record]) -> Iterator[str]:
    yield f"# {state.title or 'A session'}"
    facts = {
        "session": state.session_id,
        "forked from": state.forked_from,
        "folder": state.workspace,
        "model": state.model,
        "from": _time(records[0].at) if records else "",
        "to": _time(records[-1].at) if records else "",
    }
    yield "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)


def _totals(state: SessionState) -> Iterator[str]:
    yield "## Totals"
    if state.spend is None:
        yield "No request was sent."
        return
    spend = state.spend
    retries = priced(spend.retry_cost_usd, 0)
    lines = [
        f"- turns: {state.turn}",
        f"- requests: {spend.requests}",
        f"- tokens: {spend.usage.prompt:,} in, {spend.usage.output:,} out",
        f"- cost: {priced(spend.cost_usd, spend.unpriced)}, of it {retries} on failed and repeated requests",
    ]
    yield "\n".join(lines)


class _Page:
    """Renders the events of a session in order."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolStarted] = {}
        self._answered = False
        """Whether the current turn has shown an answer."""
        self._lines = EventLines()

    def blocks(self, records: Iterable[Record]) -> Iterator[str]:
        for record in records:
            note = self._note(record.event)
            match record.event:
                case TurnStarted(turn=turn, prompt=prompt):
                    self._answered = False
                    yield f"## {turn}. You"
                    yield _quoted(prompt)
                case MessageAdded(origin=Origin.REPLY, message=message):
                    if message.text.strip():
                        self._answered = True
                        yield message.text.strip()
                case MessageAdded(origin=Origin.STEERING, message=message):
                    yield f"You, meanwhile:\n\n{_quoted(message.typed)}"
                case ToolStarted() as call:
                    self._calls[call.call_id] = call
                case ToolEnded() as end:
                    yield _tool(end, self._calls.pop(end.call_id, None))
                case PlanChanged() if self._lines.checked:
                    yield "\n".join(f"- {line}" for line in self._lines.checked)
                case QuestionAsked(plan=ProposedPlan() as plan) | QuestionAnswered(plan=ProposedPlan() as plan):
                    yield _quoted("\n".join((plan.text, "", *(f"- [ ] {step}" for step in plan.steps))))
                    yield f"> {_line(note)}"
                case PauseReported(report=report):
                    yield from _pause_blocks(report)
                case StuckReported() as report:
                    yield from _stuck_blocks(report)
                case TurnEnded() as end:
                    yield from self._end(end)
                case _ if note:
                    yield f"> {_line(note)}"

    def _note(self, event: Event) -> str:
        match event:
            case PermissionAsked(detail=()):
                return ""
            case HistoryReplaced(reason="clear" | "rewind" as reason):
                return f"history replaced: {reason}"
            case PermissionAnswered(answer="no"):
                return f"{event.tool} was not allowed{': ' + event.why if event.why else ''}"
            case _:
                line = self._lines.line(event) or recorded_line(event)
                return line.text if line else ""

    def _end(self, end: TurnEnded) -> Iterator[str]:
        if end.answer.strip() and not self._answered:
            yield end.answer.strip()
        if end.sources:
            yield "\n".join(f"{number}. {source.title} <{source.url}>" for number, source in enumerate(end.sources, 1))
        if end.code is not TransitionCode.COMPLETED:
            yield f"> **{end.code}**: {_line(end.reason)}"


def _tool(end: ToolEnded, start: ToolStarted | None) -> str:
    mark = "●" if end.outcome is ToolOutcome.OK else "✗"
    call = f" {_code(start.summary)}" if start and start.summary else ""
    line = f"- {mark} **{end.tool}**{call}: {_line(end.summary) or end.outcome}, {end.duration_s:.1f} s"
    return line if not end.detail else f"{line}\n\n{_fenced(end.detail)}"


def _pause_blocks(report: PauseReport) -> Iterator[str]:
    yield f"> **paused**: {_line(report.reason) or 'the user asked'}"
    sections = {
        "Done": report.completed,
        "Begun and not finished": report.failed,
        "Not attempted": report.not_attempted,
        "Deferred": [f"{one.item.text}: {one.reason}; needs {one.unblock}" for one in report.deferred],
        "Failure budget": [f"{budget_used(report.consumed, report.budget)} used"],
    }
    yield from _sections(sections, report.next_steps)


def _stuck_blocks(report: StuckReported) -> Iterator[str]:
    loop = report.loop
    yield f"> **in a loop**: {_line(loop.summary)}, {loop.copies} times ({loop.projection})"
    tried = [
        f"step {attempt.step}, {attempt.rung}: {attempt.detail}"
        for attempt in report.tried
        if attempt.rung is not Rung.STOP
    ]
    yield from _sections({"Interventions": tried}, report.next_steps)


def _sections(sections: Mapping[str, Sequence[str]], next_steps: Sequence[str]) -> Iterator[str]:
    for title, lines in sections.items():
        if lines:
            yield f"{title}:"
            yield "\n".join(f"- {_line(line)}" for line in lines)
    if next_steps:
        yield "What you can do:"
        yield "\n".join(f"{number}. {_line(line)}" for number, line in enumerate(next_steps, 1))


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines()) or ">"


def _line(text: str) -> str:
    return " ".join(text.split())


def _code(text: str) -> str:
    ticks = "`" * (_longest_run(text) + 1)
    space = " " if "`" in text else ""
    return f"{ticks}{space}{_line(text)}{space}{ticks}"


def _fenced(text: str) -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at else ""
