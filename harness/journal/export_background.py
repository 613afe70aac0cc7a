"""What agents and commands in the background did, as notes on the page of an exported session."""

from harness.events import (
    AgentCreated,
    AgentEnd,
    AgentEnded,
    CommandCreated,
    CommandEnd,
    CommandEnded,
    CommandHandedOver,
    Event,
    GateClosed,
)


class WorkNotes:
    """Remembers what each was asked for, so that its end can be told in one line."""

    def __init__(self) -> None:
        self._tasks: dict[str, str] = {}
        self._lines: dict[str, str] = {}

    def note(self, event: Event) -> str:
        """What the page says of an event; empty for nothing."""
        match event:
            case AgentCreated(agent=agent, task=task):
                self._tasks[agent] = task
            case AgentEnded(agent=agent):
                return _agent(event, self._tasks.pop(agent, ""))
            case CommandCreated(command=command, line=line):
                self._lines[command] = line
            case CommandHandedOver(command=command, pid=pid):
                return f"{command} goes on by itself as process {pid}"
            case CommandEnded(command=command):
                return _command(event, self._lines.pop(command, ""))
            case GateClosed(dropped=dropped) if dropped:
                return f"{dropped:,} pieces of work that waited were not done"
        return ""


def priced(cost_usd: float, unpriced: int) -> str:
    """What requests cost, of which so many have no known price."""
    if unpriced:
        return f"at least ${cost_usd:.4f}" if cost_usd else "cost unknown"
    return f"${cost_usd:.4f}"


def _agent(event: AgentEnded, task: str) -> str:
    name = f"agent {event.agent}, {task}" if task else f"agent {event.agent}"
    steps = f"{event.steps} step" + ("" if event.steps == 1 else "s")
    took = f"{steps}, {event.duration_s:.1f} s, {priced(event.cost_usd, event.unpriced)}"
    if event.end is AgentEnd.ANSWERED:
        return f"{name}: answered after {took}"
    why = f": {event.reason}" if event.reason else ""
    return f"{name}: no answer ({event.end.value.replace('_', ' ')}{why}) after {took}"


def _command(event: CommandEnded, line: str) -> str:
    name = f"{event.command} in the background, {line}" if line else f"{event.command} in the background"
    how = f"exit {event.exit_code}" if event.end is CommandEnd.EXITED else event.end.value.replace("_", " ")
    why = f": {event.reason}" if event.reason else ""
    return f"{name}: {how} after {event.duration_s:.1f} s{why}"
