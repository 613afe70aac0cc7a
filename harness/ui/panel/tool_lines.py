"""What the panel says of the tools: breaker table, common causes, failure budget, pause, deferred work."""

from collections.abc import Sequence

from textual.content import Content

from harness.clock import time_of_day
from harness.events import BreakerState, CascadeChanged, CascadePhase, FailureCharged, HealthRow, ItemStatus, Route
from harness.ui.panel.layout import LABEL, Lines, bar, cell, flat, labelled, plural, wrapped
from harness.ui.panel.state import Panel

STATES = {
    BreakerState.CLOSED: "$text-muted",
    BreakerState.OPEN: "$text-error bold",
    BreakerState.HALF_OPEN: "$text-warning bold",
}
WIDEST_NAME = 18
STATE, FAILS, TIME, PROBE = 9, 5, 8, 7
"""Columns of the table besides the name."""
WIDE = 56
"""Columns from which the table has the time of the last success."""
MOST_FAILURES = 4
MOST_CELLS = 12
"""Cells of the budget bar; a larger budget is drawn to scale."""


def troubled(row: HealthRow) -> bool:
    """Whether a line of the table deserves a look."""
    return row.state is not BreakerState.CLOSED or row.failures > 0 or bool(row.note)


def table(panel: Panel, width: int) -> Sequence[Lines]:
    """The table of seed 000, step 2, with the way round below each open tool."""
    rows = [*panel.rows, *(row for row in panel.endpoints if troubled(row))]
    if not rows:
        return ()
    name = min(WIDEST_NAME, max(len(flat(row.tool)) for row in rows), max(8, width - STATE - FAILS - TIME - PROBE - 4))
    bad = [row for row in rows if troubled(row)]
    routes = dict(panel.routes)
    header = _header(name, width)
    full = [header, *(line for row in rows for line in _lines(row, panel, name, width, routes.get(row.tool)))]
    some = [line for row in bad for line in _lines(row, panel, name, width, routes.get(row.tool))]
    bare = [_row(row, panel, name, width) for row in bad]
    others = [_others(len(rows) - len(bad), bool(bad))] if len(rows) > len(bad) else []
    not_closed = [row for row in bad if row.state is not BreakerState.CLOSED]
    last = [_names(not_closed)] if not_closed else []
    return (full, [header, *some, *others] if bad else others, some + others if bad else [], bare, last)


def _header(name: int, width: int) -> Content:
    ok = f" {cell('last ok', TIME)}" if width >= WIDE else ""
    line = f"{cell('tool', name)} {cell('state', STATE)} {cell('fails', FAILS)} {cell('last', TIME)}{ok} {'probe'}"
    return Content.styled(line, "$text-muted")


def _lines(row: HealthRow, panel: Panel, name: int, width: int, route: Route | None) -> Lines:
    lines = [_row(row, panel, name, width)]
    if row.state is BreakerState.CLOSED:
        return lines
    if row.message:
        lines.append(Content.styled(f"  {flat(row.message)}", "$text-muted"))
    if row.note:
        lines.append(Content.styled(f"  {flat(row.note)}", "$text-warning"))
    if route is not None:
        way = f"{flat(route.tool)}: {flat(route.method)}" if route.tool else flat(route.method)
        lines.append(Content.assemble(("  → ", "$text-warning"), way))
        if width >= WIDE:
            lines.append(Content.styled(f"    loses: {flat(route.degradation)}", "$text-muted"))
    return lines


def _row(row: HealthRow, panel: Panel, name: int, width: int) -> Content:
    style = STATES[row.state] if row.state is not BreakerState.CLOSED or not row.failures else "$text-warning"
    last = _time(row.last_failure)
    ok = f" {cell(_time(row.last_success), TIME)}" if width >= WIDE else ""
    fails = str(row.failures) if row.failures else ""
    quiet = "" if troubled(row) else "$text-muted"
    return Content.assemble(
        (cell(flat(row.tool), name), quiet),
        " ",
        (cell(row.state.value.upper() if row.state is not BreakerState.CLOSED else row.state.value, STATE), style),
        " ",
        (cell(fails, FAILS), quiet),
        " ",
        (cell(last, TIME), quiet or "$text-muted"),
        (ok, "$text-muted"),
        " ",
        (_probe(row, panel.step), "bold" if row.state is not BreakerState.CLOSED else "$text-muted"),
    )


def _time(at: float | None) -> str:
    return "" if at is None else time_of_day(at)


def _probe(row: HealthRow, step: int) -> str:
    match row.state:
        case BreakerState.CLOSED:
            return ""
        case BreakerState.HALF_OPEN:
            return "is out"
        case _ if row.probe_at is None:
            return "by hand"
        case _:
            return "next" if row.probe_at <= step else f"step {row.probe_at}"


def _others(count: int, some: bool) -> Content:
    what = "other" if some else "tool"
    return Content.styled(f"{plural(count, what)} closed", "$text-muted")


def _names(rows: Sequence[HealthRow]) -> Content:
    return Content.styled(f"{len(rows)} open: {', '.join(flat(row.tool) for row in rows)}", "$text-error")


def causes(panel: Panel, width: int) -> Sequence[Lines]:
    """Tools that fail from one cause."""
    if not panel.cascades:
        return ()
    full = [line for group in panel.cascades for line in _cause(group, width)]
    return (full, [_cause(group, width)[0] for group in panel.cascades])


def _cause(group: CascadeChanged, width: int) -> Lines:
    tools = ", ".join(flat(tool) for tool in group.tools)
    words = {
        CascadePhase.SUSPECTED: f"perhaps one cause: {flat(group.root)}",
        CascadePhase.SYSTEMIC: f"one cause: {flat(group.root)}",
        CascadePhase.RECOVERING: "over, it seems; still to be tried:",
    }
    style = "$text-error" if group.phase is CascadePhase.SYSTEMIC else "$text-warning"
    head = labelled("cause", Content.styled(words.get(group.phase, group.phase.value), style))
    when = ""
    if group.phase is CascadePhase.SYSTEMIC:
        when = "; /confirm when it is over" if group.probe_at is None else f"; one tries from step {group.probe_at} on"
    return [head, *wrapped(tools + when, width)]


def budget(panel: Panel, width: int) -> Sequence[Lines]:
    """The failure budget of the turn, and what was charged to it."""
    if not panel.budget:
        return ()
    cells = min(panel.budget, MOST_CELLS)
    text = f"{bar(panel.consumed / panel.budget, cells)} {panel.consumed} of {panel.budget}"
    near = panel.consumed >= panel.budget - 1 and panel.consumed
    style = "$text-error" if near else "$text-warning" if panel.consumed else "$text-muted"
    words = " · the turn pauses" if panel.consumed >= panel.budget else " · one more pauses the turn" if near else ""
    head = labelled("budget", Content.styled(text + words, style))
    listed = [_charged(failure) for failure in panel.failures[-MOST_FAILURES:]]
    last = [] if not panel.consumed else [head]
    return ([head, *listed], [head, *listed[-1:]], [head], last)


def _charged(failure: FailureCharged) -> Content:
    free = "" if failure.cost else " (same cause)"
    text = f"step {failure.step} {flat(failure.tool)}: {flat(failure.failure.message)}{free}"
    return labelled("", Content.styled(text, "$text-muted"))


def paused(panel: Panel, width: int) -> Sequence[Lines]:
    """Why the turn paused, and what a person can do."""
    report = panel.paused
    if report is None:
        return ()
    why = report.reason or "a person asked"
    head = labelled("paused", Content.styled(wrapped(why, width, most=1)[0].plain[LABEL:], "$text-error bold"))
    done = f"{len(report.completed)} done, {len(report.failed)} failed, {len(report.not_attempted)} not begun"
    steps = [line for text in report.next_steps[:3] for line in wrapped(f"· {text}", width)]
    return ([head, labelled("", done), *steps], [head, labelled("", done)], [head])


def deferred(panel: Panel, width: int) -> Sequence[Lines]:
    """Sub-tasks that cannot be done now, or how far the plan is."""
    if panel.deferred:
        first = labelled(
            "later", Content.styled(plural(len(panel.deferred), "sub-task") + " deferred", "$text-warning")
        )
        full = [first]
        for entry in panel.deferred[:3]:
            full += wrapped(f"· {entry.item.text}: {entry.unblock}", width)
        return (full, [first], [])
    if not panel.plan:
        return ()
    done = sum(item.status is ItemStatus.DONE for item in panel.plan)
    now = next((item.text for item in panel.plan if item.status is ItemStatus.IN_PROGRESS), "")
    head = labelled("plan", Content.styled(f"{done} of {len(panel.plan)} done", "$text-muted"))
    return ([head, *wrapped(now, width, most=1)], [head], []) if now else ([head], [])
