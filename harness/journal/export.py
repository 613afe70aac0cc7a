"""A session as a page to read, or as one JSON document. Keys and tokens are masked in both."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.masking import Masking
from harness.base.secret import MASK, Secret
from harness.base.terminal_text import visible
from harness.events import (
    CompactionEnded,
    Event,
    FaultOrdered,
    HistoryRepaired,
    HistoryReplaced,
    HookFailed,
    HookOutcome,
    HookRan,
    Intervened,
    Json,
    LoopFound,
    LoopLeft,
    MessageAdded,
    ModelSwitched,
    Notice,
    Origin,
    OutputCapChanged,
    PauseReported,
    PermissionAnswered,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    RolledBack,
    Rung,
    SessionResumed,
    SettingChanged,
    StuckReported,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    decode,
    encode,
)
from harness.journal import Record, SessionState, replay
from harness.journal.export_background import WorkNotes, priced
from harness.journal.export_reports import pause_blocks, stuck_blocks
from harness.tools.files import replace_atomically

KEY_SHAPES = r"\bsk-[A-Za-z0-9_-]{16,}"
"""What keys of the API look like, should a tool have printed one that is not in the settings."""


def markdown(records: Sequence[Record], secrets: Iterable[Secret] = ()) -> str:
    """The conversation as Markdown: prompts, answers, tool calls, recoveries as short notes, totals.

    Control characters are spelt out, so that a terminal that shows the page does not obey what a model or tool wrote.
    `secrets` are masked wherever they stand, and so is everything that looks like a key.
    """
    state = replay(records)
    body = [*_header(state), *_Page().blocks(records), *_totals(state)]
    text = "\n\n".join(body) + "\n"
    return visible(masked(text.encode("utf-8", "replace").decode(), secrets))


def as_json(records: Sequence[Record], secrets: Iterable[Secret] = ()) -> str:
    """The session as one JSON object: `session`, `totals`, the present `messages`, and every event.

    Each message and each event stands on a line of its own.
    `secrets` are masked wherever they stand, and so is everything that looks like a key.
    """
    state = replay(records)
    session = {
        "id": state.session_id,
        "title": state.title,
        "workspace": state.workspace,
        "model": state.model,
        "forked_from": state.forked_from,
        "started_at": state.started_at,
        "updated_at": state.updated_at,
        "turns": state.turn,
        "interrupted": state.interrupted,
    }
    messages = [{"role": message.role, "content": message.content} for message in state.messages]
    events = [{"seq": record.seq, "at": record.at, **encode(record.event)} for record in records]
    totals = encode(state.spend) if state.spend else None
    text = (
        f'{{"session": {json.dumps(session)},\n"totals": {json.dumps(totals)},\n'
        f'"messages": {_list(messages)},\n"events": {_list(events)}}}\n'
    )
    return masked(text, secrets)


def save(text: str, file: Path) -> None:
    """Write an exported session. Raises HarnessError when the file cannot be written."""
    try:
        replace_atomically(file, text.encode())
    except OSError as error:
        raise HarnessError(f"{file} cannot be written: {error.strerror}; name another file.") from error


def _list(items: Iterable[Json]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, items)) + "\n]"


def without_secrets(records: Iterable[Record], secrets: Iterable[Secret]) -> tuple[Record, ...]:
    """The records with these secrets masked in every text, and with everything that looks like a key.

    For what is drawn: there a key may be broken at the end of a line, and no search finds it any more.
    """
    known = tuple(secrets)
    return tuple(replace(record, event=decode(_masked_json(encode(record.event), known))) for record in records)


def _masked_json(value: Any, secrets: Sequence[Secret]) -> Any:
    match value:
        case str():
            return masked(value, secrets)
        case dict():
            return {key: _masked_json(inner, secrets) for key, inner in value.items()}
        case list() | tuple():
            return [_masked_json(inner, secrets) for inner in value]
        case _:
            return value


def masked(text: str, secrets: Iterable[Secret]) -> str:
    """The text without these secrets, and without anything that has the shape of a key."""
    return re.sub(KEY_SHAPES, MASK, Masking(secrets).text(text))


def _header(state: SessionState) -> Iterator[str]:
    yield f"# {state.title or 'A session'}"
    facts = {
        "session": state.session_id,
        "forked from": state.forked_from,
        "folder": state.workspace,
        "model": state.model,
        "from": _time(state.started_at),
        "to": _time(state.updated_at),
    }
    yield "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)


def _totals(state: SessionState) -> Iterator[str]:
    yield "## Totals"
    if state.spend is None:
        yield "No request was sent."
        return
    spend = state.spend
    cost = priced(spend.cost_usd, spend.unpriced)
    lines = [
        f"- turns: {state.turn}",
        f"- requests: {spend.requests}",
        f"- tokens: {spend.usage.prompt:,} in, {spend.usage.output:,} out",
        f"- cost: {cost}, of it ${spend.retry_cost_usd:.4f} on failed and repeated requests",
    ]
    yield "\n".join(lines)


class _Page:
    """Renders the events of a session in order; remembers what the present turn has shown."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolStarted] = {}
        self._answered = False
        self._work = WorkNotes()

    def blocks(self, records: Iterable[Record]) -> Iterator[str]:
        """One piece of Markdown after the other."""
        for record in records:
            match record.event:
                case TurnStarted(turn=turn, prompt=prompt):
                    self._answered = False
                    yield f"## {turn}. You"
                    yield _quoted(prompt)
                case MessageAdded(origin=Origin.REPLY, message=message):
                    if message.text.strip():
                        self._answered = True
                        yield message.text.strip()
                case ToolStarted() as call:
                    self._calls[call.call_id] = call
                case ToolEnded() as end:
                    yield _tool(end, self._calls.pop(end.call_id, None))
                case PauseReported(report=report):
                    yield from pause_blocks(report)
                case StuckReported() as report:
                    yield from stuck_blocks(report)
                case TurnEnded() as end:
                    if end.answer.strip() and not self._answered:
                        yield end.answer.strip()
                    if end.sources:
                        yield "\n".join(
                            f"{number}. {source.title} <{source.url}>" for number, source in enumerate(end.sources, 1)
                        )
                    if end.code is not TransitionCode.COMPLETED:
                        yield f"> **{end.code}**: {_line(end.reason)}"
                case event:
                    if note := _note(event) or self._work.note(event):
                        yield f"> {_line(note)}"


def _note(event: Event) -> str:
    match event:
        case RetryScheduled():
            return (
                f"retry {event.attempt} of {event.max_attempts} after {event.delay_s:.1f} s: "
                f"{event.category.replace('_', ' ')}, {event.detail}"
            )
        case ModelSwitched():
            return f"{event.to_model} answers in place of {event.from_model}: {event.reason}"
        case OutputCapChanged():
            return f"output cap {event.from_cap:,} → {event.to_cap:,}: {event.reason}"
        case CompactionEnded(succeeded=True) if event.tokens_after >= event.tokens_before:
            return f"compaction gained nothing: {event.tokens_before:,} → {event.tokens_after:,} tokens"
        case CompactionEnded(succeeded=True, drained=drained) if drained:
            results = "one old tool result" if len(drained) == 1 else f"{len(drained)} old tool results"
            return f"{results} shortened: {event.tokens_before:,} → {event.tokens_after:,} tokens"
        case CompactionEnded(succeeded=True):
            return f"compacted by {event.method}: {event.tokens_before:,} → {event.tokens_after:,} tokens"
        case CompactionEnded():
            return f"compaction failed: {event.detail}"
        case HistoryRepaired():
            return f"history repaired: {'; '.join(event.repairs)}"
        case HistoryReplaced(reason="clear" | "rewind" as reason):
            return f"history replaced: {reason}"
        case LoopFound(loop=loop, relapse=relapse):
            again = " again" if relapse else ""
            return f"in circles{again}: {loop.summary}, {loop.copies} times ({loop.projection})"
        case LoopLeft(freed_by=freed_by):
            return f"out of the circle{f' after a {freed_by}' if freed_by else ''}"
        case Intervened(applied=False):
            return f"{event.rung} is not possible: {event.detail}"
        case Intervened(rung=rung) if rung not in (Rung.ROLLBACK, Rung.STOP):
            return f"{event.rung} {event.number} of {event.quota}: {event.detail}"
        case RolledBack(step=step, files_restored=files, not_undone=left):
            told = [f"back to the end of step {step}", *(["files: " + ", ".join(files)] if files else [])]
            return "; ".join(told + (["not undone: " + ", ".join(left)] if left else []))
        case HookRan(outcome=outcome) if outcome is not HookOutcome.PASSED:
            return f"hook {event.name} at {event.point}: {outcome}{': ' + event.detail if event.detail else ''}"
        case HookFailed(times=1):
            return f"hook {event.name} at {event.point} failed: {event.why}"
        case QuestionAsked(question=question, options=options):
            labels = " | ".join(option.label for option in options)
            return f"question: {question}{f' [{labels}]' if labels else ''}".replace("\n", " ")
        case QuestionAnswered(how="declined", by=by):
            return "not answered: no user was present" if by == "setting" else "declined to answer"
        case QuestionAnswered(answer=answer, by=by):
            return f"answered{' by the settings' if by == 'setting' else ''}: {answer}"
        case PermissionAnswered(answer="no"):
            return f"{event.tool} was not allowed{': ' + event.why if event.why else ''}"
        case SettingChanged():
            return f"{event.name} is now {event.value}"
        case FaultOrdered():
            return f"broken on purpose: {event.typed}"
        case SessionResumed():
            return f"resumed with {event.model}"
        case Notice():
            return f"{event.level}: {event.text}"
        case _:
            return ""


def _tool(end: ToolEnded, start: ToolStarted | None) -> str:
    mark = "●" if end.outcome is ToolOutcome.OK else "✗"
    call = f" {_code(start.summary)}" if start and start.summary else ""
    line = f"- {mark} **{end.tool}**{call}: {_line(end.summary) or end.outcome}, {end.duration_s:.1f} s"
    return line if not end.detail else f"{line}\n\n{_fenced(end.detail)}"


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
