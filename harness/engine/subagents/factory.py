"""Makes the subagents of an agent.

A subagent has its own history, breakers, failure budget and loop detection, with the same numbers; `SharedParts` lists
what it shares with its parent.
"""

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Protocol

from harness import journal
from harness.base.errors import HarnessError, JournalError
from harness.base.version import __version__
from harness.engine.conversation import Conversation, ignore
from harness.engine.parts import AgentParts, Parent
from harness.engine.subagents.reports import SubagentSpec
from harness.events import BreakerCommand, BreakerState, Event, Notice, SessionStarted
from harness.journal import Journal, Recorder
from harness.processes import SurvivingProcess
from harness.settings import Settings


class ParentAgent(Protocol):
    """`harness.agent.Agent`, which may not be imported here."""

    def __init__(self, settings: Settings | None = None, **options: object) -> None: ...

    @property
    def parts(self) -> AgentParts: ...

    def run(self, prompt: str) -> AsyncGenerator[Event, None]: ...

    def deliver(self) -> AsyncGenerator[Event, None]: ...

    async def aclose(self) -> None: ...


class RecordedSubagent:
    """A subagent and the journal with its events."""

    def __init__(
        self,
        agent: ParentAgent,
        id: str,
        kept: Journal | None,
        warn: Callable[[JournalError], None],
        ending: Callable[[], None] | None,
    ) -> None:
        """`warn` is called when the end of the journal cannot be written, `ending` when the task has ended."""
        self._agent = agent
        self._ending = ending
        self._id = id
        self._kept = kept
        self._warn = warn

    @property
    def conversation(self) -> Conversation:
        """Its history and spend."""
        return self._agent.parts.core.conversation

    @property
    def journal(self) -> str:
        """Name of the file with its events; empty: it has none."""
        return self._kept.path.name if self._kept else ""

    def run(self, prompt: str) -> AsyncGenerator[Event, None]:
        """Work on the task; the last event is `TurnEnded`."""
        return self._agent.run(prompt)

    def deliver(self) -> AsyncGenerator[Event, None]:
        """Work on the mail of a member that waits; no event if there is none."""
        return self._agent.deliver()

    def interrupt(self) -> None:
        """End the turn as soon as possible, also one that has not begun."""
        self._agent.parts.core.signals.close()

    async def aclose(self) -> tuple[SurvivingProcess, ...]:
        """Close the agent and its journal, and end what its commands left running; returns those processes."""
        try:
            if self._ending is not None:
                self._ending()
            await self._agent.aclose()
            return await self._agent.parts.core.shared.processes.end_left(self._id)
        finally:
            if self._kept is not None:
                try:
                    self._kept.close()
                except JournalError as error:
                    self._warn(error)


class SubagentFactory:
    """Makes the subagents of one agent."""

    def __init__(self, agent: ParentAgent) -> None:
        """`agent` is their parent. Its parts are looked up when the first subagent is made."""
        self._agent = agent
        self._warned = False

    @property
    def _parent(self) -> AgentParts:
        return self._agent.parts

    def create(self, spec: SubagentSpec) -> RecordedSubagent:
        """A subagent for a task. Raises HarnessError when its settings or its earlier work cannot be used."""
        parent = self._parent
        kept = self._journal(spec)
        with ExitStack() as undo:
            if kept is not None:
                undo.callback(kept.close)
            conversation = self._conversation(kept, spec)
            settings = self._settings(conversation, spec)
            own = {tool.name for tool in parent.core.own_tools}
            seated = () if spec.seat is None else spec.seat.tools
            agent = type(self._agent)(
                settings,
                tools=[tool for tool in parent.core.own_tools if tool.name in spec.tools],
                standard=[*(name for name in spec.tools if name not in own), *(tool.name for tool in seated)],
                asker=spec.asker,
                answer_format=spec.answer_format,
                conversation=conversation,
                outputs=parent.core.outputs / spec.agent,
                parent=Parent(parent, spec.role, spec.seat),
            )
            if kept is not None and not spec.again:
                address = parent.core.shared.connection.address
                conversation.emit(
                    SessionStarted(
                        *(spec.agent, __version__, str(settings.workspace), settings.model, address),
                        practice=settings.practice,
                    )
                )
            agent.parts.breakers.announce()
            agent.parts.loops.announce()
            given = _copy_open_breakers(parent, agent.parts, probed=spec.seat is not None)
            undo.pop_all()
        led = spec.seat is not None and settings.workspace == parent.core.settings.workspace
        ending = partial(_return_breakers, agent.parts, parent, given) if led else None
        return RecordedSubagent(agent, spec.agent, kept, self._warn, ending)

    def _settings(self, conversation: Conversation, spec: SubagentSpec) -> Settings:
        """Those of the parent with the limits of one task, on top of what earlier tasks have cost (of a member: of all
        its tasks), and with the working tree of the subagent. Raises HarnessError when that is gone."""
        parent, spent_usd = self._parent, 0.0 if spec.seat else conversation.spend.cost_usd
        workspace, earlier = parent.core.settings.workspace, conversation.state.workspace
        if earlier != parent.core.conversation.state.workspace:  # else both may have been moved since
            workspace = Path(earlier or workspace)
        workspace = spec.workspace or workspace
        if not workspace.is_dir():
            raise HarnessError(f"the working tree of agent {spec.agent} is gone ({workspace}); start a new one")
        own, model = parent.core.settings, spec.model or parent.models.current
        budget = None if own.subagent_budget_usd is None else own.subagent_budget_usd + spent_usd
        changes = {
            "model": model,
            "effort": spec.effort or parent.models.effort_of(model),
            "max_steps": own.subagent_steps,
            "max_budget_usd": budget,
            "token_budget": None,
            "workspace": workspace,
        }
        return own.model_copy(update=changes)

    def _journal(self, spec: SubagentSpec) -> Journal | None:
        """Its journal; None where none is wanted or none can be written, which is reported once.

        A subagent that began without a journal continues without one: half of its work would look like all of it.
        """
        folder = self._parent.core.agents_folder
        if spec.again and spec.messages:
            return None
        path = folder / f"{spec.agent}.jsonl" if folder else None
        if spec.again:
            if path is None or not path.exists():
                raise HarnessError(f"what agent {spec.agent} did before is no longer recorded; start a new one")
            return Journal.open(path)
        if folder is None:
            return None
        try:
            return Journal.create(folder, spec.agent)
        except JournalError as error:
            self._warn(error)
            return None

    def _conversation(self, kept: Journal | None, spec: SubagentSpec) -> Conversation:
        masking = self._parent.core.conversation.masking
        if kept is None:
            return Conversation(ignore, messages=spec.messages, masking=masking)
        recorder = partial(self._record, Recorder(kept))
        if not spec.again:
            return Conversation(recorder, masking=masking)
        state = journal.replay(journal.read(kept.path).records)
        return Conversation(recorder, state, masking=masking)

    def _record(self, recorder: Recorder, event: Event) -> None:
        for notice in recorder(event):
            if notice.level == "error":
                self._warn(JournalError(notice.text))

    def _warn(self, error: JournalError) -> None:
        """Report once for all subagents that they are not recorded: the disk is the reason for all."""
        if not self._warned:
            self._warned = True
            conversation = self._parent.core.conversation
            conversation.emit(Notice("warning", f"what agents do is not kept: {error}"))


def _copy_open_breakers(parent: AgentParts, child: AgentParts, *, probed: bool) -> tuple[str, ...]:
    """Copies open breakers to the subagent so it does not rediscover failures; returns their names.

    `probed`: its first call of such a tool is a probe, because its lead may take no steps in which to probe it.
    """
    registry, known = parent.breakers.registry, child.breakers.registry
    given = tuple(row.tool for row in registry.rows() if row.state is not BreakerState.CLOSED and known.knows(row.tool))
    for tool in given:
        isolated = registry.breaker(tool).isolated
        child.breakers.command(BreakerCommand.ISOLATE if isolated or probed else BreakerCommand.TRIP, tool)
        if probed and not isolated:
            child.breakers.command(BreakerCommand.RELEASE, tool)
    return given


def _return_breakers(child: AgentParts, parent: AgentParts, given: Collection[str]) -> None:
    """Tells the lead which tools the breakers of a member or of a plan's agent have opened or closed again, so that the
    next one does not rediscover it."""
    ours = parent.breakers.registry
    for row in child.breakers.registry.rows():
        isolated = child.breakers.registry.breaker(row.tool).isolated
        if not ours.knows(row.tool) or isolated or ours.breaker(row.tool).isolated:
            continue
        known = ours.breaker(row.tool).state
        if row.state is BreakerState.OPEN and known is BreakerState.CLOSED:
            parent.breakers.command(BreakerCommand.TRIP, row.tool)
        elif row.state is BreakerState.CLOSED and known is not BreakerState.CLOSED and row.tool in given:
            parent.breakers.command(BreakerCommand.RESET, row.tool)
