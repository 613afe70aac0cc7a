"""`harness -p`: one prompt, one answer on standard output, trouble as lines on standard error."""

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import aclosing, suppress
from enum import StrEnum
from typing import TextIO

from harness.events import (
    CheckpointMade,
    Event,
    Json,
    PauseReported,
    StuckReported,
    TransitionCode,
    TurnEnded,
    Usage,
    encode,
)
from harness.session import Nobody, Opening, Session, exit_code, open_session, report_lines
from harness.settings import Loaded, Settings
from harness.ui.escape_lines import LeftOut
from harness.ui.lines import line_of
from harness.ui.signals import Signalled, heeding
from harness.ui.standard_output import write_line
from harness.ui.stuck_report import stuck_lines
from harness.ui.work_lines import WorkLines
from harness.visible import visible

SUBTYPES = {
    TransitionCode.COMPLETED: "success",
    TransitionCode.MAX_TURNS: "error_max_turns",
    TransitionCode.FAILURE_BUDGET_PAUSED: "error_failure_budget",
    TransitionCode.LOOP_STOPPED: "error_loop",
    TransitionCode.ABORTED_STREAMING: "interrupted",
    TransitionCode.ABORTED_TOOLS: "interrupted",
}
"""Names that readers of a result object know; every other end is an error during execution."""


class Form(StrEnum):
    """What standard output holds."""

    TEXT = "text"
    """The answer and nothing else."""
    JSON = "json"
    """One result object."""
    STREAM_JSON = "stream-json"
    """Every event as a line of JSON, the result object last."""


async def headless(
    loaded: Loaded,
    prompt: str,
    opening: Opening,
    form: Form,
    out: TextIO,
    err: TextIO,
    *,
    reread: Callable[[], Settings],
    log: logging.Logger,
) -> int:
    """Answer one prompt. Returns the exit code; raises HarnessError when the session cannot be opened.

    BrokenPipeError tells that nobody reads `out` any more; the session is closed by then.
    """
    with heeding() as signalled:
        try:
            async with await open_session(loaded, Nobody(), opening, reread=reread, log=log) as session:
                signalled.interrupts(session.interrupt)
                for note in _notes(loaded):
                    _tell(note, err)
                if session.skipped_lines:
                    _tell(f"{session.skipped_lines} lines of the journal could not be read", err)
                end = await _answer(session, prompt, form, out, err)
        except asyncio.CancelledError:
            if not signalled.number:
                raise
            return signalled.exit_code
    return _code(end, signalled)


async def _answer(session: Session, prompt: str, form: Form, out: TextIO, err: TextIO) -> TurnEnded:
    ended: TurnEnded | None = None
    left_out, work = LeftOut(), WorkLines()
    async with aclosing(session.run(prompt)) as events:
        async for event in events:
            if form is Form.STREAM_JSON:
                write_line(json.dumps(encode(event)), out)
            elif text := _trouble(event, left_out, work):
                _tell(text, err)
            if isinstance(event, TurnEnded):
                ended = event
    if ended is None:
        raise RuntimeError("the turn ended without its last event")
    if form is not Form.TEXT:
        write_line(json.dumps(result(ended, session)), out)
    elif ended.answer:
        write_line(visible(ended.answer) if out.isatty() else ended.answer, out)
    if ended.code is not TransitionCode.COMPLETED:
        _tell(f"harness: {ended.reason} ({ended.code})", err)
    return ended


def _trouble(event: Event, left_out: LeftOut, work: WorkLines) -> str:
    """What standard error says of an event; empty for nothing."""
    match event:
        case PauseReported(report=report):
            return "\n".join(report_lines(report))
        case StuckReported():
            return "\n".join(stuck_lines(event))
        case CheckpointMade():
            return str(left_out.line(event) or "")
        case _:
            return str(line_of(event) or work.line(event) or "")


def result(end: TurnEnded, session: Session) -> Json:
    """The object that tells a program how the turn went (terminal §2)."""
    return {
        "type": "result",
        "subtype": SUBTYPES.get(end.code, "error_during_execution"),
        "is_error": end.code is not TransitionCode.COMPLETED,
        "result": end.answer,
        "duration_ms": round(end.duration_s * 1000),
        "num_turns": end.steps,
        "num_requests": end.requests,
        "session_id": session.id,
        "total_cost_usd": end.cost_usd,
        "usage": _usage(end.usage),
        "transition": end.code.value,
        "reason": end.reason,
        "exit_code": exit_code(end.code),
    }


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_creation,
        "cache_read_input_tokens": usage.cache_read,
    }


def _notes(loaded: Loaded) -> tuple[str, ...]:
    settings, notes = loaded.settings, loaded.notes
    if settings.practice and loaded.origins["practice"].startswith("default"):
        notes = (*notes, "no key is set, so the built-in practice model answers; set ANTHROPIC_API_KEY")
    if settings.tool_faults is not None:
        notes = (*notes, f"tools fail as {settings.tool_faults} says (--tool-faults)")
    return notes


def _tell(text: str, err: TextIO) -> None:
    """Write a line for a person. Where that fails, because nobody reads or the disk is full, the turn goes on."""
    with suppress(OSError):
        print(visible(text), file=err, flush=True)


def _code(end: TurnEnded, signalled: Signalled) -> int:
    return signalled.exit_code if signalled.number else exit_code(end.code)
