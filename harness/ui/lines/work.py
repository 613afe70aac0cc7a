"""Events of agents, of commands in the background and of the gate in one line each.

Four hundred agents are four hundred lines when they begin and four hundred when they end, and none between. That
work waits is on the panel; a line is for what a person would want to know of an hour later.
"""

from harness.base.clock import time_of_day
from harness.events import (
    AgentCreated,
    AgentEnd,
    AgentEnded,
    Arrived,
    BreakerState,
    CommandCreated,
    CommandEnd,
    CommandEnded,
    CommandHandedOver,
    CommandQuiet,
    ConversationBreakerChanged,
    Delivered,
    DropReason,
    Event,
    GateClosed,
    GateName,
    RefusalReason,
    TurnStarted,
    WorkAdmitted,
    WorkDropped,
    WorkRefused,
)
from harness.ui.lines.agent_tasks import AgentTasks
from harness.ui.lines.events import priced, seconds
from harness.ui.lines.line import Line, Tone

DELEGATES = "task"
"""The tool whose calls are told by what their agents do."""
SEVERAL = 5
"""Sources of arrivals that are named; of more the number is told."""


class WorkLines:
    """Remembers what agents were asked for and what commands were called, so that a line says what it is about."""

    def __init__(self, *, of_calls: bool = True) -> None:
        """`of_calls`: also tell of agents that a call waits for. Where calls are shown, they show it themselves."""
        self._of_calls = of_calls
        self._tasks = AgentTasks()
        self._calls: set[str] = set()
        """Ids of calls that wait for an agent."""
        self._commands: dict[str, CommandCreated] = {}
        self._arrived: dict[int, str] = {}

    def tells_of(self, call_id: str) -> bool:
        """Whether these lines tell all there is to say of a call."""
        return call_id in self._calls

    def line(self, event: Event) -> Line | None:
        """What to print for an event; None for one that says nothing to a person."""
        match event:
            case TurnStarted():
                self._calls.clear()
            case AgentCreated(call_id=call_id, background=background):
                self._tasks.created(event)
                if self._of_calls and not background:
                    self._calls.add(call_id)
            case WorkAdmitted(key=key, gate=GateName.AGENTS):
                self._tasks.begun(key)
                task = self._tasks.of(key)
                return Line("→", f"{_named(key, task)} begins") if self._is_told(task) else None
            case AgentEnded(agent=agent):
                task = self._tasks.ended(event)
                return _agent_ended(event, _named(agent, task)) if self._is_told(task) else None
            case CommandCreated(command=command):
                self._commands[command] = event
            case CommandQuiet(command=command, quiet_s=quiet, tail=tail):
                silent = (
                    f"{self._command(command)} has been silent for {seconds(quiet)} and seems to wait for an answer"
                )
                return Line("?", f"{silent}: {_last_line(tail)}", Tone.TROUBLE)
            case CommandHandedOver(command=command, pid=pid):
                return Line("→", f"{self._command(command)} goes on by itself (process {pid}); nobody ends it any more")
            case CommandEnded(command=command):
                line = _command_ended(event, self._command(command))
                self._commands.pop(command, None)
                return line
            case Arrived(number=number, source=source):
                self._arrived[number] = source
            case Delivered(numbers=numbers):
                return self._delivered(numbers)
            case _:
                return _gate(event)
        return None

    def _is_told(self, task: AgentCreated | None) -> bool:
        return self._of_calls or (task is not None and task.background)

    def _command(self, command: str) -> str:
        created = self._commands.get(command)
        return f'{command} "{created.line}"' if created is not None else command

    def _delivered(self, numbers: tuple[int, ...]) -> Line:
        sources = list(dict.fromkeys(self._arrived.pop(number, "") for number in numbers))
        named = [source for source in sources if source]
        results = f"{len(numbers):,} result" + ("" if len(numbers) == 1 else "s")
        what = ", ".join(named) if 0 < len(named) <= SEVERAL else results
        return Line("·", f"the model is told what came of {what}")


def _named(agent: str, task: AgentCreated | None) -> str:
    return f'{agent} "{task.task}"' if task is not None and task.task else agent


def _agent_ended(event: AgentEnded, name: str) -> Line:
    cost = f", {priced(event.cost_usd, event.unpriced)}" if event.cost_usd or event.unpriced else ""
    steps = f"{event.steps} step" + ("" if event.steps == 1 else "s")
    tokens = event.usage.prompt + event.usage.output
    taken = f", {tokens:,} tokens{cost}" if tokens else ""
    reckoning = f"{seconds(event.duration_s)}, {steps}{taken}"
    match event.end:
        case AgentEnd.ANSWERED:
            return Line("✓", f"{name} answered ({reckoning})")
        case AgentEnd.NOT_STARTED:
            return Line("✗", f"{name} did not begin: {event.reason}", Tone.BAD)
        case AgentEnd.CANCELLED:
            return Line("○", f"{name} was stopped ({reckoning})", Tone.TROUBLE)
        case _:
            return Line("✗", f"{name} did not finish: {event.reason} ({reckoning})", Tone.BAD)


def _command_ended(event: CommandEnded, name: str) -> Line:
    took = seconds(event.duration_s)
    why = f": {event.reason}" if event.reason else ""
    match event.end:
        case CommandEnd.EXITED if not event.exit_code:
            return Line("✓", f"{name} is done ({took})")
        case CommandEnd.EXITED:
            last = _last_line(event.tail)
            said = f"; its last line: {last}" if last else ""
            return Line("✗", f"{name} {_exit(event.exit_code)} after {took}{said}", Tone.TROUBLE)
        case CommandEnd.STOPPED | CommandEnd.SHUT_DOWN:
            left = f"; still there: {', '.join(event.left)}" if event.left else ""
            tone = Tone.BAD if event.left else Tone.QUIET
            return Line("○", f"{name} was {'killed' if event.forced else 'stopped'} after {took}{why}{left}", tone)
        case CommandEnd.TIMED_OUT:
            return Line("✗", f"{name} ran for {took}, longer than it may; it was stopped{why}", Tone.TROUBLE)
        case CommandEnd.TOO_LONG:
            return Line("✗", f"{name} wrote more than may be kept and was stopped after {took}{why}", Tone.TROUBLE)
        case CommandEnd.NOT_STARTED:
            return Line("✗", f"{name} was not started{why}", Tone.BAD)
        case CommandEnd.LOST:
            return Line("✗", f"what became of {name} is not known{why}", Tone.TROUBLE)


def _exit(code: int | None) -> str:
    return f"was killed by signal {-code}" if code is not None and code < 0 else f"failed with exit code {code}"


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2].strip()


def _gate(event: Event) -> Line | None:
    """The gate speaks when something will not be done, or may not be done for a while."""
    match event:
        case WorkDropped(key=key, dirty=False, reason=DropReason.PAUSED):
            return Line("!", f"{key} does not begin: it failed too often and rests", Tone.TROUBLE)
        case WorkDropped(key=key, dirty=False, reason=DropReason.QUEUE_FULL):
            return Line("!", f"{key} does not begin: the queue is full", Tone.TROUBLE)
        case WorkRefused(key=key, reason=RefusalReason.SHUTTING_DOWN):
            return Line("!", f"{key} does not begin: nothing is begun any more", Tone.TROUBLE)
        case WorkRefused(key=key):
            return Line("!", f"{key} does not begin: it is over", Tone.TROUBLE)
        case ConversationBreakerChanged(key=key, after=BreakerState.OPEN, before=before) if (
            before is not BreakerState.OPEN
        ):
            until = f" until {time_of_day(event.until)}" if event.until is not None else ""
            return Line("‖", f"{key} rests{until}: it failed {event.failures} times in a row", Tone.TROUBLE)
        case ConversationBreakerChanged(key=key, after=BreakerState.CLOSED, before=before) if (
            before is not BreakerState.CLOSED
        ):
            return Line("✓", f"{key} works again")
        case GateClosed(dropped=dropped) if dropped:
            return Line("!", f"{dropped:,} pieces of work that waited will not be done", Tone.TROUBLE)
        case _:
            return None
