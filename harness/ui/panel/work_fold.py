"""The agents, the commands in the background and the gates that let them in, folded from events alone.

What is over stays in sight until the next turn begins. Four hundred agents report a hundred times a second, so an
event costs the same however many there are; the rows are put together when somebody looks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeVar

from harness.events import (
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    BreakerState,
    CommandBegun,
    CommandCreated,
    CommandEnded,
    CommandHandedOver,
    CommandQuiet,
    ConversationBreakerChanged,
    ConversationRemoved,
    Event,
    GateClosed,
    GateEvent,
    GateLimitsSet,
    GateName,
    SessionResumed,
    SessionStarted,
    TurnStarted,
    WorkAdmitted,
    WorkDropped,
    WorkQueued,
    WorkRefused,
    WorkReleased,
    WorkReplaced,
)

View = TypeVar("View", "AgentView", "CommandView")


class AgentState(Enum):
    """What an agent does now."""

    WAITS = "waits"
    """For its turn."""
    RUNS = "runs"
    ASKS = "asks"
    """It waits for a person."""
    ENDS = "ends"
    """Another one has its place already; what came of it is about to be told."""
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class AgentView:
    """One agent in its present task, or its last one."""

    agent: str
    task: str
    since: float
    """Unix time at which it began to wait, or to work."""
    state: AgentState = AgentState.WAITS
    background: bool = False
    tasks: int = 1
    """Tasks that it works on or waits with; an agent may be given another one before it is done with the last."""
    moved: AgentMoved | None = None
    """How far it is; None: it has not begun."""
    ended: AgentEnded | None = None

    @property
    def failed(self) -> bool:
        """It is over without an answer, and no person stopped it."""
        return self.ended is not None and self.ended.end not in (AgentEnd.ANSWERED, AgentEnd.CANCELLED)


class CommandState(Enum):
    """What a command in the background does now."""

    WAITS = "waits"
    RUNS = "runs"
    QUIET = "quiet"
    """It runs, and seems to wait for an answer that nobody will give."""
    HANDED_OVER = "handed over"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class CommandView:
    """One command in the background."""

    command: str
    line: str
    since: float
    """Unix time at which it began to wait, or to run."""
    state: CommandState = CommandState.WAITS
    quiet: CommandQuiet | None = None
    """What it said last before it fell silent."""
    ended: CommandEnded | None = None


@dataclass(frozen=True, slots=True)
class GateView:
    """What a gate has let in, and what it keeps waiting."""

    gate: GateName
    max_concurrent: int = 0
    max_queue_size: int = 0
    running: int = 0
    waiting: int = 0
    put_off: int = 0
    """Conversations that found no place in the queue, and are asked for again when there is one."""
    dropped: int = 0
    """Pieces of work that will not be done; of this turn."""
    refused: int = 0
    """Of this turn, likewise."""
    resting: int = 0
    """Conversations whose breaker is not closed."""


@dataclass(slots=True)
class _Gate:
    """The same, as events change it."""

    view: GateView
    waiting: set[int] = field(default_factory=set)
    """Numbers of pieces of work."""
    put_off: set[str] = field(default_factory=set)
    resting: set[str] = field(default_factory=set)

    def see(self, event: GateEvent) -> None:
        match event:
            case GateLimitsSet(max_concurrent=concurrent, max_queue_size=queue):
                self.view = replace(self.view, max_concurrent=concurrent, max_queue_size=queue)
            case WorkAdmitted(key=key, number=number, running=running):
                self.waiting.discard(number)
                self.put_off.discard(key)
                self.view = replace(self.view, running=running)
            case WorkQueued(key=key, number=number):
                self.waiting.add(number)
                self.put_off.discard(key)
            case WorkReplaced(number=number, replaced=replaced):
                self.waiting.discard(replaced)
                self.waiting.add(number)
            case WorkDropped(key=key, number=number, dirty=True):
                self.waiting.discard(number)
                self.put_off.add(key)
            case WorkDropped(number=number):
                self.waiting.discard(number)
                self.view = replace(self.view, dropped=self.view.dropped + 1)
            case WorkRefused():
                self.view = replace(self.view, refused=self.view.refused + 1)
            case WorkReleased(running=running):
                self.view = replace(self.view, running=running)
            case ConversationBreakerChanged(key=key, after=BreakerState.CLOSED):
                self.resting.discard(key)
            case ConversationBreakerChanged(key=key):
                self.resting.add(key)
            case ConversationRemoved(key=key):
                self.put_off.discard(key)
                self.resting.discard(key)
            case GateClosed():
                self.waiting.clear()
                self.put_off.clear()

    def look(self) -> GateView:
        waiting, put_off, resting = len(self.waiting), len(self.put_off), len(self.resting)
        return replace(self.view, waiting=waiting, put_off=put_off, resting=resting)


class Working:
    """What the panel knows of work beside the turn."""

    def __init__(self) -> None:
        self._agents: dict[str, AgentView] = {}
        self._commands: dict[str, CommandView] = {}
        self._gates: dict[GateName, _Gate] = {}

    @property
    def agents(self) -> tuple[AgentView, ...]:
        """In the order in which they were asked for last."""
        return tuple(self._agents.values())

    @property
    def commands(self) -> tuple[CommandView, ...]:
        """In the order in which they were asked for."""
        return tuple(self._commands.values())

    @property
    def gates(self) -> tuple[GateView, ...]:
        """Those that have spoken."""
        return tuple(gate.look() for gate in self._gates.values())

    def see(self, event: Event, at: float) -> None:
        """Take in an event of Unix time `at`."""
        match event:
            case SessionStarted():
                self._begin_program()
                self._commands.clear()
            case SessionResumed():
                self._begin_program()
            case TurnStarted():
                self._begin_turn()
            case AgentCreated(agent=agent, task=task, background=background):
                before = self._agents.pop(agent, None)
                tasks = before.tasks + 1 if before is not None and before.ended is None else 1
                self._agents[agent] = AgentView(agent, task, at, background=background, tasks=tasks)
            case AgentMoved(agent=agent, waits_for_person=asks):
                state = AgentState.ASKS if asks else AgentState.RUNS
                self._agent(agent, lambda one: replace(one, state=state, moved=event))
            case AgentEnded(agent=agent):
                self._agent(agent, lambda one: _ended(one, event))
            case CommandCreated(command=command, line=line):
                self._commands[command] = CommandView(command, line, at)
            case CommandBegun(command=command):
                self._command(command, lambda one: replace(one, state=CommandState.RUNS, since=at))
            case CommandQuiet(command=command):
                self._command(command, lambda one: replace(one, state=CommandState.QUIET, quiet=event))
            case CommandHandedOver(command=command):
                self._command(command, lambda one: replace(one, state=CommandState.HANDED_OVER))
            case CommandEnded(command=command):
                self._command(command, lambda one: replace(one, state=CommandState.ENDED, ended=event))
            case _ if isinstance(event, GateEvent):
                self._gate(event, at)

    def _agent(self, agent: str, change: Callable[[AgentView], AgentView]) -> None:
        known = self._agents.get(agent)
        if known is not None and known.ended is None:
            self._agents[agent] = change(known)

    def _command(self, command: str, change: Callable[[CommandView], CommandView]) -> None:
        known = self._commands.get(command)
        if known is not None and known.ended is None:
            self._commands[command] = change(known)

    def _gate(self, event: GateEvent, at: float) -> None:
        self._gates.setdefault(event.gate, _Gate(GateView(event.gate))).see(event)
        match event:
            case WorkAdmitted(key=key, gate=GateName.AGENTS):
                self._agent(key, lambda one: replace(one, state=AgentState.RUNS, since=at))
            case WorkReleased(key=key, gate=GateName.AGENTS):
                self._agent(key, lambda one: replace(one, state=AgentState.ENDS))

    def _begin_turn(self) -> None:
        self._agents = _under_way(self._agents)
        self._commands = _under_way(self._commands)
        for gate in self._gates.values():
            gate.view = replace(gate.view, dropped=0, refused=0)

    def _begin_program(self) -> None:
        """Another program goes on. It runs no agents; what became of the commands it tells itself."""
        self._agents.clear()
        self._gates.clear()
        self._commands = {
            name: command
            for name, command in _under_way(self._commands).items()
            if command.state is not CommandState.HANDED_OVER
        }


def _ended(one: AgentView, event: AgentEnded) -> AgentView:
    if one.tasks > 1:
        return replace(one, tasks=one.tasks - 1, state=AgentState.WAITS, moved=None)
    return replace(one, tasks=0, state=AgentState.ENDED, ended=event)


def _under_way(views: Mapping[str, View]) -> dict[str, View]:
    return {name: view for name, view in views.items() if view.ended is None}
