"""Subagents, background commands, admission and the plan, folded from events.

Four hundred subagents report a hundred times a second, so an event costs the same however many there are. The plan is
what the model declared with todo_write.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeVar

from harness.events import (
    AdmissionClosed,
    AdmissionEvent,
    AdmissionLimitsSet,
    AdmissionPool,
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    BreakerState,
    CommandBegun,
    CommandCreated,
    CommandEnd,
    CommandEnded,
    CommandHandedOver,
    CommandQuiet,
    ConversationBreakerChanged,
    ConversationRemoved,
    Event,
    ItemStatus,
    MovedToBackground,
    PlanChanged,
    PlanItem,
    SessionResumed,
    SessionStarted,
    TurnStarted,
    WorkAdmitted,
    WorkDropped,
    WorkQueued,
    WorkRejected,
    WorkReleased,
)
from harness.session import SubagentRow, SubagentState

View = TypeVar("View", "SubagentView", "CommandView")


class SubagentActivity(Enum):
    """What a subagent does now."""

    QUEUED = "queued"
    RUNNING = "running"
    ASKING = "asking"
    """It waits for the user."""
    ENDING = "ending"
    """Its slot is free again, and its result is about to be reported."""
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class SubagentView:
    """A subagent and its newest task."""

    agent: str
    task: str
    since: float
    """Unix time at which it was queued or started."""
    state: SubagentActivity = SubagentActivity.QUEUED
    background: bool = False
    tasks: int = 1
    """Tasks that have not ended; a subagent may be given another one before it is done with the last."""
    moved: AgentMoved | None = None
    """Its progress; None: not started."""
    ended: AgentEnded | None = None
    member: str = ""
    """Name of the member that it is; empty: none."""

    @property
    def failed(self) -> bool:
        """Whether it ended without an answer and was not cancelled."""
        return self.ended is not None and self.ended.end not in (AgentEnd.ANSWERED, AgentEnd.CANCELLED)

    @property
    def word(self) -> str:
        """Its state in a word or two."""
        return self.state.value if self.ended is None else self.ended.end.value.replace("_", " ")

    @property
    def tokens(self) -> int:
        """Tokens of its newest task so far."""
        if self.ended is not None:
            return self.ended.usage.prompt + self.ended.usage.output
        return 0 if self.moved is None else self.moved.tokens

    @property
    def cost(self) -> tuple[float, int] | None:
        """US dollars of its newest task so far, and the requests without a known price; None: nothing was paid."""
        taken = self.ended or self.moved
        return (taken.cost_usd, taken.unpriced) if taken and (taken.cost_usd or taken.unpriced) else None


def subagent_view(row: SubagentRow) -> SubagentView:
    """A subagent as the session has it."""
    state = SubagentActivity.RUNNING
    if row.state is SubagentState.WAITS:
        state = SubagentActivity.QUEUED
    elif row.state is SubagentState.ENDED:
        state = SubagentActivity.ENDED
    elif row.moved is not None and row.moved.waits_for_user:
        state = SubagentActivity.ASKING
    return SubagentView(row.id, row.task, row.since, state, row.background, moved=row.moved, ended=row.ended)


class CommandActivity(Enum):
    """What a background command does now."""

    QUEUED = "queued"
    RUNNING = "running"
    SILENT = "silent"
    """It seems to wait for input that will not come."""
    HANDED_OVER = "handed over"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class CommandView:
    """A background command."""

    command: str
    line: str
    since: float
    """Unix time at which it was queued or started."""
    state: CommandActivity = CommandActivity.QUEUED
    quiet: CommandQuiet | None = None
    """Its last output before it fell silent."""
    ended: CommandEnded | None = None
    moved: bool = False
    """It began in the foreground."""

    @property
    def is_well(self) -> bool:
        """Whether it has not ended, ended without a failure, or was stopped."""
        end = self.ended
        return end is None or end.end in STOPPED or (end.end is CommandEnd.EXITED and not end.exit_code)


STOPPED = (CommandEnd.STOPPED, CommandEnd.SHUT_DOWN)
ENDS = {
    CommandEnd.TIMED_OUT: "timed out",
    CommandEnd.STOPPED: "stopped",
    CommandEnd.TOO_LONG: "wrote too much",
    CommandEnd.NOT_STARTED: "not started",
    CommandEnd.SHUT_DOWN: "stopped",
    CommandEnd.LOST: "lost",
}


def end_word(end: CommandEnd, exit_code: int | None) -> str:
    """How a command ended: "exit 1", "stopped"."""
    return ENDS.get(end) or f"exit {exit_code}"


@dataclass(frozen=True, slots=True)
class AdmissionView:
    """The running, queued and deferred work of one admission pool."""

    pool: AdmissionPool
    max_concurrent: int = 0
    max_queue_size: int = 0
    running: int = 0
    queued: int = 0
    deferred: int = 0
    """Conversations that found the queue full and are queued again when there is room."""
    dropped: int = 0
    """Work that will not be done; of this turn."""
    rejected: int = 0
    """Of this turn, too."""
    paused: int = 0
    """Conversations whose breaker is not closed."""


@dataclass(frozen=True, slots=True)
class WorkView:
    """Work beside the turn: ongoing work, and work that ended in this turn."""

    agents: tuple[SubagentView, ...] = ()
    """In the order of their newest task."""
    commands: tuple[CommandView, ...] = ()
    """In the order of creation."""
    admission: tuple[AdmissionView, ...] = ()
    """The admission pools that reported anything."""

    @property
    def unnamed(self) -> tuple[SubagentView, ...]:
        """The subagents that are no members, which have rows of their own."""
        return tuple(one for one in self.agents if not one.member)


@dataclass(slots=True)
class _Pool:
    """An admission pool that changes with each event."""

    view: AdmissionView
    queued: set[int] = field(default_factory=set)
    """Numbers of pieces of work."""
    deferred: set[str] = field(default_factory=set)
    paused: set[str] = field(default_factory=set)

    def on_event(self, event: AdmissionEvent) -> None:
        match event:
            case AdmissionLimitsSet(max_concurrent=concurrent, max_queue_size=queue):
                self.view = replace(self.view, max_concurrent=concurrent, max_queue_size=queue)
            case WorkAdmitted(key=key, number=number, running=running):
                self.queued.discard(number)
                self.deferred.discard(key)
                self.view = replace(self.view, running=running)
            case WorkQueued(key=key, number=number, replaced=replaced):
                self.queued.discard(replaced or 0)
                self.queued.add(number)
                self.deferred.discard(key)
            case WorkDropped(key=key, number=number, deferred=True):
                self.queued.discard(number)
                self.deferred.add(key)
            case WorkDropped(number=number):
                self.queued.discard(number)
                self.view = replace(self.view, dropped=self.view.dropped + 1)
            case WorkRejected():
                self.view = replace(self.view, rejected=self.view.rejected + 1)
            case WorkReleased(running=running):
                self.view = replace(self.view, running=running)
            case ConversationBreakerChanged(key=key, after=BreakerState.CLOSED):
                self.paused.discard(key)
            case ConversationBreakerChanged(key=key):
                self.paused.add(key)
            case ConversationRemoved(key=key):
                self.deferred.discard(key)
                self.paused.discard(key)
            case AdmissionClosed():
                self.queued.clear()
                self.deferred.clear()

    def now(self) -> AdmissionView:
        queued, deferred, paused = len(self.queued), len(self.deferred), len(self.paused)
        return replace(self.view, queued=queued, deferred=deferred, paused=paused)


class WorkFold:
    """Work beside the turn. Ended work stays until the next turn."""

    def __init__(self) -> None:
        self._agents: dict[str, SubagentView] = {}
        self._tasks: dict[str, list[AgentCreated]] = {}
        """The tasks of each subagent that have not ended, oldest first."""
        self._started: set[str] = set()
        """Subagents that work on the first of their tasks."""
        self._commands: dict[str, CommandView] = {}
        self._pools: dict[AdmissionPool, _Pool] = {}

    @property
    def now(self) -> WorkView:
        """The work after all events."""
        admission = tuple(pool.now() for pool in self._pools.values())
        return WorkView(tuple(self._agents.values()), tuple(self._commands.values()), admission)

    def command_line(self, command: str) -> str:
        """The command line of a background command; empty if unknown."""
        return self._commands[command].line if command in self._commands else ""

    def on_event(self, event: Event, at: float = 0.0) -> AgentCreated | None:
        """Process an event of Unix time `at`. Returns the task that it is about, if it is about a known one."""
        match event:
            case SessionStarted():
                self._begin_process()
                self._commands.clear()
            case SessionResumed():
                self._begin_process()
            case TurnStarted():
                self._begin_turn()
            case AgentCreated(agent=agent, task=task, background=background):
                self._tasks.setdefault(agent, []).append(event)
                self._agents.pop(agent, None)
                count = len(self._tasks[agent])
                view = SubagentView(agent, task, at, background=background, tasks=count, member=event.member)
                self._agents[agent] = view
                return event
            case AgentMoved(agent=agent, waits_for_user=asks):
                state = SubagentActivity.ASKING if asks else SubagentActivity.RUNNING
                self._agent(agent, lambda one: replace(one, state=state, moved=event))
                return self._task(agent)
            case AgentEnded():
                return self._agent_ended(event)
            case CommandCreated(command=command, line=line):
                self._commands[command] = CommandView(command, line, at)
            case CommandBegun(command=command):
                self._command(command, lambda one: replace(one, state=CommandActivity.RUNNING, since=at))
            case MovedToBackground(work=work):
                self._command(work, lambda one: replace(one, moved=True))
                return self._moved(work, event.call_id)
            case CommandQuiet(command=command):
                self._command(command, lambda one: replace(one, state=CommandActivity.SILENT, quiet=event))
            case CommandHandedOver(command=command):
                self._command(command, lambda one: replace(one, state=CommandActivity.HANDED_OVER))
            case CommandEnded(command=command):
                self._command(command, lambda one: replace(one, state=CommandActivity.ENDED, ended=event))
            case _ if isinstance(event, AdmissionEvent):
                return self._admission(event, at)
        return None

    def _agent(self, agent: str, change: Callable[[SubagentView], SubagentView]) -> None:
        known = self._agents.get(agent)
        if known is not None and known.ended is None:
            self._agents[agent] = change(known)

    def _command(self, command: str, change: Callable[[CommandView], CommandView]) -> None:
        known = self._commands.get(command)
        if known is not None and known.ended is None:
            self._commands[command] = change(known)

    def _moved(self, agent: str, call_id: str) -> AgentCreated | None:
        """A subagent that no call waits for now."""
        tasks = self._tasks.get(agent, [])
        for at, task in enumerate(tasks):
            if task.call_id == call_id:
                tasks[at] = replace(task, background=True)
                self._agent(agent, lambda one: replace(one, background=True))
                return tasks[at]
        return None

    def _task(self, agent: str) -> AgentCreated | None:
        """The task that a subagent works on, or will when it is admitted."""
        tasks = self._tasks.get(agent)
        return tasks[0] if tasks else None

    def _agent_ended(self, event: AgentEnded) -> AgentCreated | None:
        agent, tasks = event.agent, self._tasks.get(event.agent)
        if not tasks:
            return None
        # A task that was never started stood behind the running one; newer work took its place in the queue.
        queued = event.end is AgentEnd.NOT_STARTED and agent in self._started and len(tasks) > 1
        task = tasks.pop(1 if queued else 0)
        if not queued:
            self._started.discard(agent)
        if tasks:
            state, left = SubagentActivity.QUEUED, len(tasks)
            self._agent(agent, lambda one: replace(one, tasks=left, state=state, moved=None))
        else:
            del self._tasks[agent]
            self._agent(agent, lambda one: replace(one, tasks=0, state=SubagentActivity.ENDED, ended=event))
        return task

    def _admission(self, event: AdmissionEvent, at: float) -> AgentCreated | None:
        self._pools.setdefault(event.pool, _Pool(AdmissionView(event.pool))).on_event(event)
        match event:
            case WorkAdmitted(key=agent, pool=AdmissionPool.AGENTS):
                if agent in self._tasks:
                    self._started.add(agent)
                self._agent(agent, lambda one: replace(one, state=SubagentActivity.RUNNING, since=at))
                return self._task(agent)
            case WorkReleased(key=agent, pool=AdmissionPool.AGENTS):
                self._agent(agent, lambda one: replace(one, state=SubagentActivity.ENDING))
        return None

    def _begin_turn(self) -> None:
        self._agents = _not_ended(self._agents)
        self._commands = _not_ended(self._commands)
        for pool in self._pools.values():
            pool.view = replace(pool.view, dropped=0, rejected=0)

    def _begin_process(self) -> None:
        """A new process starts without subagents, and reports itself what became of the commands."""
        self._agents.clear()
        self._tasks.clear()
        self._started.clear()
        self._pools.clear()
        self._commands = {
            name: command
            for name, command in _not_ended(self._commands).items()
            if command.state is not CommandActivity.HANDED_OVER
        }


def _not_ended(views: Mapping[str, View]) -> dict[str, View]:
    return {name: view for name, view in views.items() if view.ended is None}


Plan = tuple[PlanItem, ...]


def plan_after(plan: Plan, event: Event) -> Plan:
    """The plan after an event. A plan with no open item ends with the next prompt."""
    match event:
        case SessionStarted():
            return ()
        case TurnStarted(prompt=prompt) if prompt and not is_open(plan):
            return ()
        case PlanChanged(items=items):
            return items
        case _:
            return plan


def is_open(plan: Sequence[PlanItem]) -> bool:
    """Whether any item is left to do."""
    return any(item.is_open for item in plan)


def how_far(plan: Sequence[PlanItem]) -> str:
    """The progress: "2 of 5"."""
    return f"{sum(not item.is_open for item in plan)} of {len(plan)}"


def in_progress(plan: Sequence[PlanItem]) -> str:
    """The text of the item in progress; empty if there is none."""
    return next((item.text for item in plan if item.status is ItemStatus.IN_PROGRESS), "")
