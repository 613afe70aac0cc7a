"""The breakers on the panel: the table, and cascades."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from rich.cells import cell_len
from textual.content import Content

from harness.base.clock import time_of_day
from harness.base.external_text import counted
from harness.events import Alternative, BreakerState, CascadeChanged, CascadePhase, HealthRow
from harness.policies.breakers.health_table import BREAKER_WORDS, error_rate
from harness.ui.panel.layout import BAD, GOOD, QUIET, TROUBLE, Lines, cell, flat, in_cells, labelled, wrapped
from harness.ui.panel.state import Panel

HEAD = "tool"
NAMES = 10, 24
"""Columns of the longest name, on a narrow and on a wide panel."""
COLUMNS = ("state", "fails", "last", "next")
FULL_COLUMNS = ("state", "fails", "error rate", "last fail", "last ok", "next try")
"""Further columns, and those of the full table."""
BY_IMPORTANCE = ("state", "next", "fails", "last")
FULL_BY_IMPORTANCE = ("state", "next try", "fails", "last fail", "last ok", "error rate")
FAILS = len("fails")
STATES = {BreakerState.CLOSED: "works", BreakerState.OPEN: "paused", BreakerState.HALF_OPEN: "trying"}
TERMS = {state: state.value.upper() for state in BreakerState}
"""States in the full table."""
MOST_ROUTE_LINES = 2
"""Lines of an alternative."""
NOW_S, MINUTE_S, HOUR_S, DAY_S = 10, 60, 3_600, 86_400
UNITS = ((NOW_S, MINUTE_S), (MINUTE_S, HOUR_S), (HOUR_S, 2 * DAY_S))
"""Units in which the age of a call is shown, each with the age up to which it is used; later days."""
BETWEEN = " · "


def troubled(row: HealthRow) -> bool:
    """Whether a row needs attention."""
    return row.state is not BreakerState.CLOSED or row.failures > 0 or bool(row.note)


def used(row: HealthRow) -> bool:
    """Whether the session has used the tool."""
    return bool(row.calls) or row.last_failure is not None or row.last_success is not None or troubled(row)


def table(panel: Panel, width: int, now: float, *, expanded: bool = False) -> Sequence[Lines]:
    """The tools that the session has used, those that need attention first, with the alternative below each open one;
    the others are counted.

    Args:
        now: Unix time, for how long ago a tool was called last.
        expanded: list all tools, with the technical words for states and the error rate.
    """
    rows = sorted(panel.rows, key=lambda row: not troubled(row))
    bad = [row for row in rows if troubled(row)]
    shown = rows if expanded else [row for row in rows if used(row)]
    if not rows:
        return ()
    layout = _Layout(shown, width, panel.step, now, expanded=expanded)
    explained = {tool for cascade in panel.cascades for tool in cascade.tools}
    routes = dict(panel.routes)

    def lines(chosen: Sequence[HealthRow]) -> Lines:
        found: Lines = []
        for row in chosen:
            found.append(layout.row(row))
            found += _message(row, width) if row.tool not in explained else []
            found += _route(routes.get(row.tool), width) if row.state is not BreakerState.CLOSED else []
        return found

    full = [layout.header(), *lines(shown), *([] if expanded else [summary(panel, listed=shown)])]
    if not bad:
        return (full, [summary(panel)], []) if shown else ([summary(panel)], [])
    others = [summary(panel, listed=bad)]
    bare = [layout.row(row) for row in bad]
    return (full, [layout.header(), *lines(bad), *others], [*lines(bad), *others], bare, _names(bad))


def summary(panel: Panel, *, listed: Sequence[HealthRow] = ()) -> Content:
    """The tools in one line: how many are paused, work and were not used, without those that are listed."""
    rows = [row for row in panel.rows if row not in listed]
    found = Counter("not used" if not used(row) else "failing" if troubled(row) else "work" for row in rows)
    parts = [f"{found[word]:,} {word}" for word in ("failing", "work", "not used") if found[word]]
    if parts and (listed or len(parts) == 1):
        parts[0] = parts[0].replace(" ", " others " if listed else " tools ", 1)
    if any(map(troubled, panel.rows)):
        return Content.styled(BETWEEN.join(parts), QUIET)
    return Content.assemble(("● ", GOOD), (BETWEEN.join(("all work", *parts) if listed else parts), QUIET))


def changes_in(panel: Panel, now: float) -> float | None:
    """Seconds until the time since a last call is shown in other words; None: no tool was called."""
    ages = [max(0.0, now - at) for row in panel.rows if (at := _last(row)) is not None]
    units = [(age, next((unit for unit, until in UNITS if age < until), DAY_S)) for age in ages]
    return min((unit - age % unit for age, unit in units), default=None)


class _Layout:
    """The columns that fit, and their widths."""

    def __init__(self, rows: Sequence[HealthRow], width: int, step: int, now: float, *, expanded: bool) -> None:
        names = [flat(row.tool) for row in rows]
        self._cells = partial(_full_cells if expanded else _short_cells, step=step, now=now)
        cells = [self._cells(row) for row in rows]
        columns = FULL_COLUMNS if expanded else COLUMNS
        sizes = {column: max(len(column), *(len(texts[column][0]) for texts in cells), 0) for column in columns}
        longest = max(map(cell_len, (HEAD, *names)))
        least, most = (min(longest, columns) for columns in NAMES)
        room, chosen = width, set()
        for column in FULL_BY_IMPORTANCE if expanded else BY_IMPORTANCE:
            if room - sizes[column] - 1 < least:
                break
            room -= sizes[column] + 1
            chosen.add(column)
        self._columns = {column: size for column, size in sizes.items() if column in chosen}
        self._name = max(1, min(most, room))
        self._names = dict(zip(names, in_cells(names, self._name), strict=True))

    def header(self) -> Content:
        return self._line(cell(HEAD, self._name), {name: (name, QUIET) for name in self._columns}, QUIET)

    def row(self, row: HealthRow) -> Content:
        return self._line(self._names[flat(row.tool)], self._cells(row), "" if troubled(row) else QUIET)

    def _line(self, name: str, cells: Mapping[str, tuple[str, str]], style: str) -> Content:
        shown = [(cells[column], size) for column, size in self._columns.items()]
        parts = [(" " + cell(text, size), own) for (text, own), size in shown]
        return Content.assemble((name, style), *parts).rstrip()


def _short_cells(row: HealthRow, step: int, now: float) -> Mapping[str, tuple[str, str]]:
    """Text and style of every column but the name."""
    closed, quiet = row.state is BreakerState.CLOSED, "" if troubled(row) else QUIET
    last = _last(row)
    return {
        "state": (STATES[row.state], _state_style(row)),
        "fails": (str(row.failures).rjust(FAILS), quiet),
        "last": ("" if last is None else _ago(now - last), quiet),
        "next": (_next_try(row, step), QUIET if closed else "bold"),
    }


def _full_cells(row: HealthRow, step: int, now: float) -> Mapping[str, tuple[str, str]]:
    quiet = "" if troubled(row) else QUIET
    return {
        "state": (TERMS[row.state], _state_style(row)),
        "fails": (str(row.failures).rjust(FAILS), quiet),
        "error rate": (error_rate(row), quiet),
        "last fail": (_time(row.last_failure), quiet),
        "last ok": (_time(row.last_success), QUIET),
        "next try": (_next_try(row, step), QUIET if row.state is BreakerState.CLOSED else "bold"),
    }


def _state_style(row: HealthRow) -> str:
    if row.state is not BreakerState.CLOSED:
        return f"bold {BAD}"
    return TROUBLE if troubled(row) else QUIET


def _last(row: HealthRow) -> float | None:
    """When the tool succeeded or failed last."""
    return max((at for at in (row.last_failure, row.last_success) if at is not None), default=None)


def _ago(age_s: float) -> str:
    """How long ago: "now", "30 s", "5 min", "3 h", "2 d"."""
    if age_s < NOW_S:
        return "now"
    if age_s < MINUTE_S:
        return f"{int(age_s // NOW_S) * NOW_S} s"
    if age_s < HOUR_S:
        return f"{int(age_s // MINUTE_S)} min"
    return f"{int(age_s // HOUR_S)} h" if age_s < 2 * DAY_S else f"{int(age_s // DAY_S):,} d"


def _time(at: float | None) -> str:
    return "" if at is None else time_of_day(at)


def _next_try(row: HealthRow, step: int) -> str:
    match row.state:
        case BreakerState.CLOSED:
            return ""
        case BreakerState.HALF_OPEN:
            return "running"
        case _ if row.probe_at is None:
            return "by hand"
        case _:
            return "now" if row.probe_at <= step else f"step {row.probe_at}"


def _message(row: HealthRow, width: int) -> Lines:
    """The note on a tool and its last failure."""
    if not troubled(row):
        return []
    failing = row.failures or row.state is not BreakerState.CLOSED
    said = "; ".join(text for text in (row.note, row.message if failing else "") if text)
    return wrapped(said, width, most=1, style=QUIET, indent=2)


def _route(route: Alternative | None, width: int) -> Lines:
    if route is None:
        return []
    method = f"{route.tool}: {route.method}" if route.tool else route.method
    text = f"→ {method} · loses {route.degradation}" if route.degradation else f"→ {method}"
    return wrapped(text, width, most=MOST_ROUTE_LINES, indent=2, hang=2)


def _names(rows: Sequence[HealthRow]) -> Lines:
    bad = [row for row in rows if row.state is not BreakerState.CLOSED]
    if not bad:
        return []
    names = ", ".join(flat(row.tool) for row in bad)
    return [Content.styled(f"{len(bad)} paused: {names}", BAD)]


def models(panel: Panel, width: int) -> Sequence[Lines]:
    """The models that fail, below the state of the model in use."""
    lines = [line for row in panel.endpoints if _shown(row, panel.model.active) for line in _model(row, width)]
    return (lines, []) if lines else ()


def _shown(row: HealthRow, active: str) -> bool:
    """All but the model in use with an open breaker: there is no other, so it is asked again and not paused."""
    return troubled(row) and (row.tool != active or row.state is not BreakerState.OPEN)


def _model(row: HealthRow, width: int) -> Lines:
    failing = f" after {counted(row.failures, 'failure')}" if row.failures else ""
    if row.state is BreakerState.CLOSED:
        return wrapped(f"{row.tool}: {BREAKER_WORDS[row.state]} again{failing}", width, style=QUIET)
    state = BREAKER_WORDS[row.state].upper() if row.state is BreakerState.OPEN else BREAKER_WORDS[row.state]
    since = f" at {_time(row.last_failure)}" if row.last_failure else ""
    return wrapped(f"{row.tool}: {state}{failing}{since}", width, style=TROUBLE)


# ── cascades ────────────────────────────────────────────────────────────────────────────────────


def causes(panel: Panel, width: int) -> Sequence[Lines]:
    """Cascades: tools that fail from one cause."""
    if not panel.cascades:
        return ()
    full = [line for cascade in panel.cascades for line in _cause(cascade, width)]
    return (full, [_cause(cascade, width)[0] for cascade in panel.cascades])


def _cause(cascade: CascadeChanged, width: int) -> Lines:
    tools = ", ".join(flat(tool) for tool in cascade.tools)
    root = flat(cascade.root)
    match cascade.phase:
        case CascadePhase.SUSPECTED:
            head, what, style = f"perhaps one: {root}", f"{tools} fail in the same way", TROUBLE
        case CascadePhase.SYSTEMIC if cascade.probe_at is None:
            head, what, style = root, f"{tools} failed together; /confirm when it is over", f"bold {BAD}"
        case CascadePhase.SYSTEMIC:
            head, style = root, f"bold {BAD}"
            what = f"{tools} failed together; one of them is tried from step {cascade.probe_at} on"
        case _:
            head, what, style = f"over, it seems: {root}", f"still to be tried: {tools}", TROUBLE
    return [labelled("cause", Content.styled(head, style)), *wrapped(what, width, most=3)]
