"""Agents, commands in the background and admission for tests: factories for their events."""

from collections.abc import Iterator

from harness.events import (
    AdmissionClosed,
    AdmissionLimitsSet,
    AdmissionPool,
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    ArrivalKind,
    Arrived,
    BreakerState,
    ChangeReason,
    CommandBegun,
    CommandCreated,
    CommandEnd,
    CommandEnded,
    CommandQuiet,
    ConversationBreakerChanged,
    Delivered,
    DropReason,
    Event,
    Usage,
    WorkAdmitted,
    WorkDropped,
    WorkEnd,
    WorkQueued,
    WorkReleased,
)

LIMITS = AdmissionLimitsSet(5, 20, 50)


def created(agent: str, task: str = "find the tests", *, background: bool = False, call_id: str = "") -> AgentCreated:
    """An agent was asked for."""
    call = call_id or f"call-{agent}"
    return AgentCreated(agent, call, task, f"{task}, please", "claude-sonnet-4-6", ("grep",), background=background)


def moved(agent: str, doing: str = "grep load_config", step: int = 3, *, asks: bool = False) -> AgentMoved:
    """An agent does something else."""
    return AgentMoved(agent, step, doing, step, 4_000 * step, 0.01 * step, waits_for_user=asks)


def ended(agent: str, end: AgentEnd = AgentEnd.ANSWERED, reason: str = "", seconds: float = 8.2) -> AgentEnded:
    """An agent is done."""
    return AgentEnded(agent, end, reason, 3, 3, Usage(12_000, 300), 0.03, seconds)


def admitted(key: str, number: int, running: int, pool: AdmissionPool = AdmissionPool.AGENTS) -> WorkAdmitted:
    """A piece of work starts."""
    return WorkAdmitted(key, number, running, pool)


def released(key: str, number: int, running: int, ending: WorkEnd = WorkEnd.SUCCEEDED) -> WorkReleased:
    """A piece of work is over."""
    return WorkReleased(key, number, ending, running)


def put_off(key: str, number: int) -> WorkDropped:
    """A piece of work finds no place in the queue and is asked for again."""
    return WorkDropped(key, number, DropReason.QUEUE_FULL, deferred=True)


def command(id: str, line: str = "npm run dev") -> CommandCreated:
    """A command was asked for in the background."""
    return CommandCreated(id, f"call-{id}", line, f"/state/outputs/{id}.txt", 86_400.0)


def begun(id: str, pid: int = 4242) -> CommandBegun:
    """A command runs."""
    return CommandBegun(id, pid)


def quiet(id: str, tail: str = "Is this OK? (yes) ") -> CommandQuiet:
    """A command waits for an answer."""
    return CommandQuiet(id, 45.0, tail)


def over(id: str, code: int | None = 0, end: CommandEnd = CommandEnd.EXITED, reason: str = "") -> CommandEnded:
    """A command is over."""
    return CommandEnded(id, end, code, 12.0, 4_096, "2 failed\n", reason)


def arrived(number: int, source: str, kind: ArrivalKind = ArrivalKind.COMMAND_ENDED) -> Arrived:
    """Something came for the model."""
    return Arrived(number, kind, source, f"{source} is over")


def delivered(*numbers: int) -> Delivered:
    """Delivered to the model."""
    return Delivered(numbers)


RESTS = ConversationBreakerChanged(
    "a3", BreakerState.CLOSED, BreakerState.OPEN, ChangeReason.THRESHOLD, 5, 1_800_000_060.0
)
CLOSED = AdmissionClosed(2, 18)


def crowd(agents: int = 400, done: int = 37) -> Iterator[Event]:
    """Request `agents` agents at once; `done` of them have ended, every tenth of those failed."""
    yield LIMITS
    for number in range(1, agents + 1):
        yield created(f"a{number}", f"count the lines of module {number}")
    for number in range(1, agents + 1):
        if number <= 5:
            yield admitted(f"a{number}", number, number)
            continue
        if number > 25:
            yield put_off(f"a{number - 20}", number - 20)
        yield WorkQueued(f"a{number}", number, min(20, number - 5))
    for number in range(1, done + 1):
        yield moved(f"a{number}", "asks the model", 1)
        failed = number % 10 == 0
        yield ended(f"a{number}", *((AgentEnd.FAILED, "the model was overloaded") if failed else ()))
        yield released(f"a{number}", number, 4, WorkEnd.FAILED if failed else WorkEnd.SUCCEEDED)
        yield admitted(f"a{number + 5}", agents + number, 5)
    for number in range(done + 1, done + 6):
        yield moved(f"a{number}", "read_file src/module.py", 2)
