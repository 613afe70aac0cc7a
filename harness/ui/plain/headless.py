"""`harness -p`: one prompt, the answer on standard output, events as lines on standard error."""

import asyncio
import json
import logging
import shlex
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, TextIO

from harness.base.concurrency import in_thread
from harness.base.errors import HarnessError, SettingsError
from harness.base.external_text import counted, visible
from harness.events import (
    Event,
    Json,
    PauseReported,
    ProposedPlan,
    QuestionAsked,
    SpendChanged,
    StuckReported,
    TransitionCode,
    TurnEnded,
    Usage,
    encode,
)
from harness.media.mentions import mentions
from harness.session import Asker, Opening, Session, attachment_problem, exit_code, open_session, report_lines
from harness.settings import LoadedSettings, Settings
from harness.ui.lines.events import line_of, source_lines
from harness.ui.lines.line import Line
from harness.ui.lines.reports import stuck_lines
from harness.ui.lines.work import SubagentSummary
from harness.ui.plain.keyed_prompts import KeyedPrompt, keyed_prompt
from harness.ui.plain.streams import LineWriter
from harness.ui.plain.unattended import BackgroundWait, Unattended, short
from harness.ui.signals import SignalState, handle_signals

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
"""Subtypes of a result object; every other end is an error during execution."""

MOST_ARRIVALS = 50
"""Turns started by arrived results. No user is present to stop a model that starts one subagent after another."""

NOT_RESUMABLE = frozenset(
    {TransitionCode.PROMPT_TOO_LONG, TransitionCode.BLOCKING_LIMIT, TransitionCode.COMPACTION_THRASH}
)
"""Ends after which resuming would fail in the same way."""


class OutputFormat(StrEnum):
    """The format of standard output."""

    TEXT = "text"
    """The answer only."""
    JSON = "json"
    """One result object."""
    STREAM_JSON = "stream-json"
    """Every event as a line of JSON, the result object last."""


@dataclass(frozen=True, slots=True)
class Lead:
    """A program that leads the session in place of a prompt."""

    begin: Callable[[Session], AsyncGenerator[Event, None]]
    """Its turn."""
    again: tuple[str, ...]
    """The command that resumes it; the id of the session follows."""
    follow: Callable[[Session], Awaitable[None]] | None = None
    """What it does once its turn has ended with an answer, before results are waited for. May raise HarnessError."""
    report: Callable[[Session], Awaitable["LeadReport"]] | None = None
    """How it has ended; written in place of the answers."""
    asker: Asker | None = None
    """Answers questions; None: whatever would ask is refused."""


@dataclass(frozen=True, slots=True)
class LeadReport:
    """How the work that a program has led has ended."""

    text: str
    fields: Json
    """The same, for the result object."""
    problem: str = ""
    """Why it has not reached what it was to reach, as a sentence; empty: it has."""


async def headless(
    loaded: LoadedSettings,
    prompt: str,
    opening: Opening,
    form: OutputFormat,
    out: TextIO,
    err: TextIO,
    *,
    schema: "AnswerSchema | None" = None,
    lead: Lead | None = None,
    key: str = "",
    reread: Callable[[], Settings],
    log: logging.Logger,
) -> int:
    """Answer one prompt and return the exit code; with a `schema` the answer is JSON that fits it. A `lead` answers in
    place of the model; `prompt` is then only its name. A prompt with a `key` is run once: another call prints the
    recorded answer, or goes on with a turn that did not come to its end.

    Raises HarnessError if the session cannot be opened or an attachment cannot be read, and BrokenPipeError, after
    closing the session, if the reader of `out` has gone.
    """
    checked = partial(attachment_problem, prompt, loaded.settings.workspace)
    if lead is None and mentions(prompt) and (problem := await in_thread(checked)):
        raise SettingsError(problem)
    output = _Output(form, out, err, structured=schema is not None, lead=lead)
    keyed = None
    if key:
        keyed, session_id = await in_thread(partial(keyed_prompt, loaded.settings, opening.resume, key, prompt))
        if keyed.answered:
            async with output.written():
                return _answered_before(keyed, session_id, output, schema)
    answer_format = None if schema is None else schema.output_format(lazy_sdk=loaded.settings.lazy_sdk)
    opened = open_session(
        loaded,
        (lead and lead.asker) or Unattended(),
        opening,
        answer_format=answer_format,
        reread=reread,
        observer=output.observe,
        log=log,
    )
    with handle_signals() as signalled:
        try:
            async with output.written(), await opened as session:
                for note in (*notes_of(loaded), *session.retirements):
                    print_note(note, err)
                if notice := session.take_sandbox_notice():
                    print_note(f"sandbox: {notice}", err)
                for line in filter(None, map(line_of, session.begun)):
                    print_note(line.text, err)
                if session.skipped_lines:
                    print_note(f"{counted(session.skipped_lines, 'line')} of the journal could not be read", err)
                if lead is None and (problem := session.context.too_long(prompt)):
                    raise SettingsError(problem)
                output.planning = session.permissions.mode == "plan"
                if output.planning and schema is not None:
                    raise SettingsError("--json-schema asks for an answer and plan mode for a plan; give one of them.")
                begun = lead.begin(session) if lead else _begun(session, prompt, _added(session, schema))
                begun = begun if keyed is None else keyed.turn(session, begun)
                end, fits = await _answer(session, begun, output, signalled, schema)
        except asyncio.CancelledError:
            if not signalled.number:
                raise
            return signalled.exit_code
    if not fits:
        return 1
    return signalled.exit_code if signalled.number else output.exit_code(end)


def _answered_before(keyed: KeyedPrompt, session: str, output: "_Output", schema: "AnswerSchema | None") -> int:
    """Print what an earlier call with the same key got; returns the exit code."""
    structured = None if schema is None else _structured(schema, keyed.ends)
    for end in keyed.ends:
        output.answer(end)
    spent = _spent(
        sum(end.requests for end in keyed.ends),
        reduce(add, (end.usage for end in keyed.ends)),
        sum(end.cost_usd for end in keyed.ends),
    )
    spent = replace(spent, unpriced=sum(end.unpriced for end in keyed.ends))
    end = _together(keyed.ends, _spent(0, Usage(), 0.0), spent)
    output.result(end, session, structured)
    return 1 if structured is not None and structured.why else output.exit_code(end)


def _spent(requests: int, usage: Usage, cost_usd: float) -> SpendChanged:
    return SpendChanged(requests, usage, cost_usd, Usage(), 0.0)


def _added(session: Session, schema: "AnswerSchema | None") -> str:
    """What asks for the schema in words, where the request does not."""
    return schema.instruction() if schema is not None and not session.asks_for_format else ""


async def _answer(
    session: Session,
    begun: AsyncGenerator[Event, None],
    output: "_Output",
    signalled: SignalState,
    schema: "AnswerSchema | None",
) -> tuple[TurnEnded, bool]:
    """Play the turn, then a turn for each result of background work, and one more if the answer does not fit the
    schema. The second value: whether it fits, or there is no schema."""
    wait = BackgroundWait(session, session.settings.background_wait_s, output.note)

    def stop() -> None:
        session.interrupt()
        wait.stop()
        output.writer.end()

    signalled.interrupts(stop)
    before = session.conversation.spend
    ends = [await output.play(begun)]
    if ends[-1].code is TransitionCode.COMPLETED:
        await output.followed(session)
    while ends[-1].code is TransitionCode.COMPLETED and len(ends) <= most_arrivals(session) and not wait.given_up:
        if output.plan is not None:
            break
        with output.between():
            if not await wait.come():
                break
        ends.append(await output.play(session.deliver()))
    structured = None if schema is None else _structured(schema, ends)
    if schema is not None and structured is not None and structured.why and ends[-1].code is TransitionCode.COMPLETED:
        output.note(f"the answer does not fit the schema: {structured.why}; asking once more")
        ends.append(await output.play(session.run(schema.again(structured.why))))
        structured = _structured(schema, ends)
    end = _together(ends, before, session.conversation.spend)
    if structured is not None:
        end = replace(end, answer=ends[-1].answer, sources=())
    end = await output.reported(session, end, ends[-1].answer)
    output.result(end, session.id, structured)
    return end, structured is None or not structured.why or end.code is not TransitionCode.COMPLETED


def most_arrivals(session: Session) -> int:
    """How many turns may be started by arrived results: each member may report."""
    return MOST_ARRIVALS + (len(session.background.team.rows) if session.background.has_team else 0)


@dataclass(frozen=True, slots=True)
class _Structured:
    """The last answer, validated against the schema."""

    value: object = None
    why: str = ""
    """Why it does not fit; empty if it does."""


def _structured(schema: "AnswerSchema", ends: Sequence[TurnEnded]) -> _Structured:
    from harness.session.answer_schema import SchemaMismatch

    if ends[-1].code is not TransitionCode.COMPLETED:
        return _Structured(why="the turn ended before it")
    answer = next((end.answer for end in reversed(ends) if end.answer.strip()), "")
    try:
        return _Structured(schema.value(answer))
    except SchemaMismatch as misfit:
        return _Structured(why=misfit.why)


def _begun(session: Session, prompt: str, added: str) -> AsyncGenerator[Event, None]:
    """The turn of a prompt, or of a slash command. Raises SettingsError for a command that is none."""
    if not prompt.startswith("/"):
        return session.run(f"{prompt}\n\n{added}" if added else prompt)
    from harness.ui.commands.commands import turn_alone
    from harness.ui.commands.results import CommandError

    try:
        return turn_alone(prompt, session, added)
    except CommandError as error:
        raise SettingsError(f"{error} A prompt that starts with a slash is written with two.") from error


def _together(ends: Sequence[TurnEnded], before: SpendChanged, after: SpendChanged) -> TurnEnded:
    """The turns as one: the end of the last, the answers of all, and what they and the work between them cost."""
    return replace(
        ends[-1],
        answer="\n\n".join(end.answer for end in ends if end.answer),
        usage=after.usage - before.usage,
        cost_usd=after.cost_usd - before.cost_usd,
        unpriced=after.unpriced - before.unpriced,
        sources=tuple(dict.fromkeys(source for end in ends for source in end.sources)),
        denials=tuple(denial for end in ends for denial in end.denials),
        requests=after.requests - before.requests,
        steps=sum(end.steps for end in ends),
        duration_s=sum(end.duration_s for end in ends),
    )


class _Output:
    """Writes events and the answer to the two streams."""

    def __init__(
        self, form: OutputFormat, out: TextIO, err: TextIO, *, structured: bool = False, lead: Lead | None = None
    ) -> None:
        """
        Args:
            structured: the answer is written at the end, once it is known to fit.
            lead: what leads the session in place of a prompt.
        """
        self._form = form
        self._lead = lead
        self._late = structured or (lead is not None and lead.report is not None)
        """The answer is written at the end."""
        self._report: LeadReport | None = None
        self.planning = False
        """The session is in plan mode, so the plan is the answer."""
        self.plan: ProposedPlan | None = None
        """The plan that was proposed last."""
        self._failed = ""
        """Why what a command was to do after its answer was not done; empty: nothing failed."""
        self.writer = LineWriter(out)
        self._err = err
        self._summary = SubagentSummary(time.monotonic)
        self._outside: list[Event] = []
        """Events outside of turns that were not written yet."""
        self._collecting = False

    @asynccontextmanager
    async def written(self) -> AsyncIterator[None]:
        """At the end of the block, write what was collected, and wait until all is read."""
        async with self.writer:
            try:
                yield
            finally:
                self.catch_up()

    async def play(self, turn: AsyncGenerator[Event, None]) -> TurnEnded:
        """Write the events of a turn as they come, and its answer; returns its end."""
        ended: TurnEnded | None = None
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    self._show(event)
                    await self.writer.keep_pace()
                    if isinstance(event, TurnEnded):
                        ended = event
        except HarnessError as error:
            if ended is None:
                raise
            self._failed = str(error)
        self._print_lines(self._summary.rest())
        if ended is None:
            raise RuntimeError("the turn ended without its last event")
        if self.plan is not None:
            steps = "".join(f"\n- {step}" for step in self.plan.steps)
            ended = replace(ended, answer=f"{self.plan.text}\n{steps}".strip())
        self.answer(ended)
        return ended

    def answer(self, ended: TurnEnded) -> None:
        """Write the answer of a turn, where it is not part of an object."""
        if self._form is OutputFormat.TEXT and ended.answer and not self._late:
            sources = "\n".join(map(str, source_lines(ended.sources)))
            text = f"{ended.answer}\n\n{sources}" if sources else ended.answer
            self.writer.write(visible(text) if self.writer.isatty else text)

    async def followed(self, session: Session) -> None:
        """Let the lead do what follows its turn. What fails there is part of the result."""
        if self._lead is not None and self._lead.follow is not None:
            with self.between():
                try:
                    await self._lead.follow(session)
                except HarnessError as error:
                    self._failed = str(error)

    async def reported(self, session: Session, end: TurnEnded, last: str) -> TurnEnded:
        """The end, with the report of the lead behind its last answer, where it makes one."""
        if self._lead is None or self._lead.report is None:
            return end
        self._report = report = await self._lead.report(session)
        if end.code is TransitionCode.COMPLETED:
            self._failed = self._failed or report.problem
        return replace(end, answer=f"{last}\n\n{report.text}".strip())

    def observe(self, event: Event, at: float) -> None:
        """Collect an event if no turn writes it."""
        if self._collecting:
            self._outside.append(event)

    @contextmanager
    def between(self) -> Iterator[None]:
        """Between two turns: collect events, and write them at the end."""
        self._collecting = True
        try:
            yield
        finally:
            self._collecting = False
            self.catch_up()

    def note(self, text: str) -> None:
        """Write a line that is not an event."""
        self._print_lines(self._summary.rest())
        print_note(text, self._err)

    def catch_up(self) -> None:
        """Write the events collected outside of turns."""
        events, self._outside = self._outside, []
        for event in events:
            self._show(event)
        self._print_lines(self._summary.rest())

    def result(self, end: TurnEnded, session: str, structured: "_Structured | None" = None) -> None:
        """Write the result. Events that follow, from the end of background work, go to standard error only."""
        if self._form is not OutputFormat.TEXT:
            fields = result(end, session) | _structured_result(end, structured) | self._plan_result(end)
            fields |= self._failed_result(end) | (self._report.fields if self._report else {})
            self.writer.write(json.dumps(fields))
        elif self._report is not None:
            self.writer.write(visible(end.answer) if self.writer.isatty else end.answer)
        elif structured is not None and not structured.why:
            self.writer.write(json.dumps(structured.value, ensure_ascii=False))
        if structured is not None and structured.why and end.code is TransitionCode.COMPLETED:
            print_note(
                f"harness: the answer does not fit the schema: {structured.why}{self._how_to_resume(end, session)}",
                self._err,
            )
        if end.code is not TransitionCode.COMPLETED:
            print_note(f"harness: {end.reason} ({end.code}){self._how_to_resume(end, session)}", self._err)
        if self._lacks_plan(end):
            print_note(f"harness: {NO_PLAN}", self._err)
        if self._failed:
            print_note(f"harness: {self._failed}", self._err)
        if end.denials and self.plan is None:
            print_note(_denied(end, self.exit_code(end)), self._err)
        self._collecting = self._form is not OutputFormat.STREAM_JSON

    def _how_to_resume(self, end: TurnEnded, session: str) -> str:
        """The command that resumes the session, to append to the reason why its turn ended."""
        if end.code in NOT_RESUMABLE or exit_code(end.code) == 130:
            return ""
        command = shlex.join((*self._lead.again, session)) if self._lead else f'harness -p --resume {session} "go on"'
        return f"; to continue: {command}"

    def exit_code(self, end: TurnEnded) -> int:
        """The exit code after this end. A proposed plan is a whole answer, whatever was refused on the way."""
        return (
            0
            if self.plan is not None and end.code is TransitionCode.COMPLETED
            else int(self._lacks_plan(end)) or _exit_code(end) or int(bool(self._failed))
        )

    def _lacks_plan(self, end: TurnEnded) -> bool:
        return self.planning and self.plan is None and end.code is TransitionCode.COMPLETED

    def _plan_result(self, end: TurnEnded) -> Json:
        """The fields of the result object in plan mode."""
        if self._lacks_plan(end):
            return {"subtype": "error_no_plan", "is_error": True, "reason": NO_PLAN, "exit_code": 1}
        if self.plan is None:
            return {}
        return {"plan": {"text": self.plan.text, "steps": list(self.plan.steps)}, "exit_code": self.exit_code(end)}

    def _failed_result(self, end: TurnEnded) -> Json:
        """The fields of the result object where the answer came and what follows it failed."""
        failed = {"subtype": "error_during_execution", "is_error": True, "reason": self._failed}
        return failed | {"exit_code": self.exit_code(end)} if self._failed else {}

    def _show(self, event: Event) -> None:
        if isinstance(event, QuestionAsked) and event.plan is not None:
            self.plan = event.plan
        if self._form is OutputFormat.STREAM_JSON:
            self.writer.write(json.dumps(encode(event)))
        elif isinstance(event, PauseReported):
            print_note("\n".join(report_lines(event.report)), self._err)
        elif isinstance(event, StuckReported):
            print_note("\n".join(stuck_lines(event)), self._err)
        else:
            self._print_lines(self._summary.lines(event))

    def _print_lines(self, lines: Iterable[Line]) -> None:
        for line in lines:
            print_note(str(line), self._err)


NO_PLAN = "no plan was proposed in plan mode; ask for one, or choose another --permission-mode"
DENIED = 4
"""Exit code of a run that ended before the model was done."""
SHOWN_DENIALS = 5


def _exit_code(end: TurnEnded) -> int:
    return DENIED if end.denials and end.code is TransitionCode.COMPLETED else exit_code(end.code)


def _denied(end: TurnEnded, code: int) -> str:
    shown = "; ".join(
        short(f"{one.tool} {short(json.dumps(one.input, ensure_ascii=False), 80)}: {one.why}", 240)
        for one in end.denials[:SHOWN_DENIALS]
    )
    more = f"; … {len(end.denials) - SHOWN_DENIALS} more" if len(end.denials) > SHOWN_DENIALS else ""
    calls = counted(len(end.denials), "tool call")
    return f"harness: {calls} not allowed, so the answer may lack something (exit code {code}): {shown}{more}"


def result(end: TurnEnded, session: str) -> Json:
    """The result object of a run, for programs."""
    return {
        "type": "result",
        "subtype": SUBTYPES.get(end.code, "error_during_execution"),
        "is_error": end.code is not TransitionCode.COMPLETED,
        "result": end.answer,
        **({"sources": [{"title": one.title, "url": one.url} for one in end.sources]} if end.sources else {}),
        "duration_ms": round(end.duration_s * 1000),
        "num_turns": end.steps,
        "num_requests": end.requests,
        "session_id": session,
        "total_cost_usd": None if end.unpriced else end.cost_usd,
        "usage": usage_fields(end.usage),
        "transition": end.code.value,
        "reason": end.reason,
        "permission_denials": [
            {"tool_name": one.tool, "tool_use_id": one.call_id, "tool_input": one.input, "reason": one.why}
            for one in end.denials
        ],
        "exit_code": _exit_code(end),
    }


def _structured_result(end: TurnEnded, structured: _Structured | None) -> Json:
    """The fields of the result object for an answer that has to fit a schema."""
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


def usage_fields(usage: Usage) -> Json:
    """Usage as the Messages API writes it."""
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_creation,
        "cache_read_input_tokens": usage.cache_read,
        "server_tool_use": {"web_search_requests": usage.web_searches},
    }


def notes_of(loaded: LoadedSettings) -> tuple[str, ...]:
    """What the user has to know about the settings before the first turn."""
    settings, notes = loaded.settings, loaded.notes
    if settings.practice and loaded.origins["practice"].startswith("default"):
        notes = (*notes, "no key is set, so the built-in practice model answers; set ANTHROPIC_API_KEY")
    if settings.tool_faults is not None:
        notes = (*notes, f"tools fail as {settings.tool_faults} says (--tool-faults)")
    return notes


def print_note(text: str, err: TextIO) -> None:
    """Write a line to standard error. If that fails, because of a closed pipe or a full disk, the turn continues."""
    with suppress(OSError):
        print(visible(text), file=err, flush=True)
