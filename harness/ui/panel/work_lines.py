"""Subagents, background commands and admission on the panel."""

from collections import Counter
from collections.abc import Iterable, Sequence

from textual.content import Content

from harness.events import AdmissionPool, AgentEnd
from harness.ui.folds.work import (
    AdmissionView,
    CommandActivity,
    CommandView,
    SubagentActivity,
    SubagentView,
    WorkView,
    end_word,
)
from harness.ui.lines.line import seconds
from harness.ui.panel.layout import (
    BAD,
    LABEL,
    NARROWEST,
    QUIET,
    TROUBLE,
    Lines,
    bar,
    count,
    flat,
    flowing,
    headed,
    labelled,
    one_line,
    priced,
    wrapped,
)
from harness.ui.panel.state import Panel

MOST_ROWS = 8
"""Rows of subagents, and of commands; more are counted."""
MOST_SET_ASIDE = 3
"""Tasks of the board that are shown with the reason why they were set aside; the newest ones."""
GAP = 2
ROOMY = 56
"""Columns; a wider panel has step and tokens in the row of a subagent, not below it."""
BETWEEN = " · "
A_MINUTE_S = 60.0
IN_SECONDS_S = 120.0
"""Durations from here on are shown in minutes."""
BAR = 10
"""Columns of the bar of a crowd."""
POOLS = {AdmissionPool.AGENTS: "agents", AdmissionPool.COMMANDS: "commands"}


def needs_a_look(work: WorkView) -> bool:
    """Whether these rows need attention."""
    return (
        any(one.ended is None or one.failed for one in work.unnamed)
        or any(map(_is_urgent, work.commands))
        or any(map(_warns, work.admission))
    )


def _is_urgent(one: CommandView) -> bool:
    return one.state is CommandActivity.SILENT or not one.is_well


def _warns(view: AdmissionView) -> bool:
    return bool(view.dropped or view.rejected or view.paused)


def changes_in(work: WorkView, now: float) -> float | None:
    """Seconds until a duration in these rows changes; None: nothing runs."""
    live: list[SubagentView | CommandView] = [one for one in work.agents if one.ended is None]
    live += [one for one in work.commands if one.ended is None and one.state is not CommandActivity.HANDED_OVER]
    if not live:
        return None
    coarse = all(now - one.since >= IN_SECONDS_S for one in live)
    return A_MINUTE_S - (now - live[0].since) % A_MINUTE_S if coarse and len(live) == 1 else 1.0


# ── agents ──────────────────────────────────────────────────────────────────────────────────────


def agents(work: WorkView, width: int, now: float) -> Sequence[Lines]:
    """A row for each subagent, the most important first; a crowd begins with how far it has come."""
    ranked = sorted(work.unnamed, key=_rank)
    if not ranked:
        return ()
    shown = ranked[:MOST_ROWS]
    asking = [one for one in ranked if one.state is SubagentActivity.ASKING]
    progress = _progress(ranked, width, f"bold {TROUBLE}" if asking else QUIET)
    head = progress if len(ranked) > MOST_ROWS else []
    full = [line for one in shown for line in (_agent(one, width, now), *_doing(one, width))]
    rows = [_agent(one, width, now) for one in shown]
    return ([*head, *full], [*head, *rows], [*progress[:1], *(_agent(one, width, now) for one in asking[:1])], [])


def _progress(rows: Sequence[SubagentView], width: int, style: str) -> Lines:
    """How many have ended, and what the others do: "▓▓░░ 34 of 400 done, 3 failed, 5 running, 358 not started"."""
    ended = sum(one.ended is not None for one in rows)
    done = sum(one.ended is not None and not one.failed for one in rows)
    text = f"{bar(ended / len(rows), BAR)} {done:,} of {len(rows):,} done"
    return headed("agents", ", ".join((text, *_counted(rows))), width, style=style)


RANKS = (SubagentActivity.ASKING, SubagentActivity.RUNNING)


def _rank(one: SubagentView) -> int:
    """Importance, most important first; ties keep the order of creation."""
    if one.state in RANKS:
        return RANKS.index(one.state)
    if one.failed:
        return len(RANKS)
    return len(RANKS) + (1 if one.ended is None else 2)


def _agent(one: SubagentView, width: int, now: float) -> Content:
    mark, style = _mark(one)
    text = Content.styled(f"{mark} {flat(one.task)}", style)
    return labelled(one.agent, apart(text, _numbers(one, now, width), width - LABEL))


def _mark(one: SubagentView) -> tuple[str, str]:
    match one.state:
        case SubagentActivity.QUEUED:
            return "◌", QUIET
        case SubagentActivity.RUNNING:
            return "◍", ""
        case SubagentActivity.ENDING:
            return "◍", QUIET
        case SubagentActivity.ASKING:
            return "?", f"bold {TROUBLE}"
        case SubagentActivity.ENDED if one.failed:
            return "✗", TROUBLE
        case SubagentActivity.ENDED:
            return ("✓" if one.ended is not None and one.ended.end is AgentEnd.ANSWERED else "○"), QUIET


def _numbers(one: SubagentView, now: float, width: int) -> str:
    """Step, tokens, cost and time, as far as there is room."""
    if one.state is SubagentActivity.QUEUED:
        return "queued"
    time = seconds(one.ended.duration_s) if one.ended is not None else lasted(one.since, now)
    parts = (f"step {one.moved.step}" if one.moved is not None and one.ended is None else "", _tokens(one))
    return BETWEEN.join(filter(None, (*(parts if width >= ROOMY else ()), priced(*one.cost) if one.cost else "", time)))


def _tokens(one: SubagentView) -> str:
    return f"{count(one.tokens)} tokens" if one.ended or one.moved else ""


def _doing(one: SubagentView, width: int) -> Lines:
    """The current activity, or why it did not finish."""
    parts: tuple[str, ...] = ()
    style = TROUBLE if one.state is SubagentActivity.ASKING else QUIET
    if one.ended is not None:
        parts = (one.ended.reason,) if one.failed else ()
    elif one.moved is not None:
        parts = (one.moved.doing,) if width >= ROOMY else (f"step {one.moved.step}", one.moved.doing, _tokens(one))
    return wrapped(BETWEEN.join(parts), width, most=1, style=style, indent=LABEL + GAP) if any(parts) else []


STATE_WORDS = {
    SubagentActivity.ASKING: "waiting for you",
    SubagentActivity.RUNNING: "running",
    SubagentActivity.ENDING: "ending",
    SubagentActivity.QUEUED: "not started",
}


def _counted(rows: Sequence[SubagentView]) -> Iterable[str]:
    """ "1 failed", "5 running", "20 not started"."""
    found = Counter("failed" if one.failed else STATE_WORDS.get(one.state) for one in rows)
    return (f"{found[word]:,} {word}" for word in ("failed", *STATE_WORDS.values()) if found[word])


# ── commands ────────────────────────────────────────────────────────────────────────────────────


def board(panel: Panel, width: int) -> Sequence[Lines]:
    """The task board: how far it is, the tasks that this session works on, and those that it has set aside."""
    if (counted := panel.board) is None:
        return ()
    bad = counted.failed + counted.deferred
    numbers = (
        (counted.ready, "ready", ""),
        (counted.waiting, "blocked", ""),
        (counted.in_progress, "in progress", ""),
        (counted.failed, "failed", BAD),
        (counted.deferred, "deferred", TROUBLE),
        (counted.cancelled, "cancelled", QUIET),
    )
    every = counted.completed + sum(number for number, _, _ in numbers)
    facts = [Content(f"{counted.completed:,} of {every:,} done")]
    facts += [Content.styled(f"{number:,} {word}", style) for number, word, style in numbers if number]
    first, *others = flowing(facts, width, gap=BETWEEN)
    head = [labelled("tasks", first[LABEL:]), *others]
    held = [labelled("", Content(f"▸ {flat(id)} {flat(subject)}")) for id, subject in panel.held[:MOST_ROWS]]
    if len(panel.held) > MOST_ROWS:
        held.append(labelled("", Content.styled(f"and {len(panel.held) - MOST_ROWS:,} more", QUIET)))
    for id, subject, why in panel.set_aside[-MOST_SET_ASIDE:] if counted.deferred else ():
        held += wrapped(flat(f"‖ {id} {subject}: {why}"), width, most=2, style=TROUBLE, indent=LABEL)
    return ([*head, *held], head, head[:1] if bad else [])


def commands(work: WorkView, width: int, now: float) -> Sequence[Lines]:
    """A row for each command, with the tail of one that seems to wait for input."""
    if not work.commands:
        return ()
    ranked = sorted(work.commands, key=lambda one: (not _is_urgent(one), one.ended is not None))
    shown, more = ranked[:MOST_ROWS], len(ranked) - MOST_ROWS
    rest = [labelled("", Content.styled(f"and {more:,} more in the background", QUIET))] if more > 0 else []
    full = [line for one in shown for line in (_command(one, width, now), *_tail(one, width))]
    urgent = [_command(one, width, now) for one in ranked if _is_urgent(one)][:MOST_ROWS]
    return ([*full, *rest], [_command(one, width, now) for one in shown[:MOST_ROWS]] + rest, urgent)


def _command(one: CommandView, width: int, now: float) -> Content:
    mark, text, style = _state(one, now)
    return labelled(one.command, apart(Content.styled(f"{mark} {flat(one.line)}", style), text, width - LABEL))


def _state(one: CommandView, now: float) -> tuple[str, str, str]:
    match one.state:
        case CommandActivity.QUEUED:
            return "◌", "queued", QUIET
        case CommandActivity.RUNNING:
            return "◍", f"{'moved · ' if one.moved else ''}{lasted(one.since, now)}", ""
        case CommandActivity.SILENT:
            silent = seconds(one.quiet.quiet_s) if one.quiet is not None else ""
            return "?", f"silent for {silent}", TROUBLE
        case CommandActivity.HANDED_OVER:
            return "→", "continues on its own", QUIET
        case CommandActivity.ENDED:
            return "✓" if one.is_well else "✗", _how_it_ended(one), QUIET if one.is_well else TROUBLE


def _how_it_ended(one: CommandView) -> str:
    """The end of a command and its duration."""
    if one.ended is None:
        return ""
    took = (seconds(one.ended.duration_s),) if one.ended.duration_s else ()
    return BETWEEN.join((end_word(one.ended.end, one.ended.exit_code), *took))


def _tail(one: CommandView, width: int) -> Lines:
    if one.state is CommandActivity.SILENT and one.quiet is not None:
        return wrapped(one.quiet.tail.strip().rpartition("\n")[2], width, most=1, style=TROUBLE, indent=LABEL + GAP)
    if one.ended is not None and one.ended.reason and not one.is_well:
        return wrapped(one.ended.reason, width, most=1, style=QUIET, indent=LABEL + GAP)
    return []


# ── limits ──────────────────────────────────────────────────────────────────────────────────────


def admission(work: WorkView, width: int) -> Sequence[Lines]:
    """One line for each pool with anything to report."""
    lines = [line for view in work.admission for line in _pool(view, width)]
    return (lines, lines[:1] if any(map(_warns, work.admission)) else []) if lines else ()


def _pool(view: AdmissionView, width: int) -> Lines:
    deferred = view.deferred if view.pool is not AdmissionPool.AGENTS else 0  # the row of agents counts them
    counts = (
        (view.queued, f"of {view.max_queue_size:,} queued" if view.max_queue_size else "queued", QUIET),
        (deferred, "deferred", QUIET),
        (view.dropped, "dropped", TROUBLE),
        (view.rejected, "rejected", BAD),
        (view.paused, "paused", TROUBLE),
    )
    parts = [Content.styled(f"{number:,} {word}", style) for number, word, style in counts if number]
    if not parts:
        return []
    head = Content.styled(f"{view.running} of {view.max_concurrent} {POOLS[view.pool]} at once", QUIET)
    first, *others = flowing((head, *parts), width, gap=BETWEEN)
    return [labelled("limit", first[LABEL:]), *others]


# ── the shape of a row ──────────────────────────────────────────────────────────────────────────


def apart(left: Content, right: str, width: int) -> Content:
    """Text, and numbers at the end of the line; the text is cut first."""
    numbers = Content.styled(right, QUIET)
    room = max(NARROWEST, width - numbers.cell_length - GAP)
    left = one_line(left, room)
    return Content.assemble(left, " " * (max(room, left.cell_length) - left.cell_length + GAP), numbers)


def lasted(since: float, now: float) -> str:
    """A running duration: in whole seconds, later in whole minutes."""
    lasted = max(0.0, now - since)
    return f"{int(lasted)} s" if lasted < IN_SECONDS_S else seconds(lasted - lasted % A_MINUTE_S)
