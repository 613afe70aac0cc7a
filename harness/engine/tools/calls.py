"""The tool calls of one reply: dispatch, permission, run, results in call order."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Literal

from harness.base.concurrency import in_thread, race, unless
from harness.base.external_text import CUT, visible
from harness.base.secrets import MASK
from harness.engine.core import AgentCore
from harness.engine.hooks import HookRunner, with_words, words_of
from harness.engine.permissions.asker import ask_permission
from harness.engine.permissions.disk_lookup import disk_of
from harness.engine.permissions.hosts import CommandCaller
from harness.engine.tools.dispatch import ToolDispatcher
from harness.engine.tools.results import FreshnessLabels, failed_program, finish_of, with_label
from harness.engine.tools.time_limits import CallStillRunning, TimeLimits
from harness.events import (
    Block,
    CutCall,
    Denial,
    DispatchReason,
    Failure,
    HookPoint,
    Notice,
    PlanChanged,
    ResultLabelled,
    SandboxFound,
    SandboxRefused,
    SettingChanged,
    ToolCall,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
)
from harness.hooks import MergedAnswer, in_one_line
from harness.model import notices
from harness.permissions import Allow, Ask, Deny, PermissionRequest, with_verdict
from harness.permissions.disk import Disk
from harness.policies.breakers.decisions import PauseTurn, Skip
from harness.sandbox import NOTHING_MORE, USUAL_TERMS, Allowance, CommandTerms, ProfileName, SandboxLevel
from harness.tools.ask_user import ASK_USER
from harness.tools.files import refused
from harness.tools.output import fitted
from harness.tools.read_file import attachment_tool
from harness.tools.seen_files import SeenFiles
from harness.tools.tool import (
    ArgumentError,
    Effect,
    Tool,
    ToolCancelled,
    ToolContext,
    ToolResult,
    category_of,
    shorten_line,
)
from harness.tools.toolbox import Toolbox
from harness.tools.workspace import PathError, Workspace, resolve_within

LONGEST_PREVIEW_S = 60.0
"""Seconds for the preview of a call, which a permission question shows."""
OWN_CHANGES_S = 30.0
"""What changes while a longer call runs may well be the work of the user, and has to be read again."""
MOST_OBEYED = 400
"""Characters of the names of files in a warning."""
LONGEST_ERROR = 4_000
"""Characters of the text of a failure that are reported where its summary is only the beginning."""


@dataclass(frozen=True, slots=True)
class CallResults:
    """The results of a reply's calls."""

    blocks: tuple[Block, ...]
    """One tool_result for each call, in call order."""
    interrupted: bool


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call that may run."""

    call: ToolCall
    """With the input as the hooks left it."""
    tool: Tool
    arguments: object
    words: str = ""
    """What hooks want the model to read behind the result."""
    profile: ProfileName = ProfileName.FREE
    """What its command may read, write and reach."""
    terms: CommandTerms = USUAL_TERMS
    """What goes with that profile, but for the caller."""
    looks: bool = False
    """It changes nothing."""
    unasked: bool = False
    """It runs without a question because of that."""
    shown: str = ""
    """What the question about it has shown; empty: nobody was asked."""


class ToolCalls:
    """Answers every call of a reply exactly once."""

    def __init__(
        self,
        core: AgentCore,
        toolbox: Toolbox,
        dispatcher: ToolDispatcher,
        hooks: HookRunner | None,
        veto: Callable[[ToolCall, Tool | None], ToolResult | None],
    ) -> None:
        """
        Args:
            dispatcher: decides about every call before anything else.
            hooks: run before and after a call; None: there are none.
            veto: the result of a call that must not run, as part of a loop or behind a plan; None: it may run.
        """
        settings, rules = core.settings, core.shared.rules
        self._toolbox = toolbox
        self._permissions = rules.permissions
        self._remember = rules.remember
        self._asker = core.asker
        self._conversation = core.conversation
        self._masking = core.conversation.masking
        self._dispatcher = dispatcher
        self.freshness = FreshnessLabels(strict=settings.strict_freshness)
        """Labels results that may not be fresh."""
        self._hooks = hooks
        self._restriction = core.restriction
        self._veto = veto
        self._clock = core.clock
        self._count_errors = settings.count_errors
        self._rules = rules
        self._root = rules.workspace_at(settings.workspace).root
        self._outputs = core.outputs
        self._processes = core.shared.processes
        self._agent = core.id
        self.seen = SeenFiles(core.shared.file_writes)
        """What the agent knows of the files."""
        self._beyond_sandbox: dict[str, Allowance] = {}
        """What the sandbox refused to each command line."""
        self._log = core.log
        self._attach = attachment_tool()
        self._alone = asyncio.Lock()
        """Held while a call beside a turn runs that is not safe beside others."""
        self._limits = TimeLimits(settings.tool_timeout_s, lambda text: core.conversation.emit(Notice("warning", text)))

    async def answer(
        self, calls: Sequence[ToolCall], cut_calls: Sequence[CutCall], interrupt: asyncio.Event
    ) -> CallResults:
        """Run what may run. Calls that are safe together run together, the others alone and in order.

        When `interrupt` is set, running tools are ended, and every call left is answered as not run. When a hook ends
        the turn, running calls finish and no other one begins.
        """
        calls = [await unless(interrupt, self._toolbox.meant(call)) or call for call in calls]
        results: dict[str, ToolResult] = {}
        places = {call.id: place for place, call in enumerate(calls)}
        for batch in self._batches(calls):
            if interrupt.is_set() or self._stopped:
                break
            ready = [await self._admitted(call, places[call.id], results, interrupt) for call in batch]
            await self._run([call for call in ready if call is not None], results, interrupt)
        for call in calls:
            if call.id not in results:
                self._ended(call, self._not_run(), 0.0, results)
        # Not by id: a call may have been cut because its id is that of one that ran.
        answered = [(call.id, results[call.id]) for call in calls] + [(cut.id, self._refused(cut)) for cut in cut_calls]
        return CallResults(tuple(self._blocks(answered)), interrupt.is_set())

    async def once_more(self, call: ToolCall, interrupt: asyncio.Event) -> ToolResult:
        """Make a call that no reply asked for: one that failed, tried again by the program."""
        results: dict[str, ToolResult] = {}
        ready = await self._admitted(call, 0, results, interrupt)
        await self._run([ready] if ready else [], results, interrupt)
        return results.get(call.id) or self._not_run()

    async def beside_turn(self, call: ToolCall, tool: Tool, interrupt: asyncio.Event) -> ToolResult:
        """Make a call outside of the model's: with permissions and hooks, but no breaker decides or counts it."""
        results: dict[str, ToolResult] = {}
        ready = await self._allowed(call, tool, results, interrupt)
        async with nullcontext() if tool.parallel else self._alone:
            current = ready is not None and await self._is_as_shown(ready, results)
            await self._run([ready] if ready and current else [], results, interrupt)
        return results.get(call.id) or self._not_run()

    async def _is_as_shown(self, item: _Ready, results: dict[str, ToolResult]) -> bool:
        """Whether a call still does what the question about it showed, after others that ran meanwhile; if not, it was
        answered."""
        if not item.shown:
            return True
        checked = await self._previewed(item.call, item.tool)
        if not isinstance(checked, ToolResult) and checked[1] == item.shown:
            return True
        answer = checked if isinstance(checked, ToolResult) else refused(notices.CHANGED_WHILE_ASKED)
        await self._finished(item.call, answer, 0.0, "", results)
        return False

    async def attached(self, path: str, call_id: str, interrupt: asyncio.Event) -> ToolResult:
        """Read an image or PDF that the user has named, with the permissions and hooks of read_file.

        A file outside the workspace is asked about.
        """
        return await self.beside_turn(ToolCall(call_id, "read_file", {"path": path}), self._attach, interrupt)

    @property
    def _stopped(self) -> bool:
        """A hook ends the turn."""
        return self._hooks is not None and bool(self._hooks.stopped)

    def _not_run(self) -> ToolResult:
        why = notices.HOOK_STOPPED_RESULT if self._stopped else notices.CANCELLED_RESULT
        return ToolResult(why, ToolOutcome.CANCELLED, "not run")

    def _batches(self, calls: Iterable[ToolCall]) -> Iterator[list[ToolCall]]:
        def safe(call: ToolCall) -> bool:
            tool = self._toolbox.get(call.name)
            return tool is not None and tool.parallel

        for parallel, group in groupby(calls, key=safe):
            if parallel:
                yield list(group)
            else:
                yield from ([call] for call in group)

    # ── before a call ───────────────────────────────────────────────────────────────────────────

    async def _admitted(
        self, call: ToolCall, place: int, results: dict[str, ToolResult], interrupt: asyncio.Event
    ) -> _Ready | None:
        """The call with its checked arguments, or None when it was answered without running."""
        tool = self._toolbox.get(call.name)
        decision = await self._dispatcher.decide(call, tool, place, interrupt)
        match decision:
            case Skip(reason=DispatchReason.UNKNOWN_TOOL):
                self._ended(call, self._unknown(call.name), 0.0, results)
            case Skip() | PauseTurn():
                self._ended(call, self._dispatcher.answer(decision), 0.0, results)
            case _ if not self._restriction.allows(call.name):
                self._ended(call, self._narrowed(call.name), 0.0, results)
            case _ if (vetoed := self._veto(call, tool)) is not None:
                self._ended(call, vetoed, 0.0, results)
            case _ if tool is not None:
                return await self._allowed(call, tool, results, interrupt)
        return None

    def _narrowed(self, name: str) -> ToolResult:
        there = ", ".join(one for one in self._toolbox.names if self._restriction.allows(one)) or "none"
        text = f"Not run: the command of this turn allows no {name}; it allows {there}."
        return ToolResult(text, ToolOutcome.DENIED, f"the command allows no {name}")

    def _unknown(self, name: str) -> ToolResult:
        near, absence = self._toolbox.nearest(name), self._toolbox.absence(name)
        hint = absence or (f"did you mean {near}?" if near else f"there are {', '.join(self._toolbox.names)}.")
        summary = shorten_line(absence.rstrip(".")) or "no such tool"
        return ToolResult(f"There is no tool called {name}; {hint}", ToolOutcome.INVALID, summary)

    async def _allowed(
        self, call: ToolCall, tool: Tool, results: dict[str, ToolResult], interrupt: asyncio.Event
    ) -> _Ready | None:
        if self._stopped:
            return None
        if wrong := self._unfit(call, tool):
            self._ended(call, wrong, 0.0, results)
            return None
        hooked = await self._hooks.before_tool(call) if self._hooks is not None else MergedAnswer(call.input)
        if interrupt.is_set() or hooked.stops:
            return None
        words = words_of(hooked.contexts) if hooked.contexts else ""
        if hooked.blocks:
            await self._finished(replace(call, input=hooked.input), _blocked(hooked), 0.0, words, results)
            return None
        if hooked.input is not call.input:
            call = replace(call, input=hooked.input)
            if wrong := self._unfit(call, tool):
                await self._finished(call, wrong, 0.0, words, results)
                return None
        # Both look at the disk, and what they find there may be large: in a thread, which can be given up.
        checked = await unless(interrupt, self._previewed(call, tool))
        if isinstance(checked, ToolResult):
            await self._finished(call, checked, 0.0, words, results)
            return None
        if checked is None:
            return None
        arguments, preview = checked
        request = PermissionRequest(
            *(call.id, tool.name, tool.effect, tool.summarise(call.input), preview, call.input),
            opens=tool.opens(call.input) if tool.opens else None,
            changes=tool.changes,
            destructive=tool.destructive,
            refused=self._beyond_sandbox.get(_line(tool, call), NOTHING_MORE),
            workspace=str(self._root),
        )
        looked_up = await unless(interrupt, in_thread(partial(self._looked_up, request, tool)))
        if looked_up is None:
            return None
        request = looked_up
        self._report_sandbox()
        decision = self._permissions.decide(request)
        if hooked.verdict is not None:
            decision = with_verdict(decision, hooked.verdict, hooked.reason)
        asked = isinstance(decision, Ask)
        if isinstance(decision, Ask):
            if problem := await unless(interrupt, in_thread(partial(self._not_inside, call, tool))):
                await self._finished(call, refused(problem), 0.0, words, results)
                return None
            decision = await self._ask(request, decision, interrupt)
        match decision:
            case Allow():
                self._report_decision(decision)
                terms = CommandTerms(decision.allowance, None if asked else request.sandbox)
                return _Ready(
                    *(call, tool, arguments, words, decision.profile, terms),
                    looks=decision.looks,
                    unasked=decision.looks and decision.by == "default",
                    shown=preview if asked else "",
                )
            case Deny():
                denied = ToolResult(decision.message, ToolOutcome.DENIED, f"not allowed: {decision.why}".rstrip(": "))
                await self._finished(call, denied, 0.0, words, results)
        return None

    def _not_inside(self, call: ToolCall, tool: Tool) -> str:
        """Why the tool refuses its path whatever the user says, so that nobody is asked; empty: it does not."""
        if not tool.stays_inside:
            return ""
        outputs = (self._outputs.resolve(),) if tool.effect is Effect.READ else ()
        try:
            resolve_within(call.input.get("path") or ".", *self._workspace.roots, *outputs)
        except PathError as error:
            return str(error)
        return ""

    def _looked_up(self, request: PermissionRequest, tool: Tool) -> PermissionRequest:
        """The request with what the disk and the sandbox say."""
        disk = disk_of(self._permissions, request)
        return replace(
            request,
            disk=disk,
            outside=self._outside(disk) if tool is self._attach else None,
            sandbox=self._processes.sandbox.granted(ProfileName.WORK, self._root) if tool.command_line else None,
        )

    def _unfit(self, call: ToolCall, tool: Tool) -> ToolResult | None:
        """The answer to arguments that cannot be used; None: they can."""
        try:
            tool.parse(call.input)
        except ArgumentError as error:
            return ToolResult(str(error), ToolOutcome.INVALID, str(error))
        except Exception as error:  # noqa: BLE001 (the border to tools, as in `_run_one`)
            return self._broken(tool, error)
        return None

    async def _previewed(self, call: ToolCall, tool: Tool) -> tuple[object, str] | ToolResult:
        """The checked arguments and what the user should see of them, or the answer to those that cannot be used."""
        if tool.effect is Effect.WRITE and self._masking.used and self._holds_mask(call):
            return ToolResult(notices.MASKED_WRITE, ToolOutcome.INVALID, "holds a masked key")
        try:
            arguments = tool.parse(call.input)
            if tool.preview is None:
                return arguments, ""
            async with asyncio.timeout(min(self._limits.limit_of(tool), LONGEST_PREVIEW_S)):
                preview = await in_thread(partial(tool.preview, self._context(call), arguments))
                return arguments, self._masking.text(preview)
        except ArgumentError as error:
            return ToolResult(str(error), ToolOutcome.INVALID, str(error))
        except Exception as error:  # noqa: BLE001 (the border to tools, as in `_run_one`)
            return self._broken(tool, error)

    @property
    def _workspace(self) -> Workspace:
        return self._rules.workspace_at(self._root)

    def _outside(self, disk: Disk) -> Path | None:
        """The file that a call would read outside workspace and session outputs."""
        inside = (*self._workspace.roots, self._outputs.resolve())
        real = [Path(path) for places in disk.places.values() for path in places]
        return next((path for path in real if not any(map(path.is_relative_to, inside))), None)

    def _report_sandbox(self) -> None:
        """Say what holds commands from now on, where that has changed."""
        if state := self._processes.sandbox.take_change():
            self._conversation.emit(SandboxFound(state.level.value, state.by, state.why, state.repair))
            self._conversation.emit(Notice("warning", f"the sandbox is now {state.in_words}"))

    def _report_decision(self, decision: Allow) -> None:
        """Warn the user about a call that runs without a question."""
        if decision.dangerous:
            self._conversation.emit(Notice("warning", f"dangerous, and not asked about: {decision.dangerous}"))
        if decision.not_kept:
            self._conversation.emit(Notice("warning", decision.not_kept))

    async def _ask(self, request: PermissionRequest, ask: Ask, interrupt: asyncio.Event) -> Allow | Deny:
        request = replace(request, offers=ask.offers, family=ask.family, edits=ask.edits, dangers=ask.dangers)
        request = replace(request, profile=ask.profile, allowance=ask.allowance)
        answer = await ask_permission(self._asker, self._conversation, interrupt, request, ask.why)
        if answer is None:
            return Deny("the turn was interrupted", by="default")
        now = self._permissions.decide(request)  # the mode may have changed while the question was open
        if isinstance(now, Deny):
            return now
        decision = self._remember(request, answer)
        if answer.choice == "always" and isinstance(decision, Allow) and not decision.not_kept:
            for rule in answer.rules:
                scope = "always" if answer.keep else "session"
                self._conversation.emit(SettingChanged("permissions", f"allow {rule} ({scope})"))
        return decision

    # ── the call ────────────────────────────────────────────────────────────────────────────────

    async def _run(self, ready: list[_Ready], results: dict[str, ToolResult], interrupt: asyncio.Event) -> None:
        """Run these at the same time, until all have ended or the turn is interrupted."""
        if not ready or interrupt.is_set():
            return
        running = [asyncio.ensure_future(self._run_one(item, results)) for item in ready]
        try:
            await race(asyncio.wait(running), interrupt.wait())
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _run_one(self, item: _Ready, results: dict[str, ToolResult]) -> None:
        call, tool = item.call, item.tool
        is_held = tool.command_line is not None and self._processes.sandbox.state.level is SandboxLevel.FULL
        profile = item.profile.value if is_held else ""
        self._conversation.emit(ToolStarted(call.id, tool.name, tool.summarise(call.input), call.input, profile))
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            caller = CommandCaller(
                call.id, tool.name, call.input, tool.summarise(call.input), self._conversation, self._asker
            )
            context = replace(
                self._context(call),
                profile=item.profile,
                terms=replace(item.terms, caller=caller),
                unasked=item.unasked,
            )
            async with self._own_changes(item):
                result = await self._limits.run(tool, context, item.arguments)
        except asyncio.CancelledError as cancelled:
            self._masking.file(self._context(call).output_file)
            result = self._masking.value(_interrupted(cancelled))
            self._ended(call, self._labelled(item, result), loop.time() - began, results)
            raise
        except Exception as error:  # noqa: BLE001 (the border to tools, also those of others: a failing one must not end the turn
            result = self._broken(tool, error)
        self._keep_refusals(item, result)
        if result.obeyed:
            paths = shorten_line(visible(", ".join(result.obeyed)), MOST_OBEYED)
            said = f"the call made, changed or removed what other programs obey: {paths}"
            self._conversation.emit(Notice("warning", said))
        result = await self._masked(call, result)
        seconds = loop.time() - began
        # A hook may format what was written.
        hooked = self._hooks is not None and HookPoint.AFTER_TOOL in self._hooks.points
        async with self._own_changes(item) if hooked else nullcontext():
            await self._finished(call, self._labelled(item, result), seconds, item.words, results)
        if result.plan is not None:
            self._conversation.emit(PlanChanged(result.plan))

    def _keep_refusals(self, item: _Ready, result: ToolResult) -> None:
        """The same command line is asked about with the paths and ports of this machine that the sandbox refused it;
        other hosts are asked about when it wants to reach them."""
        paths = [one.subject for one in result.denials if one.kind == "path"]
        ports = tuple(one.subject for one in result.denials if one.kind == "host")
        if result.denials and item.profile != ProfileName.FREE:
            line, opened = _line(item.tool, item.call), Allowance(tuple(map(_existing, paths)), ports)
            self._beyond_sandbox[line] = self._beyond_sandbox.get(line, NOTHING_MORE).with_more(opened)
            profile: Literal["look", "work"] = "look" if item.profile is ProfileName.LOOK else "work"
            for one in result.denials:
                self._conversation.emit(SandboxRefused(item.call.id, one.kind, one.subject, profile))

    @asynccontextmanager
    async def _own_changes(self, item: _Ready) -> AsyncIterator[None]:
        """Files that a call changes stay known to the agent."""
        if item.looks or item.tool.effect not in (Effect.WRITE, Effect.RUN):
            yield
            return
        known = await in_thread(self.seen.current)
        began = time.monotonic()
        yield
        if known and time.monotonic() - began <= OWN_CHANGES_S:
            await in_thread(partial(self.seen.adopt, known))

    async def _masked(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """The result as hooks, the journal and the model may see it; also its whole text on disk holds no known key."""
        for file in {self._context(call).output_file, result.full_output}:
            if file is not None and file.is_relative_to(self._outputs) and file.exists():
                await in_thread(partial(self._masking.file, file))
        return self._masking.value(result)

    def _holds_mask(self, call: ToolCall) -> bool:
        return any(isinstance(value, str) and MASK in value for value in call.input.values())

    async def _finished(
        self, call: ToolCall, result: ToolResult, seconds: float, words: str, results: dict[str, ToolResult]
    ) -> None:
        """Run the result hooks; if they are interrupted, the call keeps its own result."""
        try:
            if self._hooks is not None:
                result = await self._hooks.after_tool(call, result)
        finally:
            self._ended(call, with_words(result, words) if words else result, seconds, results)

    def _labelled(self, item: _Ready, result: ToolResult) -> ToolResult:
        """The result, with a line in front where there is evidence that it may not be fresh."""
        call, conversation = item.call, self._conversation
        label = self.freshness.label(item.tool, call, result, step=conversation.step, at=self._clock.now())
        if label is None:
            return result
        conversation.emit(ResultLabelled(call.id, call.name, label.label, label.evidence))
        return replace(result, content=with_label(result.content, label, call.name))

    def _broken(self, tool: Tool, error: Exception) -> ToolResult:
        self._log.error("the tool %s failed", tool.name, exc_info=error)
        text = f"{tool.name} failed inside: {type(error).__name__}: {error}"
        return ToolResult(text, ToolOutcome.BROKEN, text, category=category_of(error))

    def _refused(self, cut: CutCall) -> ToolResult:
        text = notices.cut_call_result(cut.name, cut.why, whole=cut.whole)
        result = ToolResult(text, ToolOutcome.INVALID, f"not run: {cut.why}")
        self._report_end(cut, result, 0.0)
        return result

    def _ended(self, call: ToolCall, result: ToolResult, seconds: float, results: dict[str, ToolResult]) -> None:
        results[call.id] = result
        self._report_end(call, result, seconds)

    def _report_end(self, call: ToolCall | CutCall, result: ToolResult, seconds: float) -> None:
        whole = str(result.full_output) if result.full_output else None
        part = failed_program(self._toolbox.get(call.name), call.input, result) if isinstance(call, ToolCall) else ""
        finish = finish_of(result, call.name, part, count_errors=self._count_errors)
        failure = finish if isinstance(finish, Failure) else None
        if result.outcome is ToolOutcome.DENIED and isinstance(call, ToolCall) and call.name != ASK_USER:
            denial = Denial(call.id, call.name, call.input, result.summary.removeprefix("not allowed: "))
            self._conversation.denials.append(self._masking.value(denial))
        cut = result.outcome is not ToolOutcome.OK and result.summary.endswith(CUT)
        detail = result.detail or (result.content[:LONGEST_ERROR] if cut else "")
        self._conversation.emit(
            ToolEnded(
                *(call.id, call.name, result.outcome, result.summary, seconds, detail, whole, failure),
                revision=result.revision,
                detail_of=result.detail_of,
            )
        )

    def _context(self, call: ToolCall) -> ToolContext:
        return ToolContext(
            *(self._workspace, self._outputs, call.id, self._processes),
            withholds=self._permissions.withholds,
            agent=self._agent,
            seen=self.seen,
            show_output=self._conversation.emit,
        )

    # ── the results ─────────────────────────────────────────────────────────────────────────────

    def _blocks(self, answered: Sequence[tuple[str, ToolResult]]) -> Iterator[Block]:
        texts = self._fitted(answered)
        for (call_id, result), text in zip(answered, texts, strict=True):
            block: Block = {"type": "tool_result", "tool_use_id": call_id, "content": text or "(no output)"}
            if result.outcome is not ToolOutcome.OK:
                block["is_error"] = True
            elif result.media:
                block["content"] = [{"type": "text", "text": block["content"]}, *result.media]
            yield block

    def _fitted(self, answered: Sequence[tuple[str, ToolResult]]) -> list[str]:
        """The texts with the largest ones shortened, the whole of them on disk, until all fit one message."""

        def whole(at: int) -> Path:
            context = ToolContext(self._workspace, self._outputs, answered[at][0], self._processes)
            return context.output_file.with_suffix(".result.txt")

        errors = {at for at, (_, result) in enumerate(answered) if result.outcome is not ToolOutcome.OK}
        return fitted([result.content for _, result in answered], whole, spared=errors)


def _line(tool: Tool, call: ToolCall) -> str:
    """The command line of a call; empty: it has none."""
    return (tool.command_line(call.input) or "") if tool.command_line else ""


def _existing(path: str) -> str:
    """The path, or the folder above it in which it can be made."""
    return next((str(one) for one in (Path(path), *Path(path).parents) if os.path.lexists(one)), "/")


def _blocked(hooked: MergedAnswer) -> ToolResult:
    reason = in_one_line(hooked.blocks)
    return ToolResult(notices.hook_blocked(reason), ToolOutcome.DENIED, shorten_line(f"blocked by {reason}"))


def _interrupted(cancelled: asyncio.CancelledError) -> ToolResult:
    """The result of a call that the user interrupted, with what it had until then."""
    match cancelled:
        case CallStillRunning():
            return ToolResult(notices.STILL_RUNS_RESULT, ToolOutcome.CANCELLED, "interrupted, still runs")
        case ToolCancelled(result=result) if result.content:
            return replace(result, content=f"{notices.INTERRUPTED_RESULT} Until then it wrote:\n\n{result.content}")
        case _:
            return ToolResult(notices.INTERRUPTED_RESULT, ToolOutcome.CANCELLED, "interrupted")
