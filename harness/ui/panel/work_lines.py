"""What the panel says of agents, of commands in the background, and of the gates that let them in."""

from collections import Counter
from collections.abc import Sequence

from textual.content import Content

from harness.events import AgentEnd, CommandEnd, GateName
from harness.ui.lines.events import seconds
from harness.ui.panel.layout import (
    BAD,
    LABEL,
    NARROWEST,
    QUIET,
    TROUBLE,
    Lines,
    count,
    flat,
    flowing,
    labelled,
    one_line,
    priced,
    wrapped,
)
from harness.ui.panel.state import Panel
from harness.ui.panel.work_fold import AgentState, AgentView, CommandState, CommandView, GateView

MOST_ROWS = 8
"""Agents, and commands, that have a row; of more the number is told."""
GAP = 2
ROOMY = 56
"""Columns from which step and tokens stand in the row of an agent, and not below it."""
BETWEEN = " · "
A_MINUTE_S = 60.0
IN_SECONDS_S = 120.0
"""So long a duration is told in seconds, then in minutes."""
GATES = {GateName.AGENTS: "agents", GateName.COMMANDS: "commands"}


def needs_a_look(panel: Panel) -> bool:
    """Whether a person would want to see these rows though nothing else calls for a look."""
    return (
        any(one.ended is None or one.failed for one in panel.agents)
        or any(map(_presses, panel.commands))
        or any(map(_warns, panel.gates))
    )


def _presses(one: CommandView) -> bool:
    return one.state is CommandState.QUIET or (one.ended is not None and _told(one) != QUIET)


def _warns(gate: GateView) -> bool:
    return bool(gate.dropped or gate.refused or gate.resting)


def changes_in(panel: Panel, now: float) -> float | None:
    """Seconds until a duration in these rows is another one; None: nothing goes on."""
    live: list[AgentView | CommandView] = [one for one in panel.agents if one.ended is None]
    live += [one for one in panel.commands if one.ended is None and one.state is not CommandState.HANDED_OVER]
    if not live:
        return None
    coarse = all(now - one.since >= IN_SECONDS_S for one in live)
    return A_MINUTE_S - (now - live[0].since) % A_MINUTE_S if coarse and len(live) == 1 else 1.0


# ── agents ──────────────────────────────────────────────────────────────────────────────────────


def agents(panel: Panel, width: int, now: float) -> Sequence[Lines]:
    """A row for each agent, those that need a person first; of many the most important, and how many more."""
    if not panel.agents:
        return ()
    ranked = sorted(panel.agents, key=_rank)
    shown, others = ranked[:MOST_ROWS], ranked[MOST_ROWS:]
    rest = [labelled("", Content.styled(f"and {len(others):,} more: {_counted(others)}", QUIET))] if others else []
    full = [line for one in shown for line in (_agent(one, width, now), *_doing(one, width))]
    rows = [_agent(one, width, now) for one in shown]
    pressing = [one for one in ranked if one.state is AgentState.ASKS]
    brief = labelled("agents", Content.styled(_counted(panel.agents), QUIET if not pressing else f"bold {TROUBLE}"))
    return ([*full, *rest], [*rows, *rest], [brief, *(_agent(one, width, now) for one in pressing[:1])], [])


RANKS = (AgentState.ASKS, AgentState.RUNS)


def _rank(one: AgentView) -> int:
    """The smaller the more important; those of one rank stand in the order in which they were asked for."""
    if one.state in RANKS:
        return RANKS.index(one.state)
    if one.failed:
        return len(RANKS)
    return len(RANKS) + (1 if one.ended is None else 2)


def _agent(one: AgentView, width: int, now: float) -> Content:
    mark, style = _mark(one)
    text = Content.styled(f"{mark} {flat(one.task)}", style)
    return labelled(one.agent, _apart(text, _numbers(one, now, width), width - LABEL))


def _mark(one: AgentView) -> tuple[str, str]:
    match one.state:
        case AgentState.WAITS:
            return "◌", QUIET
        case AgentState.RUNS:
            return "◍", ""
        case AgentState.ENDS:
            return "◍", QUIET
        case AgentState.ASKS:
            return "?", f"bold {TROUBLE}"
        case AgentState.ENDED if one.failed:
            return "✗", TROUBLE
        case AgentState.ENDED:
            return ("✓" if one.ended is not None and one.ended.end is AgentEnd.ANSWERED else "○"), QUIET


def _numbers(one: AgentView, now: float, width: int) -> str:
    """Step, tokens, money and time, as far as there are any and there is room for them."""
    if one.state is AgentState.WAITS:
        return "waits"
    time = seconds(one.ended.duration_s) if one.ended is not None else _lasted(one.since, now)
    taken = one.ended or one.moved
    cost = priced(taken.cost_usd, taken.unpriced) if taken is not None and (taken.cost_usd or taken.unpriced) else ""
    parts = (f"step {one.moved.step}" if one.moved is not None and one.ended is None else "", _tokens(one))
    return BETWEEN.join(filter(None, (*(parts if width >= ROOMY else ()), cost, time)))


def _tokens(one: AgentView) -> str:
    if one.ended is not None:
        return f"{count(one.ended.usage.prompt + one.ended.usage.output)} tokens"
    return f"{count(one.moved.tokens)} tokens" if one.moved is not None else ""


def _doing(one: AgentView, width: int) -> Lines:
    """What it is at, or why it did not finish."""
    parts: tuple[str, ...] = ()
    style = TROUBLE if one.state is AgentState.ASKS else QUIET
    if one.ended is not None:
        parts = (one.ended.reason,) if one.failed else ()
    elif one.moved is not None:
        parts = (one.moved.doing,) if width >= ROOMY else (f"step {one.moved.step}", one.moved.doing, _tokens(one))
    return wrapped(BETWEEN.join(parts), width, most=1, style=style, indent=LABEL + GAP) if any(parts) else []


WORDS = {
    AgentState.ASKS: "waiting for you",
    AgentState.RUNS: "running",
    AgentState.ENDS: "ending",
    AgentState.WAITS: "waiting",
}


def _counted(rows: Sequence[AgentView]) -> str:
    """ "5 running, 20 waiting, 3 done, 1 failed"."""
    found = Counter(WORDS.get(one.state) or ("failed" if one.failed else "done") for one in rows)
    return ", ".join(f"{found[word]:,} {word}" for word in (*WORDS.values(), "done", "failed") if found[word])


# ── commands ────────────────────────────────────────────────────────────────────────────────────


def commands(panel: Panel, width: int, now: float) -> Sequence[Lines]:
    """A row for each command in the background; the tail of one that seems to wait for an answer."""
    if not panel.commands:
        return ()
    ranked = sorted(panel.commands, key=lambda one: (not _presses(one), one.ended is not None))
    shown, more = ranked[:MOST_ROWS], len(ranked) - MOST_ROWS
    rest = [labelled("", Content.styled(f"and {more:,} more in the background", QUIET))] if more > 0 else []
    full = [line for one in shown for line in (_command(one, width, now), *_tail(one, width))]
    pressing = [_command(one, width, now) for one in ranked if _presses(one)][:MOST_ROWS]
    return ([*full, *rest], [_command(one, width, now) for one in shown[:MOST_ROWS]] + rest, pressing)


def _command(one: CommandView, width: int, now: float) -> Content:
    mark, said, style = _state(one, now)
    return labelled(one.command, _apart(Content.styled(f"{mark} {flat(one.line)}", style), said, width - LABEL))


def _state(one: CommandView, now: float) -> tuple[str, str, str]:
    match one.state:
        case CommandState.WAITS:
            return "◌", "waits", QUIET
        case CommandState.RUNS:
            return "◍", _lasted(one.since, now), ""
        case CommandState.QUIET:
            silent = seconds(one.quiet.quiet_s) if one.quiet is not None else ""
            return "?", f"silent for {silent}", TROUBLE
        case CommandState.HANDED_OVER:
            return "→", "goes on by itself", QUIET
        case CommandState.ENDED:
            return ("✓" if _told(one) == QUIET else "✗"), how_it_ended(one), _told(one)


def _told(one: CommandView) -> str:
    """How much attention the end of a command deserves."""
    ended = one.ended
    if ended is None or ended.end in (CommandEnd.STOPPED, CommandEnd.SHUT_DOWN):
        return QUIET
    return QUIET if ended.end is CommandEnd.EXITED and not ended.exit_code else TROUBLE


ENDS = {
    CommandEnd.TIMED_OUT: "timed out",
    CommandEnd.STOPPED: "stopped",
    CommandEnd.TOO_LONG: "wrote too much",
    CommandEnd.NOT_STARTED: "not started",
    CommandEnd.SHUT_DOWN: "stopped",
    CommandEnd.LOST: "lost sight of",
}


def how_it_ended(one: CommandView) -> str:
    """The end of a command in two words and its duration; empty: it has not ended."""
    if one.ended is None:
        return ""
    word = ENDS.get(one.ended.end) or f"exit {one.ended.exit_code}"
    return f"{word}{BETWEEN}{seconds(one.ended.duration_s)}" if one.ended.duration_s else word


def _tail(one: CommandView, width: int) -> Lines:
    if one.state is CommandState.QUIET and one.quiet is not None:
        return wrapped(one.quiet.tail.strip().rpartition("\n")[2], width, most=1, style=TROUBLE, indent=LABEL + GAP)
    if one.ended is not None and one.ended.reason and _told(one) != QUIET:
        return wrapped(one.ended.reason, width, most=1, style=QUIET, indent=LABEL + GAP)
    return []


# ── gates ───────────────────────────────────────────────────────────────────────────────────────


def gates(panel: Panel, width: int) -> Sequence[Lines]:
    """One line for each gate that has something to say."""
    lines = [line for gate in panel.gates for line in _gate(gate, width)]
    return (lines, lines[:1] if any(map(_warns, panel.gates)) else []) if lines else ()


def _gate(gate: GateView, width: int) -> Lines:
    counts = (
        (gate.waiting, "wait", QUIET),
        (gate.put_off, "put off", QUIET),
        (gate.dropped, "dropped", TROUBLE),
        (gate.refused, "refused", BAD),
        (gate.resting, "paused", TROUBLE),
    )
    said = [Content.styled(f"{number:,} {word}", style) for number, word, style in counts if number]
    if not said:
        return []
    head = Content.styled(f"{GATES[gate.gate]} {gate.running} of {gate.max_concurrent}", QUIET)
    first, *others = flowing((head, *said), width, gap=BETWEEN)
    return [labelled("gate", first[LABEL:]), *others]


# ── the shape of a row ──────────────────────────────────────────────────────────────────────────


def _apart(left: Content, right: str, width: int) -> Content:
    """Text, and numbers at the end of the line; where both do not fit the text is cut first."""
    numbers = Content.styled(right, QUIET)
    room = max(NARROWEST, width - numbers.cell_length - GAP)
    left = one_line(left, room)
    return Content.assemble(left, " " * (max(room, left.cell_length) - left.cell_length + GAP), numbers)


def _lasted(since: float, now: float) -> str:
    """How long something has been going on: in whole seconds, later in whole minutes."""
    lasted = max(0.0, now - since)
    return f"{int(lasted)} s" if lasted < IN_SECONDS_S else seconds(lasted - lasted % A_MINUTE_S)
