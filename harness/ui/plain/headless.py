"""`harness -p`: one prompt, one answer on standard output, trouble as lines on standard error."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, TextIO

from harness.base.errors import SettingsError
from harness.base.terminal_text import counted, visible
from harness.base.threads import in_thread
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
from harness.session import Opening, Session, attachment_problem, exit_code, open_session, report_lines
from harness.settings import Loaded, Settings
from harness.ui.lines.events import line_of, source_lines
from harness.ui.lines.line import Line
from harness.ui.lines.loop_report import stuck_lines
from harness.ui.lines.loops import LeftOut
from harness.ui.lines.subagent_summary import CrowdLines
from harness.ui.plain.background_wait import Arrivals
from harness.ui.plain.questions import Unattended
from harness.ui.plain.standard_output import write_line
from harness.ui.signals import Signalled, heeding

if TYPE_CHECKING:
    from harness.session.answer_schema import AnswerSchema

SUBTYPES = {
    TransitionCode.COMPLETED: "success",
    TransitionCode.MAX_TURNS: "error_max_turns",
    TransitionCode.FAILURE_BUDGET_PAUSED: "error_failure_budget",
    TransitionCode.LOOP_STOPPED: "error_loop",
    TransitionCode.WAIT_LIMIT: "error_wait_limit",
    TransitionCode.ABORTED_STREAMING: "interrupted",
    TransitionCode.ABORTED_TOOLS: "interrupted",
}
"""Names that readers of a result object know; every other end is an error during execution."""


MOST_ARRIVALS = 50
"""Turns that begin with what has arrived. Nobody is there to stop a model that asks for one agent after the other."""


TRY_LESS = frozenset({TransitionCode.PROMPT_TOO_LONG, TransitionCode.BLOCKING_LIMIT, TransitionCode.COMPACTION_THRASH})
"""Ends of sessions that cannot be gone on with as they are."""


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
    schema: "AnswerSchema | None" = None,
    reread: Callable[[], Settings],
    log: logging.Logger,
) -> int:
    """Answer one prompt; with a `schema` the answer is JSON that fits it.

    Returns the exit code; raises HarnessError when the session cannot be opened, or a file not be attached that the
    prompt names.

    BrokenPipeError tells that nobody reads `out` any more; the session is closed by then.
    """
    if problem := await in_thread(partial(attachment_problem, prompt, loaded.settings.workspace)):
        raise SettingsError(problem)
    output = _Output(form, out, err, structured=schema is not None)
    opened = open_session(loaded, Unattended(), opening, reread=reread, observer=output.observe, log=log)
    with heeding() as signalled:
        try:
            async with await opened as session:
                for note in (*_notes(loaded), *session.retirements):
                    _tell(note, err)
                if session.skipped_lines:
                    _tell(f"{counted(session.skipped_lines, 'line')} of the journal could not be read", err)
                end, fits = await _answer(session, prompt, output, signalled, schema)
        except asyncio.CancelledError:
            if not signalled.number:
                raise
            return signalled.exit_code
        finally:
            output.catch_up()
    return _code(end, signalled) if fits else 1


async def _answer(
    session: Session, prompt: str, output: "_Output", signalled: Signalled, schema: "AnswerSchema | None"
) -> tuple[TurnEnded, bool]:
    """Play the prompt, then a turn for what each agent and command in the background brings, and one more where the
    answer does not fit the schema. The second value: it fits, or there is no schema."""
    arrivals = Arrivals(session, session.settings.background_wait_s, output.note)

    def stop() -> None:
        session.interrupt()
        arrivals.stop()

    signalled.interrupts(stop)
    if schema is not None and not session.answer_with(schema.output_format()):
        prompt = f"{prompt}\n\n{schema.instruction()}"
    ends = [await output.play(_begun(session, prompt))]
    while ends[-1].code is TransitionCode.COMPLETED and len(ends) <= MOST_ARRIVALS and not arrivals.given_up:
        with output.between():
            if not await arrivals.come():
                break
        ends.append(await output.play(session.deliver()))
    structured = None if schema is None else _structured(schema, ends)
    if schema is not None and structured is not None and structured.why and ends[-1].code is TransitionCode.COMPLETED:
        output.note(f"the answer does not fit the schema: {structured.why}; asking once more")
        ends.append(await output.play(session.run(schema.again(structured.why))))
        structured = _structured(schema, ends)
    end = _together(ends)
    if structured is not None:
        end = replace(end, answer=ends[-1].answer, sources=())
    output.result(end, session, structured)
    return end, structured is None or not structured.why or end.code is not TransitionCode.COMPLETED


@dataclass(frozen=True, slots=True)
class _Structured:
    """The last answer against the schema."""

    value: object = None
    why: str = ""
    """Why it does not fit; empty: it does."""


def _structured(schema: "AnswerSchema", ends: Sequence[TurnEnded]) -> _Structured:
    from harness.session.answer_schema import Misfit

    if ends[-1].code is not TransitionCode.COMPLETED:
        return _Structured(why="the turn ended before it")
    answer = next((end.answer for end in reversed(ends) if end.answer.strip()), "")
    try:
        return _Structured(schema.value(answer))
    except Misfit as misfit:
        return _Structured(why=misfit.why)


def _begun(session: Session, prompt: str) -> AsyncGenerator[Event, None]:
    """The turn of a prompt, or of a command that a file defines."""
    if prompt.startswith("/") and session.commands.commands:
        from harness.ui.commands.commands import TAKEN
        from harness.ui.commands.file_commands import file_command

        if (found := file_command(prompt, session, TAKEN)) is not None:
            return session.run_command(*found)
    return session.run(prompt)


def _together(ends: Sequence[TurnEnded]) -> TurnEnded:
    """The turns as one: how the last one ended, what all of them said and took."""
    return replace(
        ends[-1],
        answer="\n\n".join(end.answer for end in ends if end.answer),
        usage=sum((end.usage for end in ends), Usage()),
        cost_usd=sum(end.cost_usd for end in ends),
        unpriced=sum(end.unpriced for end in ends),
        sources=tuple(dict.fromkeys(source for end in ends for source in end.sources)),
        requests=sum(end.requests for end in ends),
        steps=sum(end.steps for end in ends),
        duration_s=sum(end.duration_s for end in ends),
    )


class _Output:
    """Tells what happens on the two streams."""

    def __init__(self, form: Form, out: TextIO, err: TextIO, *, structured: bool = False) -> None:
        """`structured`: the answer is told at the end, once it is known to fit."""
        self._form = form
        self._structured = structured
        self._out = out
        self._err = err
        self._left_out = LeftOut()
        self._work = CrowdLines(time.monotonic)
        self._outside: list[Event] = []
        """Events that belong to no turn and were not told yet."""
        self._listens = False

    async def play(self, turn: AsyncGenerator[Event, None]) -> TurnEnded:
        """Tell the events of a turn as they come, and its answer; returns its end."""
        ended: TurnEnded | None = None
        async with aclosing(turn) as events:
            async for event in events:
                self._show(event)
                if isinstance(event, TurnEnded):
                    ended = event
        self._tell_lines(self._work.rest())
        if ended is None:
            raise RuntimeError("the turn ended without its last event")
        if self._form is Form.TEXT and ended.answer and not self._structured:
            sources = "\n".join(map(str, source_lines(ended.sources)))
            text = f"{ended.answer}\n\n{sources}" if sources else ended.answer
            write_line(visible(text) if self._out.isatty() else text, self._out)
        return ended

    def observe(self, event: Event, at: float) -> None:
        """Take note of an event, if nobody else tells it."""
        if self._listens:
            self._outside.append(event)

    @contextmanager
    def between(self) -> Iterator[None]:
        """No turn runs: tell what happens meanwhile, at the end of it."""
        self._listens = True
        try:
            yield
        finally:
            self._listens = False
            self.catch_up()

    def note(self, text: str) -> None:
        """Tell a person something that is no event."""
        self._tell_lines(self._work.rest())
        _tell(text, self._err)

    def catch_up(self) -> None:
        """Tell what happened outside of turns."""
        events, self._outside = self._outside, []
        for event in events:
            self._show(event)
        self._tell_lines(self._work.rest())

    def result(self, end: TurnEnded, session: Session, structured: "_Structured | None" = None) -> None:
        """The last word. What is ended now because nobody would see it any more is only told to a person."""
        if self._form is not Form.TEXT:
            write_line(json.dumps(result(end, session) | _told(end, structured)), self._out)
        elif structured is not None and not structured.why:
            write_line(json.dumps(structured.value, ensure_ascii=False), self._out)
        if structured is not None and structured.why and end.code is TransitionCode.COMPLETED:
            _tell(f"harness: the answer does not fit the schema: {structured.why}{_going_on(end, session)}", self._err)
        if end.code is not TransitionCode.COMPLETED:
            _tell(f"harness: {end.reason} ({end.code}){_going_on(end, session)}", self._err)
        self._listens = self._form is not Form.STREAM_JSON

    def _show(self, event: Event) -> None:
        if self._form is Form.STREAM_JSON:
            write_line(json.dumps(encode(event)), self._out)
        elif text := _trouble(event, self._left_out):
            _tell(text, self._err)
        else:
            self._tell_lines(self._work.lines(event))

    def _tell_lines(self, lines: Iterable[Line]) -> None:
        for line in lines:
            _tell(str(line), self._err)


def _going_on(end: TurnEnded, session: Session) -> str:
    """The command that goes on with a session, behind the reason why its turn ended."""
    if end.code in TRY_LESS or exit_code(end.code) == 130:
        return ""
    return f'; to go on: harness -p --resume {session.id} "go on"'


def _trouble(event: Event, left_out: LeftOut) -> str:
    """What standard error says of an event that is about no other work; empty for nothing."""
    match event:
        case PauseReported(report=report):
            return "\n".join(report_lines(report))
        case StuckReported():
            return "\n".join(stuck_lines(event))
        case CheckpointMade():
            return str(left_out.line(event) or "")
        case _:
            return str(line_of(event) or "")


def result(end: TurnEnded, session: Session) -> Json:
    """The object that tells a program how the turn went (terminal §2)."""
    return {
        "type": "result",
        "subtype": SUBTYPES.get(end.code, "error_during_execution"),
        "is_error": end.code is not TransitionCode.COMPLETED,
        "result": end.answer,
        **({"sources": [{"title": one.title, "url": one.url} for one in end.sources]} if end.sources else {}),
        "duration_ms": round(end.duration_s * 1000),
        "num_turns": end.steps,
        "num_requests": end.requests,
        "session_id": session.id,
        "total_cost_usd": None if end.unpriced else end.cost_usd,
        "usage": _usage(end.usage),
        "transition": end.code.value,
        "reason": end.reason,
        "exit_code": exit_code(end.code),
    }


def _told(end: TurnEnded, structured: _Structured | None) -> Json:
    """What the result object says of an answer that has to fit a schema."""
    if structured is None:
        return {}
    if not structured.why:
        return {"structured_output": structured.value}
    if end.code is not TransitionCode.COMPLETED:
        return {"structured_output": None}
    return {
        "structured_output": None,
        "subtype": "error_max_structured_output_retries",
        "is_error": True,
        "reason": f"the answer does not fit the schema: {structured.why}",
        "exit_code": 1,
    }


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_creation,
        "cache_read_input_tokens": usage.cache_read,
        "server_tool_use": {"web_search_requests": usage.web_searches},
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
