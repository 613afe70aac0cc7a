"""The subagents of a conversation: their tasks, their states and their reports.

A subagent is an agent with its own history, tools, breakers, recovery and loop detection. It shares user, permissions,
cost budget, connection and admission with its parent, and cannot start subagents itself.

Each task ends with exactly one report, and only an answer is reported as an answer.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.base.concurrency import race, shielded
from harness.base.errors import HarnessError
from harness.base.external_text import counted
from harness.definitions import usable
from harness.engine.admission.runner import AdmissionEntry, AdmissionRunner, NotAdmitted
from harness.engine.core import AgentCore, Seat
from harness.engine.inbox import Inbox
from harness.engine.permissions.asker import SubagentAsker
from harness.engine.subagents.fan_out import FanOutQuestions, FanOutRefused
from harness.engine.subagents.reports import (
    Follower,
    Subagent,
    SubagentReport,
    SubagentRow,
    SubagentSpec,
    SubagentState,
    ended_with,
    first_row,
    played,
    report_text,
)
from harness.events import (
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    ArrivalKind,
    Arrived,
    Event,
    Json,
    Message,
    MovedToBackground,
    MoveReason,
    ToolOutcome,
    WorkEnd,
)
from harness.model import notices
from harness.model.catalogue import model_named
from harness.policies.admission.controller import AdmissionController
from harness.tools.agent import AgentArguments, kind_of
from harness.tools.output import shorten
from harness.tools.tool import ToolContext, ToolResult, invalid, shorten_line

REMEMBERED = 50
"""The latest subagents of a session are listed. Others can continue if they have a journal."""

INTERRUPTED = SubagentReport(AgentEnd.CANCELLED, "it was interrupted")
"""The call was cancelled before the task began."""

LEFT = SubagentReport(AgentEnd.CANCELLED, "it was at work when the session was left")
"""The program ended without a chance to say anything."""


USER_STOPPED = "the user stopped it"
"""Why a task ended that the user has stopped, and not its agent."""


@dataclass(frozen=True, slots=True)
class MemberTask:
    """A task of a member, and what it needs to work."""

    name: str
    """Of the member."""
    description: str
    """The task in a few words."""
    prompt: str | None
    """None: the mail that waits."""
    tools: tuple[str, ...]
    kind: str
    role: str
    """Text for its system prompt."""
    seat: Seat
    workspace: Path | None = None
    """The working tree that it works in; None: that of its earlier tasks, or of the parent."""


@dataclass(frozen=True, slots=True)
class ScriptTask:
    """A task that a plan script gives to a subagent of its own."""

    call_id: str
    description: str
    """The task in a few words."""
    prompt: str
    tools: tuple[str, ...] | None
    """None: all that its kind may have."""
    kind: str
    seat: Seat
    workspace: Path | None = None
    """The working tree that it works in; None: that of the session."""
    answer_format: Json | None = None
    """The `output_config.format` of its answers; None: any text."""


@dataclass(slots=True, eq=False)
class _Task:
    """One task of one agent."""

    prompt: str | None
    """None: the mail of a member."""
    tools: tuple[str, ...]
    member: MemberTask | None = None
    """None: the agent is no member."""
    script: ScriptTask | None = None
    """None: no script gave it."""
    stopped: str = ""
    """Why it is to end; empty: it is not."""
    report: SubagentReport = INTERRUPTED
    """How it ended, or would if it ended now."""


@dataclass(slots=True)
class _Known:
    """An agent of this session."""

    agent: str
    row: SubagentRow
    begun: bool = False
    """It has worked and can continue."""
    messages: tuple[Message, ...] = ()
    """Its history, where no journal keeps it."""
    tasks: list[_Task] = field(default_factory=list)
    """Those that it works on or waits with; it works on one at a time."""
    running: Subagent | None = None
    member: bool = False
    """It is a member, which mail may wake at any time."""


@dataclass(slots=True, eq=False)
class _Foreground:
    """A task that a call waits for."""

    known: _Known
    task: _Task
    description: str
    context: ToolContext
    work: "asyncio.Task[SubagentReport]"
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    """The call no longer waits for it."""


class Subagents:
    """Lets agents work for one conversation."""

    def __init__(
        self,
        core: AgentCore,
        controller: AdmissionController[AdmissionEntry],
        inbox: Inbox,
        fan_out: FanOutQuestions,
        create: Callable[[SubagentSpec], Subagent],
        *,
        tools: tuple[str, ...],
    ) -> None:
        """
        Args:
            controller: lets few of them work at a time.
            inbox: receives the reports of tasks in the background.
            fan_out: asks before many of them are started.
            create: makes a subagent. Raises HarnessError when it cannot.
            tools: names of what an agent may be given.
        """
        settings = core.settings
        self._core = core
        self._conversation = core.conversation
        self.admission = AdmissionRunner(
            controller,
            core.conversation.emit,
            core.clock,
            shared=core.shared.slots,
            existing=lambda: self.known,
            log=core.log,
        )
        """Which of them work and which wait."""
        self._inbox = inbox
        self._asker = core.asker
        self._fan_out = fan_out
        self._clock = core.clock
        self._log = core.log
        self._create = create
        self._tools = tools
        self.kinds = usable(core.shared.agents, tools)
        """The kinds of agents that files define, besides the usual one."""
        self._restriction = core.restriction
        self._result_characters = settings.result_characters
        self._kept = core.agents_folder is not None
        self._most = settings.max_subagents
        self._known: dict[str, _Known] = {}
        self._kind_of: dict[str, str] = {}
        """By the id of a subagent that is of a kind, listed or not."""
        self._members: set[str] = set()
        """The ids of all that are or were members."""
        self._count = 0
        self._background: dict[asyncio.Task[None], str] = {}
        self._foreground: list[_Foreground] = []

    # ── what the tool calls ─────────────────────────────────────────────────────────────────────

    async def ask(self, context: ToolContext, task: AgentArguments) -> ToolResult:
        """Run a task and return its result. A cancellation ends the subagent and is passed on."""
        if task.agent is None and (full := self.full()) is not None:
            return full
        if task.agent in self._members:
            return invalid(
                f"{task.agent} is a member of the team; write to it with message. One that has ended does not continue."
            )
        known = None if task.agent is None else self._known.get(task.agent) or self._older(task.agent)
        if task.agent is not None and known is None:
            hint = f"there are {', '.join(self._known)}" if self._known else "none has worked yet"
            return invalid(f"There is no agent {task.agent} to continue; {hint}. Leave `agent` out to start a new one.")
        name = kind_of(task) if known is None else self._kind_of.get(known.agent, "")
        if known is not None and kind_of(task) not in ("", name):
            return invalid(f"Agent {known.agent} is {name or 'of no kind'}; leave `kind` out to continue it.")
        try:
            chosen = self.tools_for(name, task.tools)
        except HarnessError as error:
            return invalid(str(error))
        if known is None:
            if (refused := await self.may_start(context)) is not None:
                return refused
            known = self._new()
        asked = _Task(task.prompt, chosen)
        self._order(known, asked, name, task.description, context.call_id, background=task.background)
        if task.background:
            self._later(known, asked, shorten_line(task.description), context, self._carried_out(known, asked))
            text = notices.runs_in_background(known.agent)
            return ToolResult(text, summary=f"{known.agent} works in the background")
        report = await self._waited_for(known, asked, shorten_line(task.description), context)
        if report is None:
            text = notices.moved_to_background(known.agent)
            return ToolResult(text, summary=f"{known.agent} continues in the background")
        return self._result(known.agent, report, context)

    def tools_for(self, kind: str, wanted: Sequence[str] | None) -> tuple[str, ...]:
        """Names of the tools of a subagent; `kind` empty: of no special kind, `wanted` None: all that it can have.

        Raises HarnessError for an unknown kind, and for tools that it cannot have.
        """
        known = self.kinds.get(kind)
        if known is None and kind:
            raise HarnessError(f"Unknown kind of agent {kind}; there are {', '.join(self._kind_names) or 'none'}.")
        may = [one for one in (known.given if known else self._tools) if self._restriction.allows(one)]
        chosen = tuple(may if wanted is None else dict.fromkeys(wanted))
        if wrong := [one for one in chosen if one not in may]:
            raise HarnessError(f"No agent can be given {', '.join(wrong)}; there are {', '.join(may) or 'none'}.")
        return chosen

    async def may_start(self, context: ToolContext) -> ToolResult | None:
        """Wait until one more subagent may start; returns the result of a call that may not."""
        if (full := self.full()) is not None:
            return full
        try:
            await self._fan_out.admit(context.call_id, self._count)
        except FanOutRefused as refusal:
            return ToolResult(str(refusal), ToolOutcome.DENIED, refusal.summary)
        return self.full()  # others of the same reply have started meanwhile

    def _order(
        self, known: _Known, task: _Task, kind: str, description: str, call_id: str, *, background: bool
    ) -> None:
        """Give a subagent a task; `_carried_out` does it."""
        if kind:
            self._kind_of[known.agent] = kind
        found = self.kinds.get(kind)
        model = model_named(found.model) if found and found.model else self._core.choice.model
        self._remember(known)
        known.tasks.append(task)
        self._conversation.emit(
            created := AgentCreated(
                *(known.agent, call_id, shorten_line(description), task.prompt or "", model, task.tools),
                background=background,
                again=known.begun,
                journal=f"{known.agent}.jsonl" if self._kept else "",
                kind=kind,
                member=task.member.name if task.member else "",
            )
        )
        row = first_row(created, self._clock.now())
        known.row = row if known.running is None else replace(known.row, task=row.task, background=row.background)

    # ── plan scripts ────────────────────────────────────────────────────────────────────────────

    async def carry_out(self, script: ScriptTask, agent: str = "") -> tuple[str, SubagentReport]:
        """Run a task of a script; returns the id of its subagent, which continues where `agent` is given.

        Raises HarnessError for tools and kinds that there are not. A cancellation ends the subagent and is passed on.
        """
        tools = self.tools_for(script.kind, script.tools)
        if not agent and (full := self.full()) is not None:
            return "", SubagentReport(AgentEnd.NOT_STARTED, full.summary.removeprefix("not started: "))
        known = self._known[agent] if agent else self._new()
        task = _Task(script.prompt, tools, script=script)
        self._order(known, task, script.kind, script.description, script.call_id, background=False)
        return known.agent, await self._carried_out(known, task)

    # ── members ─────────────────────────────────────────────────────────────────────────────────

    def enlist(self) -> str:
        """The id of a new subagent that is a member; `may_start` has let it start."""
        known = self._new()
        known.member = True
        self._members.add(known.agent)
        self._remember(known)
        return known.agent

    def begin(
        self, agent: str, member: MemberTask, ended: Callable[[SubagentReport], Awaitable[None]], call_id: str = ""
    ) -> None:
        """Let a member work as soon as it is admitted; `ended` receives its report, unless the session closes."""
        if (known := self._known.get(agent)) is None:
            folder, row = self._core.agents_folder, SubagentRow(agent, "", SubagentState.ENDED, 0.0)
            begun = folder is not None and (folder / f"{agent}.jsonl").exists()
            known = _Known(agent, row, begun, member=True)
        task = _Task(member.prompt, member.tools, member=member)
        self._order(known, task, member.kind, member.description, call_id, background=True)

        async def work() -> None:
            report = await self._carried_out(known, task)
            if not self.admission.failures(agent):
                self.admission.end(agent)  # an idle member is swept by no timer
            await ended(report)

        self._in_background(agent, work(), f"member {member.name}")

    def release(self, agent: str) -> None:
        """A member has ended; forget it like any other subagent."""
        if (known := self._known.get(agent)) is not None:
            known.member = False
        self.admission.end(agent)

    # ── one task in the foreground or background ────────────────────────────────────────────────

    async def _waited_for(
        self, known: _Known, task: _Task, description: str, context: ToolContext
    ) -> SubagentReport | None:
        """The report of a task; None: it was moved to the background meanwhile."""
        work = asyncio.create_task(self._carried_out(known, task), name=f"agent {known.agent}")
        foreground = _Foreground(known, task, description, context, work)
        self._foreground.append(foreground)
        try:
            await race(asyncio.wait({work}), foreground.moved.wait())
        except asyncio.CancelledError:
            if not foreground.moved.is_set():
                work.cancel()
                await shielded(asyncio.wait({work}))
            raise
        finally:
            self._foreground.remove(foreground)
        return None if foreground.moved.is_set() else work.result()

    @property
    def movable(self) -> bool:
        """A call waits for a subagent."""
        return any(not one.work.done() for one in self._foreground)

    def move(self) -> tuple[str, ...]:
        """Let all subagents that calls wait for continue in the background; returns their ids."""
        moved = [one for one in self._foreground if not (one.work.done() or one.moved.is_set())]
        for one in moved:
            agent = one.known.agent
            self._later(one.known, one.task, one.description, one.context, one.work)
            one.known.row = replace(one.known.row, background=True)
            one.moved.set()
            self._conversation.emit(MovedToBackground(one.context.call_id, agent, MoveReason.ASKED))
        return tuple(one.known.agent for one in moved)

    def full(self) -> ToolResult | None:
        """The answer where the session may start no other subagent; None: it may."""
        if self._count < self._most:
            return None
        text = (
            f"Not started: this session has started {self._count} agents, and max_subagents allows no more. Do the "
            "rest yourself, or continue one of them by its id."
        )
        return ToolResult(text, ToolOutcome.ERROR, f"not started: max_subagents is {self._most}")

    def _result(self, agent: str, report: SubagentReport, context: ToolContext) -> ToolResult:
        content, whole = shorten(report_text(agent, report), self._result_characters, context.output_file)
        if report.answered:
            return ToolResult(content, summary=_took(agent, report), detail=report.text, full_output=whole)
        summary = shorten_line(f"{agent} did not finish: {report.reason}")
        return ToolResult(content, ToolOutcome.ERROR, summary, detail=report.text, full_output=whole)

    def _later(
        self,
        known: _Known,
        task: _Task,
        description: str,
        context: ToolContext,
        carried_out: Awaitable[SubagentReport],
    ) -> None:
        async def work() -> None:
            try:
                await carried_out
            finally:
                result, _ = shorten(report_text(known.agent, task.report), self._result_characters, context.output_file)
                self._arrive(known.agent, description, result)

        self._in_background(known.agent, work(), f"agent {known.agent}")

    def _in_background(self, agent: str, work: Coroutine[Any, Any, None], name: str) -> None:
        running = asyncio.create_task(work, name=name)
        self._background[running] = agent
        running.add_done_callback(self._done)

    def _arrive(self, agent: str, description: str, result: str) -> None:
        text = notices.background_answer(agent, description, result)
        self._inbox.arrive(ArrivalKind.AGENT_ENDED, agent, text)

    def _done(self, task: asyncio.Task[None]) -> None:
        del self._background[task]
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("an agent in the background failed", exc_info=error)
        self._inbox.changed()

    # ── one task of one agent ───────────────────────────────────────────────────────────────────

    async def _carried_out(self, known: _Known, task: _Task) -> SubagentReport:
        """Run a task when it is admitted, and report its end, whatever it is."""
        try:
            await self.admission.run(known.agent, partial(self._let_in, known, task), partial(_ending, task))
        except NotAdmitted as refusal:
            task.report = SubagentReport(AgentEnd.NOT_STARTED, str(refusal))
        finally:
            if task in known.tasks:
                self._end(known, task)
            self._forget()
        return task.report

    async def _let_in(self, known: _Known, task: _Task) -> SubagentReport:
        """Run an admitted task. Its end is reported while it holds its slot, so before the next one begins."""
        try:
            await self._work(known, task)
        finally:
            self._end(known, task)
        return task.report

    def _end(self, known: _Known, task: _Task) -> None:
        known.tasks.remove(task)
        if task.stopped and task.report.end in (AgentEnd.CANCELLED, AgentEnd.NOT_STARTED):
            task.report = replace(task.report, reason=task.stopped)
        self._report_end(known, task.report)

    async def _work(self, known: _Known, task: _Task) -> None:
        kind, member = self.kinds.get(self._kind_of.get(known.agent, "")), task.member
        name, given = member.name if member else known.agent, member or task.script
        order = SubagentSpec(
            *(known.agent, task.tools, SubagentAsker(self._asker, name), known.begun, known.messages),
            model=model_named(kind.model) if kind and kind.model else "",
            effort=kind.effort if kind else None,
            role="\n\n".join(filter(None, (member.role if member else "", kind.prompt if kind else ""))),
            workspace=given.workspace if given else None,
            seat=given.seat if given else None,
            answer_format=task.script.answer_format if task.script else None,
        )
        try:
            subagent = self._create(order)
        except HarnessError as error:
            task.report = SubagentReport(AgentEnd.NOT_STARTED, str(error))
            return
        known.begun = True
        known.running = subagent
        known.row = replace(known.row, state=SubagentState.RUNS, since=self._clock.now(), moved=None)

        def moved(event: AgentMoved) -> None:
            known.row = replace(known.row, moved=event)
            self._conversation.emit(event)

        follower = Follower(known.agent, subagent.conversation.spend, self._conversation, moved)
        failure = "its turn had no end"
        try:
            # A cancelled agent is interrupted and comes to its end: its journal is whole, and its processes are gone.
            await shielded(played(subagent, task.prompt, follower.on_event), subagent.interrupt)
        except HarnessError as error:
            failure = str(error)
        except Exception as error:  # noqa: BLE001 (the border: whatever fails in an agent is told to whoever asked)
            self._log.exception("an agent failed")
            failure = f"something in the program failed ({type(error).__name__}: {error})"
        finally:
            known.running = None
            if not subagent.journal:
                known.messages = subagent.conversation.messages
            task.report = follower.report(failure)
            task.report = replace(task.report, ended_processes=await subagent.aclose())

    def _report_end(self, known: _Known, report: SubagentReport) -> None:
        self._conversation.emit(ended := ended_with(known.agent, report))
        if known.running is None:
            state = SubagentState.WAITS if known.tasks else SubagentState.ENDED
            known.row = replace(known.row, state=state, since=self._clock.now(), ended=ended)

    # ── what the user does ──────────────────────────────────────────────────────────────────────

    @property
    def running(self) -> tuple[str, ...]:
        """The subagents in the background that run or are queued."""
        return tuple(self._background.values())

    @property
    def rows(self) -> tuple[SubagentRow, ...]:
        """The subagents that can continue, the latest at the end."""
        return tuple(known.row for known in self._known.values())

    @property
    def known(self) -> tuple[str, ...]:
        """The ids of the same."""
        return tuple(self._known)

    def stop(self, agent: str, why: str = USER_STOPPED) -> bool:
        """End the tasks of a subagent; each is reported as cancelled. False: it has none."""
        known = self._known.get(agent)
        if known is None:
            return False
        for task in known.tasks:
            task.stopped = why
        if known.running is not None:
            known.running.interrupt()
        if len(known.tasks) > (known.running is not None):
            self.admission.end(agent)
        return bool(known.tasks)

    def recall(self, events: Iterable[Event]) -> None:
        """Restore the subagents of an earlier run of this session; their journals hold their histories.

        Tasks that had not ended when the program was killed are reported as cancelled.
        """
        unended: dict[str, int] = {}
        untold: dict[str, list[AgentCreated]] = {}
        waited_for: dict[str, AgentCreated] = {}
        for event in events:
            match event:
                case AgentCreated(agent=agent):
                    self._count = max(self._count, _number_of(agent))
                    if event.kind:
                        self._kind_of[agent] = event.kind
                    if event.member:
                        self._members.add(agent)
                    unended[agent] = unended.get(agent, 0) + 1
                    if event.background and not event.member:
                        untold.setdefault(agent, []).append(event)
                    waited_for[event.call_id] = event
                    if event.journal:
                        row = replace(first_row(event, 0.0), state=SubagentState.ENDED)
                        self._remember(_Known(agent, row, event.again))
                case MovedToBackground(call_id=call_id, work=agent) if call_id in waited_for:
                    untold.setdefault(agent, []).append(waited_for[call_id])
                case AgentMoved(agent=agent) if agent in self._known:
                    self._known[agent].begun = True
                case AgentEnded(agent=agent):
                    unended[agent] = unended.get(agent, 0) - 1
                case Arrived(kind=ArrivalKind.AGENT_ENDED, source=agent) if untold.get(agent):
                    untold[agent].pop(0)
        for agent, count in unended.items():
            for _ in range(count):
                self._conversation.emit(ended_with(agent, LEFT))
        for agent, tasks in untold.items():
            for task in tasks:
                self._arrive(agent, task.task, report_text(agent, LEFT))
        self._forget()

    async def aclose(self) -> None:
        """End every subagent in the background; a resumed session reports them."""
        for known in self._known.values():
            for asked in known.tasks:
                asked.stopped = "the session ended"
        tasks = tuple(self._background)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def _kind_names(self) -> tuple[str, ...]:
        return tuple(kind.name for kind in self.kinds.agents)

    def _new(self) -> _Known:
        self._count += 1
        agent = f"a{self._count}"
        return _Known(agent, SubagentRow(agent, "", SubagentState.WAITS, self._clock.now()))

    def _older(self, agent: str) -> _Known | None:
        """A subagent that is no longer listed. Whether its journal still exists is checked when it begins."""
        if not self._kept or not 0 < _number_of(agent) <= self._count:
            return None
        return _Known(agent, SubagentRow(agent, "", SubagentState.ENDED, 0.0), begun=True)

    def _remember(self, known: _Known) -> None:
        self._known.pop(known.agent, None)
        self._known[known.agent] = known

    def _forget(self) -> None:
        """Only the last ones are listed; of the others nothing is kept, neither here nor by the controller."""
        idle = [known.agent for known in self._known.values() if not (known.tasks or self._pinned(known))]
        for agent in idle[: max(0, len(self._known) - REMEMBERED)]:
            del self._known[agent]
            self.admission.end(agent)

    def _pinned(self, known: _Known) -> bool:
        """Forgetting it would lose the failures that it is paused for, or the only copy of its history."""
        return known.member and (not self._kept or self.admission.failures(known.agent) > 0)


def _ending(task: _Task, report: SubagentReport) -> WorkEnd:
    """How a task ended, for admission. A member may end without a word: what it had to say was in its messages."""
    silent = task.member is not None and report.end is AgentEnd.SILENT
    return WorkEnd.SUCCEEDED if silent else report.ending


def _number_of(agent: str) -> int:
    """The number in an id; 0 for any other text."""
    return int(agent[1:]) if re.fullmatch("a[1-9][0-9]{0,8}", agent) else 0


def _took(agent: str, report: SubagentReport) -> str:
    return f"{agent} answered, {counted(report.steps, 'step')}"
