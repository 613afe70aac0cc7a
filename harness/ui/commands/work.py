"""/agents, /background and /kill: who works beside the turn, and what a person can do about it."""

import shlex
import time
from collections.abc import Iterable, Iterator, Sequence

from harness.base.errors import HarnessError
from harness.base.terminal_text import visible
from harness.events import AgentEnd, AgentEnded, AgentMoved, CommandEnd, GateName
from harness.session import AgentRow, CommandRow, GateStatus, Session
from harness.ui.commands.results import CommandError, Do, Result, Say
from harness.ui.lines.events import priced, seconds

MOST_ROWS = 30
"""Rows of a list; of more the number is told."""
WIDEST = 60
"""Characters of a task or a command line in a list."""


def agents(session: Session, argument: str) -> Result:
    """List the agents, show one, or stop one."""
    match argument.split():
        case []:
            return Say("\n".join(_agent_list(session, time.time())))
        case ["stop", id]:
            return Do(session.stop_work(_agent(session, id).id))
        case [id] if id != "stop":
            return Say("\n".join(_about(session, _agent(session, id), time.time())))
        case _:
            raise CommandError("Type /agents for the list, /agents a1 to look at one, /agents stop a1 to end one.")


def background(session: Session, argument: str) -> Result:
    """List the commands in the background, show what one has written, or keep one."""
    match argument.split():
        case []:
            return Say("\n".join(_command_list(session, time.time())))
        case ["keep", id]:
            row = session.hand_over(id)
            what = f"{row.id} ({_short(row.line)}) goes on when the program ends, as process {row.pid}"
            return Say(f"{what}; nobody ends it any more. What it writes goes on to {row.output}")
        case [id] if id != "keep":
            text = session.output_of(id)
            row = next(row for row in session.background if row.id == id)
            shown = visible(text.rstrip("\n")) or "It has written nothing."
            return Say(f"{_command_line(row, time.time())}\n{shown}\nall of it: {row.output}")
        case _:
            raise CommandError("Type /background for the list, /background b1 for its output, /background keep b1.")


def kill(session: Session, argument: str) -> Result:
    """End an agent or a command in the background."""
    if not argument:
        raise CommandError("Which one? Type /kill and an id; /agents and /background list them.")
    if " " in argument:
        raise CommandError("/kill takes one id at a time; /agents and /background list them.")
    return Do(session.stop_work(argument))


def _listed(lines: Sequence[str], gate: Iterable[str], *, none: str, hint: str) -> Iterator[str]:
    if not lines:
        yield none
        return
    yield from lines[:MOST_ROWS]
    if len(lines) > MOST_ROWS:
        yield f"  and {len(lines) - MOST_ROWS:,} more"
    yield from gate
    yield hint


def _line(id: str, state: str, what: str, facts: Iterable[str]) -> str:
    known = ", ".join(facts)
    return f"  {id:<5} {state:<12} {_short(what)}" + (f" ({known})" if known else "")


# ── agents ──────────────────────────────────────────────────────────────────────────────────────


def _agent(session: Session, id: str) -> AgentRow:
    found = next((row for row in session.agents if row.id == id), None)
    if found is None:
        raise HarnessError(f"There is no agent called {id}; /agents lists them.")
    return found


def _agent_list(session: Session, now: float) -> Iterator[str]:
    rows = sorted(session.agents, key=lambda row: row.state.value == "ended")
    yield from _listed(
        [_agent_line(row, now) for row in rows],
        _gate(session.gates, GateName.AGENTS),
        none="No agent has worked in this session yet.",
        hint="/agents and an id shows one, /kill and an id ends one.",
    )


def _agent_line(row: AgentRow, now: float) -> str:
    return _line(row.id, _agent_state(row), row.task, _facts(row, now))


def _agent_state(row: AgentRow) -> str:
    if row.state.value != "ended":
        return "asks you" if row.moved is not None and row.moved.waits_for_person else row.state.value
    if row.ended is None:
        return "ended"
    return "answered" if row.ended.end is AgentEnd.ANSWERED else row.ended.end.value.replace("_", " ")


def _facts(row: AgentRow, now: float) -> Iterator[str]:
    match row:
        case AgentRow(ended=AgentEnded() as ended):
            yield f"{ended.steps} step{'s' * (ended.steps != 1)}"
            yield from _cost(ended.usage.prompt + ended.usage.output, ended.cost_usd, ended.unpriced)
            yield seconds(ended.duration_s)
            return
        case AgentRow(moved=AgentMoved() as moved):
            yield _short(moved.doing)
            yield f"step {moved.step}"
            yield from _cost(moved.tokens, moved.cost_usd, moved.unpriced)
    if row.since:
        yield seconds(max(0.0, now - row.since))


def _cost(tokens: int, cost_usd: float, unpriced: int) -> Iterator[str]:
    yield f"{tokens:,} tokens"
    if cost_usd or unpriced:
        yield priced(cost_usd, unpriced)


def _about(session: Session, row: AgentRow, now: float) -> Iterator[str]:
    yield _agent_line(row, now)
    if row.ended is not None and row.ended.reason:
        yield f"  {visible(row.ended.reason)}"
    if row.background:
        yield "  nobody waits for its answer; it will arrive by itself"
    if row.journal:
        yield f"  all it did: harness replay {shlex.quote(str(session.agents_folder / row.journal))}"


# ── commands in the background ──────────────────────────────────────────────────────────────────


def _command_list(session: Session, now: float) -> Iterator[str]:
    rows = sorted(session.background, key=lambda row: row.end is not None)
    yield from _listed(
        [_command_line(row, now) for row in rows],
        _gate(session.gates, GateName.COMMANDS),
        none="No command has run in the background of this session yet.",
        hint="/background and an id shows what it wrote; /kill ends one; "
        "/background keep lets one outlive the program.",
    )


def _command_line(row: CommandRow, now: float) -> str:
    return _line(row.id, _command_state(row), row.line, _command_facts(row, now))


def _command_state(row: CommandRow) -> str:
    match row.end:
        case None if row.quiet:
            return "waits for input"
        case None:
            return row.state.value.replace("_", " ")
        case CommandEnd.EXITED:
            return f"exit {row.exit_code}"
        case end:
            return end.value.replace("_", " ")


def _command_facts(row: CommandRow, now: float) -> Iterator[str]:
    if row.end is None and row.since:
        yield seconds(max(0.0, now - row.since))
    if row.state.value == "waits":
        yield f"{row.before:,} before it"
    if row.bytes:
        yield f"{row.bytes:,} byte" + ("" if row.bytes == 1 else "s")
    if row.end is None and row.pid is not None:
        yield f"process {row.pid}"
    if row.reason:
        yield visible(row.reason)


# ── the gate ────────────────────────────────────────────────────────────────────────────────────


def _gate(gates: Sequence[GateStatus], name: GateName) -> Iterator[str]:
    for gate in gates:
        if gate.name is name:
            counts = (
                (len(gate.queued), "wait"),
                (len(gate.dirty), "found no place in the queue and are asked for again"),
                (len(gate.resting), "failed too often and rest"),
            )
            told = [f"{number:,} {words}" for number, words in counts if number]
            yield "; ".join((f"{len(gate.running)} of {gate.limits.max_concurrent} places are taken", *told))


def _short(text: str) -> str:
    line = " ".join(visible(text).split())
    return line if len(line) <= WIDEST else line[: WIDEST - 1] + "…"
