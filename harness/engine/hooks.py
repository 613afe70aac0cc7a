"""The hooks of a conversation: asked at their points, each answer an event, several answers made one.

`HookRunner` knows the points of a turn; `HookInvoker` runs one hook: a function of this program, or a shell command of
the user.
"""

import asyncio
import copy
import inspect
import json
import os
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal, TypeVar

from harness.base.concurrency import unless
from harness.base.external_text import sendable
from harness.engine.core import AgentCore
from harness.engine.turn import Turn
from harness.events import (
    Event,
    HookFailed,
    HookPoint,
    HookRan,
    Json,
    LoopAsked,
    Origin,
    PermissionAsked,
    QuestionAsked,
    ToolCall,
    TransitionCode,
    TurnEnded,
    WaitOffered,
)
from harness.hooks import Hook, HookAnswer, HookCall, HookError, HookFunction, HookNote, MergedAnswer, in_one_line
from harness.hooks.commands import MOST_BYTES, answer_of, own_answer
from harness.hooks.definition import UnclearAnswerError
from harness.hooks.merge import MOST_REASON, as_a_no, checked, outcome_of
from harness.model import notices
from harness.policies.recovery import Continue, Stop, at_turn_end
from harness.processes import Processes, ProcessLimits
from harness.sandbox import ProfileName
from harness.tools.bash import shell_command, shell_environment
from harness.tools.tool import ToolResult, shorten_line

T = TypeVar("T")
EXPECTED = (TransitionCode.COMPLETED, TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS)
"""Ends of a turn that the user waits for, or has brought about; of every other one they are notified."""


@dataclass(frozen=True, slots=True)
class SubmittedPrompt:
    """A prompt after its hooks."""

    prompt: str
    context: str = ""
    """What they want the model to know."""
    refused: str = ""
    """Why the prompt is refused; empty: it is not."""


class HookRunner:
    """Asks the hooks of one conversation.

    One after another, in order, each with the input as those before it left it. All of them are asked, also after a
    no. Without a hook at a point nothing happens there, not even an event.
    """

    def __init__(
        self,
        core: AgentCore,
        hooks: Sequence[Hook],
        ongoing: Callable[[], Awaitable[tuple[Json, ...]]] | None = None,
    ) -> None:
        """
        Args:
            ongoing: the background work of the session, for stop hooks (`HookCall.background`); None: there is none.

        For a subagent only the hooks of tools, compactions and questions run; sessions, prompts and ends of turns
        belong to the user.
        """
        self.hooks = tuple(hooks)
        self._runs = HookInvoker(core.shared.processes, core.settings.workspace)
        self._conversation = core.conversation
        self._signals = core.signals
        self._limits = core.limits
        self._workspace = str(core.settings.workspace)
        journal = core.journal
        self._session = journal.stem
        self._journal = str(journal)
        self._agent = core.id
        self._ongoing = ongoing
        self.points = frozenset(hook.point for hook in hooks)
        """Where at least one hook is asked."""
        self._began = False
        self._pending_notes: tuple[HookNote, ...] = ()
        """What the hooks of session_start want the model to know with the first prompt."""
        self._failures: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[object]] = set()
        self.stopped = ""
        """Why a hook wants the turn to end after these tool calls; empty: it does not."""

    # ── session and prompt ──────────────────────────────────────────────────────────────────────

    async def submit(self, prompt: str | None) -> SubmittedPrompt:
        """Ask about a prompt, and before the first turn about the session; None: the turn has no prompt."""
        self.begin()
        if refused := await self._begin_session():
            return SubmittedPrompt(prompt or "", refused=refused)
        if prompt is None or self._agent:
            return SubmittedPrompt(prompt or "")
        asked = await self._ask(self._call(HookPoint.PROMPT_SUBMIT, input={"prompt": prompt}))
        if refused := in_one_line((*asked.stops, *asked.blocks)):
            return SubmittedPrompt(prompt, refused=refused)
        notes, self._pending_notes = (*self._pending_notes, *asked.contexts), ()
        return SubmittedPrompt(str(asked.input["prompt"]), words_of(notes))

    def begin(self) -> None:
        """A turn, or a call beside one, begins: what stopped the last one is over."""
        self.stopped = ""

    async def _begin_session(self) -> str:
        """Run the session_start hooks; return why the session may not begin, or "" if it may or has begun."""
        if self._began or self._agent:
            return ""
        source = "resumed" if self._conversation.messages else "new"
        asked = await self._ask(self._call(HookPoint.SESSION_START, source=source))
        if refused := in_one_line((*asked.stops, *asked.blocks)):
            return refused
        self._began = not self._signals.interrupt.is_set()
        self._pending_notes = asked.contexts
        return ""

    async def aclose(self) -> None:
        """Ask the hooks of session_end if the session has begun, and wait for every hook that still runs."""
        if self._began:
            self._began = False
            self._signals.interrupt.clear()
            await self._ask(self._call(HookPoint.SESSION_END))
        while self._tasks:
            await asyncio.wait(self._tasks)

    # ── tools ───────────────────────────────────────────────────────────────────────────────────

    async def before_tool(self, call: ToolCall) -> MergedAnswer:
        """What the hooks decide about a call that would run."""
        asked = await self._ask(self._call(HookPoint.BEFORE_TOOL, tool=call.name, call_id=call.id, input=call.input))
        self._note_stop(asked)
        return asked

    async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """The result of a call, with what the hooks have to say about it behind it."""
        asked = await self._ask(
            self._call(
                HookPoint.AFTER_TOOL,
                tool=call.name,
                call_id=call.id,
                input=call.input,
                outcome=result.outcome.value,
                result=result.content,
            )
        )
        self._note_stop(asked)
        objection = notices.hook_rejected_result(in_one_line(asked.blocks)) if asked.blocks else ""
        return with_words(result, objection, words_of(asked.contexts))

    def _note_stop(self, asked: MergedAnswer) -> None:
        self.stopped = self.stopped or in_one_line(asked.stops)

    # ── compaction ──────────────────────────────────────────────────────────────────────────────

    async def before_compaction(self, trigger: str, size: Callable[[], int]) -> MergedAnswer:
        """What the hooks decide about a compaction; `size` counts the tokens of the history."""
        return await self._ask(self._compaction(HookPoint.BEFORE_COMPACTION, trigger, size))

    async def after_compaction(self, trigger: str, size: Callable[[], int]) -> None:
        """Tell the hooks of a compaction, and the model what they say."""
        asked = await self._ask(self._compaction(HookPoint.AFTER_COMPACTION, trigger, size))
        if words := words_of(asked.contexts):
            self._conversation.add("user", ({"type": "text", "text": words},), Origin.HOOK)

    def _compaction(self, point: HookPoint, trigger: str, size: Callable[[], int]) -> HookCall:
        return self._call(point, trigger=trigger, tokens=size() if point in self.points else 0)

    # ── tasks ───────────────────────────────────────────────────────────────────────────────────

    async def refuses_task(self, point: HookPoint, task: Json) -> str:
        """Why a task may not be created or completed, in one line; empty: it may."""
        return in_one_line((await self._ask(self._call(point, task=task))).blocks)

    # ── the end of a turn ───────────────────────────────────────────────────────────────────────

    async def may_end(self, turn: Turn, stop: Stop) -> Stop | Continue:
        """What becomes of a turn that would end as completed; any other end is none of the hooks' business."""
        if self._agent or stop.code is not TransitionCode.COMPLETED:
            return stop
        ongoing = await self._ongoing() if self._ongoing and HookPoint.STOP in self.points else ()
        call = self._call(HookPoint.STOP, answer=turn.answer, objections=stop.state.objections, background=ongoing)
        asked = await self._ask(call)
        objection = "\n\n".join(f"{said.hook}: {said.text}" for said in asked.blocks)
        decision = at_turn_end(stop, self._limits, objection=objection, prevented=in_one_line(asked.stops))
        if isinstance(decision, Continue):
            turn.state = decision.state
            turn.begin_paragraph()
        return decision

    # ── what waits for the user ───────────────────────────────────────────────────────────────

    def on_event(self, event: Event) -> None:
        """Start the notification hooks, which no turn waits for."""
        if HookPoint.NOTIFICATION not in self.points:
            return
        match event:
            case PermissionAsked(tool=tool, summary=summary):
                self._notify("permission", f"{tool} {summary}".rstrip())
            case QuestionAsked(question=question):
                self._notify("question", question)
            case WaitOffered(detail=detail):
                self._notify("wait", detail)
            case LoopAsked(loop=loop):
                self._notify("loop", loop.summary)
            case TurnEnded(code=code, reason=reason) if code not in EXPECTED and not self._agent:
                self._notify("turn_ended", f"{code}: {reason}")

    def _notify(self, kind: Literal["permission", "question", "wait", "loop", "turn_ended"], text: str) -> None:
        self._keep(
            asyncio.create_task(
                self._ask(self._call(HookPoint.NOTIFICATION, kind=kind, text=shorten_line(text)), alone=True),
                name=f"hooks of a notification: {kind}",
            )
        )

    # ── asking ──────────────────────────────────────────────────────────────────────────────────

    def _call(self, point: HookPoint, **fields: Any) -> HookCall:
        about = HookCall(point, self._workspace, self._conversation.turn, self._agent, **fields)
        return replace(about, session=self._session, journal=self._journal)

    async def _ask(self, call: HookCall, *, alone: bool = False) -> MergedAnswer:
        """Ask the hooks of a point; `alone`: the turn does not wait for them, so its interruption does not end them.

        After an interruption the remaining hooks do not run, and the decisions so far count.
        """
        together = MergedAnswer(call.input)
        for hook in self.hooks:
            if hook.concerns(call):
                answer = await self._answered(hook, replace(call, input=together.input), alone=alone)
                together = together.joined(hook.name, answer)
            if self._signals.interrupt.is_set() and not alone:
                break
        return together

    async def _answered(self, hook: Hook, call: HookCall, *, alone: bool) -> HookAnswer:
        clock = asyncio.get_running_loop().time
        began = clock()
        asking = self._keep(asyncio.create_task(self._runs.ask(hook, call), name=f"hook {hook.name}"))
        try:
            answer = await asking if alone else await unless(self._signals.interrupt, asking)
        except HookError as error:
            return self._failed(hook, call, error, clock() - began)
        if answer is None:
            self._report_failure(hook, call, "the turn was interrupted while it ran", clock() - began, times=0)
            return HookAnswer()
        outcome, words = outcome_of(answer)
        detail = shorten_line(sendable(words)) if words else ""
        self._conversation.emit(HookRan(hook.point, hook.name, outcome, clock() - began, detail, call.call_id))
        return answer

    def _failed(self, hook: Hook, call: HookCall, error: HookError, seconds: float) -> HookAnswer:
        self._failures[hook.name] += 1
        self._report_failure(hook, call, str(error), seconds, times=self._failures[hook.name])
        if hook.required:
            return as_a_no(HookAnswer(), hook.point, f"it is required, and failed: {error}")
        if isinstance(error, UnclearAnswerError) and hook.point is HookPoint.BEFORE_TOOL:
            return as_a_no(HookAnswer(), hook.point, f"its answer is not understood, and may be a no: {error}")
        return HookAnswer()

    def _report_failure(self, hook: Hook, call: HookCall, why: str, seconds: float, *, times: int) -> None:
        said = shorten_line(sendable(why), 300)
        self._conversation.emit(
            HookFailed(hook.point, hook.name, said, seconds, hook.required, times, call_id=call.call_id)
        )

    def _keep(self, task: "asyncio.Task[T]") -> "asyncio.Task[T]":
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not report that of an interrupted hook as lost


def words_of(contexts: Iterable[HookNote]) -> str:
    """What hooks want the model to know, as it reads it; empty for nothing."""
    return sendable(notices.hook_contexts((said.hook, said.text) for said in contexts))


def with_words(result: ToolResult, *words: str) -> ToolResult:
    """The result with more words behind what the tool said."""
    notes = [sendable(text) for text in words if text]
    return replace(result, content="\n\n".join([result.content, *notes])) if notes else result


# ── one hook ────────────────────────────────────────────────────────────────────────────────────

TERM_GRACE_S = 1.0
"""Seconds between TERM and KILL for a command that took too long."""


class HookInvoker:
    """Asks hooks. Whatever they do, the outcome is an answer or a `HookError`."""

    def __init__(self, processes: Processes, workspace: Path) -> None:
        self._processes = processes
        self._workspace = workspace

    async def ask(self, hook: Hook, call: HookCall) -> HookAnswer:
        """The answer of a hook. Raises HookError, a clause, when it has none that can be used."""
        if isinstance(hook.action, str):
            return checked(hook.point, await self._run(hook.action, hook.time_s, call))
        return checked(hook.point, await _called(hook.action, hook.time_s, call))

    async def _run(self, line: str, time_s: float, call: HookCall) -> HookAnswer:
        stdout, stderr = _Beginning(MOST_BYTES + 1), _Beginning(MOST_REASON)
        with TemporaryFile() as question:
            question.write(_written(call))
            question.seek(0)
            try:
                finished = await self._processes.run(
                    shell_command(line, self._workspace),
                    cwd=self._workspace,
                    environment=shell_environment(os.environ, self._workspace)
                    | {"CLAUDE_PROJECT_DIR": str(self._workspace)},
                    sink=stdout.feed,
                    errors=stderr.feed,
                    stdin=question,
                    profile=ProfileName.FREE,
                    limits=ProcessLimits(time_s, TERM_GRACE_S),
                )
            except (OSError, ValueError) as error:
                raise HookError(f"it could not be started: {error}") from error
        if finished.timed_out:
            raise HookError(_too_slow(time_s))
        return own_answer(answer_of(finished.exit_code, bytes(stdout.data), bytes(stderr.data), call.point), call)


def _written(call: HookCall) -> bytes:
    try:
        return json.dumps(call.document()).encode()
    except RecursionError as error:
        raise HookError("the input of the call is nested too deeply to be handed over") from error


class _Beginning:
    """Keeps the first bytes of a stream and forgets the others."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.data = bytearray()

    def feed(self, data: bytes) -> None:
        self.data += data[: max(0, self._most - len(self.data))]


async def _called(function: HookFunction, time_s: float, call: HookCall) -> object:
    """What a function returns. One that takes too long is abandoned; its thread cannot hold up the end of
    the program."""
    working = asyncio.ensure_future(_returned(function, call))
    try:
        await asyncio.wait({working}, timeout=time_s)
        if not working.done():
            raise HookError(_too_slow(time_s))
        return working.result()
    except asyncio.CancelledError:
        if working.cancelled():
            raise HookError("it cancelled itself") from None
        raise
    finally:
        working.cancel()


async def _returned(function: HookFunction, call: HookCall) -> object:
    try:
        own = replace(call, input=copy.deepcopy(call.input))  # what it changes in place is no answer
        returned: object = (
            function(own) if inspect.iscoroutinefunction(function) else await _in_own_thread(function, own)
        )
        return await returned if inspect.isawaitable(returned) else returned
    except HookError:
        raise
    except (Exception, SystemExit) as error:  # the border to hooks, which are not ours: a failing one ends no turn
        raise HookError(_in_words(error)) from error


async def _in_own_thread(function: HookFunction, call: HookCall) -> object:
    loop = asyncio.get_running_loop()
    returned: asyncio.Future[object] = loop.create_future()

    def settle(resolve: Callable[[], None]) -> None:
        if not returned.done():
            resolve()

    def work() -> None:
        try:
            value = copy_context().run(function, call)
        except BaseException as error:  # noqa: BLE001 (nobody else would hear of it, and what is raised is told)
            failure = HookError(_in_words(error))
            resolve: Callable[[], None] = lambda: returned.set_exception(failure)  # noqa: E731
        else:
            resolve = lambda: returned.set_result(value)  # noqa: E731
        try:
            loop.call_soon_threadsafe(settle, resolve)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    threading.Thread(target=work, name=f"hook at {call.point}", daemon=True).start()
    return await returned


def _in_words(error: BaseException) -> str:
    said = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _too_slow(time_s: float) -> str:
    return f"it took longer than {time_s:g} s"
