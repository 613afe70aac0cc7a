"""A tool call on one line, and what expanding it shows."""

from textual.content import Content

from harness.base.terminal_text import visible
from harness.events import Dispatch, Route, ToolOutcome
from harness.ui.lines.events import seconds
from harness.ui.lines.outcomes import OUTCOMES
from harness.ui.lines.output_excerpt import shown_output
from harness.ui.transcript.entries import Call
from harness.ui.transcript.wrap import DIFF_STYLES, GOOD, MUTED, TAB, WARNING, hanging, one_line

MOST_LINES = 200
"""Lines of detail that expanding shows."""
MOST_DIFF_LINES = 12
"""Lines of a change that are shown without expanding."""
LONGEST_LINE = 2_000
"""Characters of a line of detail."""
TIME = 8
"""Cells of the column with the duration."""
WIDE = 60
"""Cells from which on there is a column for the duration."""
GAP = 2

NO_PROBLEM = frozenset({ToolOutcome.OK})
NOT_RUN = frozenset({ToolOutcome.INVALID, ToolOutcome.DENIED})
NAMED = NOT_RUN | {ToolOutcome.CANCELLED}
"""Outcomes that have to be named, because the mark alone would be taken for another."""


def call_content(call: Call, width: int, *, expanded: bool = False, now: float = 0.0) -> Content:
    """The call; see `entry_content` for the arguments."""
    lines = [_head(call, width, now)]
    if call.label:
        lines.append(one_line(Content.styled(f"  ! {_flat(call.label)}", WARNING), width))
    if expanded and call.route and call.summary:
        lines.append(hanging(Content("  "), Content.styled(_flat(call.summary), MUTED), width))
    if expanded and call.why:
        lines.append(hanging(Content("  "), Content.styled(_flat(call.why), MUTED), width))
    lines += _detail(call, width, expanded=expanded)
    return Content("\n").join(lines)


# ── the line ────────────────────────────────────────────────────────────────────────────────────


def _head(call: Call, width: int, now: float) -> Content:
    if call.outcome is ToolOutcome.SKIPPED:
        return one_line(_skipped(call), width)
    left = Content.assemble(_name(call), f" {_flat(call.summary)}").rstrip()
    for tag in _tags(call):
        left = Content.assemble(left, (f"  {tag}", WARNING if call.asks else MUTED))
    if call.outcome is None:
        time = _elapsed(now - call.at) if call.running and now > call.at else ""
        return _apart(left, Content.styled(time, MUTED), width)
    result = Content.styled(_result(call), MUTED if call.outcome in NO_PROBLEM else WARNING)
    time = "" if call.outcome in NOT_RUN else seconds(call.duration_s)
    return _in_columns(left, time, result, width)


def _name(call: Call) -> Content:
    mark, style = _mark(call)
    return Content.assemble((f"{mark} ", style), (_flat(call.tool), "bold"))


def _mark(call: Call) -> tuple[str, str]:
    match call.outcome:
        case None if call.running:
            return "◍", "$accent"
        case None:
            return "◌", MUTED
        case ToolOutcome.OK:
            return "●", GOOD
        case ToolOutcome.DENIED | ToolOutcome.CANCELLED | ToolOutcome.SKIPPED:
            return "○", WARNING
        case _:
            return "✗", WARNING


def _tags(call: Call) -> list[str]:
    tags = ["probe"] if call.dispatch is Dispatch.PROBE else []
    tags += [f"in place of {_flat(call.in_place_of)}"] if call.in_place_of else []
    if not call.agent or call.outcome is not None:  # the result names the agent
        return tags
    return [*tags, f"{_flat(call.agent)} · {_flat(call.doing)}"]


def _result(call: Call) -> str:
    word = OUTCOMES[call.outcome][1] if call.outcome else ""
    text = _flat(call.result).removeprefix(f"{call.tool} was ")
    if call.outcome in NAMED and word not in text:
        text = f"{word}, {text}".removesuffix(", ")
    return f"{text or word} ({_ordinal(call.failures)})" if call.failures > 1 else text or word


def _skipped(call: Call) -> Content:
    name = Content.assemble(_name(call), f" {_flat(call.summary)}").rstrip()
    if call.dispatch is Dispatch.PAUSE:
        return Content.assemble(name, (" not run: the turn pauses", WARNING))
    if call.route is None:
        return Content.assemble(name, (" skipped", WARNING), (f"  {_flat(call.why or call.result)}", MUTED))
    lost = f"   loses: {_flat(call.route.degradation)}"
    return Content.assemble(_name(call), (" skipped", WARNING), f" → {_way(call.route)}", (lost, MUTED))


def _way(route: Route) -> str:
    return _flat(f"{route.tool}: {route.method}" if route.tool else route.method)


def _in_columns(left: Content, time: str, result: Content, width: int) -> Content:
    """Time and result stand in columns of their own as long as there is room for them and for what stands before."""
    columns = Content.assemble((time.rjust(TIME) + " " * 3, MUTED), result) if width >= WIDE else result
    usual = width - max(columns.cell_length, width // 4 + (TIME + 3 if width >= WIDE else 0))
    start = max(usual, min(left.cell_length + GAP, width - columns.cell_length))
    return _apart(left, columns, width, start)


def _apart(left: Content, right: Content, width: int, start: int | None = None) -> Content:
    """`left`, then `right` from cell `start` on, or at the end of the line."""
    if not right:
        return one_line(left, width)
    least = min(width // 2, left.cell_length + GAP)
    start = max(least, width - right.cell_length if start is None else start)
    left = one_line(left, start - GAP)
    return one_line(Content.assemble(left, " " * (start - left.cell_length), right), width)


def _elapsed(duration_s: float) -> str:
    whole = int(duration_s)
    return f"{whole} s" if whole < 120 else seconds(whole)


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


# ── what stands behind it ───────────────────────────────────────────────────────────────────────


def detail_content(text: str, width: int, most: int = MOST_LINES) -> Content:
    """A command or a change that a person is to judge, line by line and never wrapped into one another."""
    lines = text.rstrip("\n").split("\n")
    diff = text.startswith("--- ")
    shown = [_detail_line(line, width, diff=diff) for line in lines[:most]]
    if len(lines) > most:
        shown.append(Content.styled(f"  … {len(lines) - most:,} more lines", MUTED))
    return Content("\n").join(shown)


def _detail(call: Call, width: int, *, expanded: bool) -> list[Content]:
    diff = call.detail.startswith("--- ")
    if not call.detail or not (expanded or call.by_person or diff):
        return []
    most = MOST_LINES if expanded or call.by_person else MOST_DIFF_LINES
    # The names of a change stand in the line of the call.
    text = "\n".join(call.detail.split("\n")[2:]) if diff else call.detail
    shown = shown_output(text, most, detail_of=call.detail_of, full_output=_flat(call.full_output or ""))
    lines = [_detail_line(line, width, diff=diff) for line in shown.lines]
    lines += [hanging(Content.styled("  … ", MUTED), Content.styled(note, MUTED), width) for note in shown.notes]
    return lines


def _detail_line(line: str, width: int, *, diff: bool) -> Content:
    style = DIFF_STYLES.get(line[:1], MUTED) if diff else MUTED
    text = visible(line[:LONGEST_LINE].rstrip("\r")).expandtabs(TAB)
    return one_line(Content.styled(f"  {text}", style), width)


def _flat(text: str) -> str:
    """Text on one line."""
    return " ".join(visible(text[:LONGEST_LINE]).split())
