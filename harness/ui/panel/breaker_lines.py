"""The breakers on the panel: the table, and cascades."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content

from harness.base.clock import time_of_day
from harness.base.external_text import counted
from harness.events import Alternative, BreakerState, CascadeChanged, CascadePhase, HealthRow
from harness.policies.breakers.health_table import BREAKER_WORDS, error_rate
from harness.ui.panel.layout import BAD, QUIET, TROUBLE, Lines, cell, flat, in_cells, labelled, wrapped
from harness.ui.panel.state import Panel

HEAD = "tool"
NAMES = 10, 24
"""Columns of the longest name, on a narrow and on a wide panel."""
COLUMNS: Mapping[str, int] = {
    "state": 9,
    "fails": 5,
    "error rate": 10,
    "last fail": 9,
    "last ok": 9,
    "next try": 8,
}
"""Further columns and their usual width; the error rate is in the full table only."""
BY_IMPORTANCE = ("state", "next try", "fails", "last fail", "last ok", "error rate")
MOST_ROUTE_LINES = 2
"""Lines of an alternative."""


def troubled(row: HealthRow) -> bool:
    """Whether a row needs attention."""
    return row.state is not BreakerState.CLOSED or row.failures > 0 or bool(row.note)


def table(panel: Panel, width: int, *, expanded: bool = False) -> Sequence[Lines]:
    """The tools that need attention, with the alternative below each open one, and a count of the others.

    Args:
        expanded: list all tools, with the technical words for states in parentheses.
    """
    rows = panel.rows
    bad = [row for row in rows if troubled(row)]
    if not rows:
        return ()
    layout = _Layout(rows if expanded else bad, width, panel.step, expanded=expanded)
    explained = {tool for cascade in panel.cascades for tool in cascade.tools}
    routes = dict(panel.routes)

    def lines(chosen: Sequence[HealthRow]) -> Lines:
        found: Lines = []
        for row in chosen:
            found.append(layout.row(row))
            found += _message(row, width) if row.tool not in explained else []
            found += _route(routes.get(row.tool), width) if row.state is not BreakerState.CLOSED else []
        return found

    others = _others(len(rows) - len(bad), bool(bad))
    full = [[layout.header(), *lines(rows)]] if expanded else []
    if not bad:
        return (*full, others, [])
    bare = [layout.row(row) for row in bad]
    return (*full, [layout.header(), *lines(bad), *others], [*lines(bad), *others], bare, _names(bad))


class _Layout:
    """The columns that fit, and their widths."""

    def __init__(self, rows: Sequence[HealthRow], width: int, step: int, *, expanded: bool) -> None:
        names = [flat(row.tool) for row in rows]
        cells = [_cells(row, step, expanded=expanded) for row in rows]
        sizes = {column: max(size, *(len(texts[column][0]) for texts in cells), 0) for column, size in COLUMNS.items()}
        longest = max(map(cell_len, (HEAD, *names)))
        least, most = (min(longest, columns) for columns in NAMES)
        self._step = step
        self._expanded = expanded
        room, chosen = width, set()
        for column in BY_IMPORTANCE if expanded else BY_IMPORTANCE[:-1]:
            if room - sizes[column] - 1 < least:
                break
            room -= sizes[column] + 1
            chosen.add(column)
        self._columns = {column: size for column, size in sizes.items() if column in chosen}
        room += self._given_up(cells, most - room)
        self._name = max(1, min(most, room))
        self._names = dict(zip(names, in_cells(names, self._name), strict=True))

    def _given_up(self, cells: Sequence[Mapping[str, tuple[str, str]]], wanted: int) -> int:
        """Cells that other columns can give up to names that would be cut."""
        given = 0
        for column, size in self._columns.items():
            needed = max(map(len, (column, *(texts[column][0].strip() for texts in cells))))
            given_up = max(0, min(size - needed, wanted - given))
            self._columns[column] -= given_up
            given += given_up
        return given

    def header(self) -> Content:
        return self._line(cell(HEAD, self._name), {name: (name, QUIET) for name in COLUMNS}, QUIET)

    def row(self, row: HealthRow) -> Content:
        quiet = not troubled(row)
        return self._line(
            self._names[flat(row.tool)], _cells(row, self._step, expanded=self._expanded), QUIET if quiet else ""
        )

    def _line(self, name: str, cells: Mapping[str, tuple[str, str]], style: str) -> Content:
        shown = [(cells[column], size) for column, size in self._columns.items()]
        parts = [(" " + cell(text, size), own) for (text, own), size in shown]
        return Content.assemble((name, style), *parts).rstrip()


def _cells(row: HealthRow, step: int, *, expanded: bool) -> Mapping[str, tuple[str, str]]:
    """Text and style of every column but the name."""
    quiet = not troubled(row)
    closed = row.state is BreakerState.CLOSED
    state = BREAKER_WORDS[row.state]
    state = state.upper() if row.state is BreakerState.OPEN else state
    state = f"{state} ({row.state.value})" if expanded else state
    return {
        "state": (state, QUIET if quiet else TROUBLE if closed else f"bold {BAD}"),
        "fails": (str(row.failures).rjust(COLUMNS["fails"]), QUIET if quiet else ""),
        "error rate": (error_rate(row), QUIET if quiet else ""),
        "last fail": (_time(row.last_failure), QUIET if quiet else ""),
        "last ok": (_time(row.last_success), QUIET),
        "next try": (_next_try(row, step), QUIET if closed else "bold"),
    }


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
    text = f"→ {method}; loses {route.degradation}" if route.degradation else f"→ {method}"
    return wrapped(text, width, most=MOST_ROUTE_LINES, indent=2, hang=2)


def _others(count: int, some: bool) -> Lines:
    if not count:
        return []
    text = counted(count, "other" if some else "tool")
    return [Content.styled(f"{text} working", QUIET)]


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
