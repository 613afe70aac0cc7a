"""The table of the breakers and the pause report as plain text of at most 100 columns, without colour."""

from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap

from harness.events import BreakerState, CascadePhase, Deferred, HealthRow, PauseReport, Score
from harness.policies.breakers.availability import RegistryView, due
from harness.policies.breakers.failure_budget import budget_used
from harness.policies.breakers.failure_signature import suspected_root
from harness.policies.breakers.pause_report import failures_by_tool


def row(registry: RegistryView, tool: str) -> HealthRow:
    """One row of the table."""
    breaker, seen = registry.breaker(tool), registry.seen(tool)
    return HealthRow(
        tool,
        breaker.state,
        breaker.failures,
        seen.last_failure,
        seen.last_success,
        seen.message,
        probe_at(registry, tool),
        note(registry, tool),
        tool in registry.capabilities.critical,
        seen.calls,
        seen.failed,
    )


def probe_at(registry: RegistryView, tool: str) -> int | None:
    """First step at which a request is a probe; None: not open, or a user has to act."""
    breaker, group = registry.breaker(tool), registry.group_of(tool)
    if breaker.state is not BreakerState.OPEN or breaker.isolated:
        return None
    if group is None:
        return due(registry, tool)
    if registry.unconfirmed(group):
        return None
    return group.due if group.phase is CascadePhase.SYSTEMIC else max(registry.step, group.probed + 1)


def note(registry: RegistryView, tool: str) -> str:
    group, score = registry.group_of(tool), registry.scored(tool)
    if registry.breaker(tool).isolated:
        return "isolated by hand"
    if group is not None and registry.unconfirmed(group):
        return f"waits for /confirm: {suspected_root(group.signature)}"
    if group is not None:
        return f"{group.phase.value}: {suspected_root(group.signature)}"
    return score.value if score in (Score.DEGRADED, Score.UNAVAILABLE) else ""


def why_not(registry: RegistryView, tool: str) -> tuple[str, str]:
    """Why a tool cannot be used, and what would change that."""
    if tool not in registry.tools:
        return f"there is no tool called {tool}", "do it by hand"
    breaker, message, group = registry.breaker(tool), registry.seen(tool).message, registry.group_of(tool)
    reason = f"{tool} is {BREAKER_WORDS[breaker.state]}" + (f": {message}" if message else "")
    if group is not None and registry.unconfirmed(group):
        return reason, "find the cause, then /confirm"
    at = probe_at(registry, tool)
    unblock = f"a successful try from step {at} on" if at is not None else "a successful try"
    return reason, f"{unblock}, or /reset {tool} when it works again"


BREAKER_WORDS = {BreakerState.CLOSED: "working", BreakerState.OPEN: "paused", BreakerState.HALF_OPEN: "being tried"}
"""States of a breaker in plain words; tables for experts have the technical ones."""
WIDTH = 100
LONGEST_NAME = 24
"""Columns of a tool's name; names of MCP tools can be longer."""
TABLE_NAME = 20
"""The same in the table."""
NARROWEST_NOTE = 12
MOST_NOTE_LINES = 3
MOST_FAILURES = 20
"""Failures that are listed; older ones are only counted."""
NOTHING = "-"
HEADER = ("tool", "state", "fails", "error rate", "last fail", "last ok", "next try", "note")


def table_lines(rows: Sequence[HealthRow], step: int, clock: Callable[[float], str]) -> tuple[str, ...]:
    """The table: one line for each tool, more for a long note.

    Args:
        rows: the tools.
        step: the current step of the session; a probe that is due by then is shown as "now".
        clock: formats a moment in Unix time, such as "12:04:31".
    """
    if not rows:
        return ("There are no tools.",)
    cells = [HEADER, *(_cells(row, step, clock) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADER) - 1)]
    lines = [line for cell in cells for line in _laid_out(cell, widths)]
    if any(row.critical for row in rows):
        lines.append("* No other tool can replace it.")
    return tuple(lines)


def report_lines(report: PauseReport, width: int = WIDTH) -> tuple[str, ...]:
    """The pause report in lines of at most `width` characters, as far as its columns allow."""
    return tuple(_report(report, width))


# ── the table ───────────────────────────────────────────────────────────────────────────────────


def _cells(row: HealthRow, step: int, clock: Callable[[float], str]) -> tuple[str, ...]:
    return (
        _cut(row.tool, TABLE_NAME - 1) + "*" * row.critical,
        row.state.upper(),
        str(row.failures),
        error_rate(row) or NOTHING,
        NOTHING if row.last_failure is None else clock(row.last_failure),
        NOTHING if row.last_success is None else clock(row.last_success),
        _next_probe(row, step),
        "; ".join(text for text in (row.note, _trouble(row)) if text),
    )


def error_rate(row: HealthRow) -> str:
    """Failed calls, all calls and the rate: "3/12 (25%)"; empty: no calls yet."""
    if row.error_rate is None:
        return ""
    return f"{row.failed}/{row.calls}" + (f" ({row.error_rate:.0%})" if row.failed else "")


def _next_probe(row: HealthRow, step: int) -> str:
    match row.state:
        case BreakerState.CLOSED:
            return NOTHING
        case BreakerState.HALF_OPEN:
            return "under way"
        case _ if row.probe_at is None:
            return "by hand"
        case _:
            return "now" if row.probe_at <= step else f"step {row.probe_at}"


def _trouble(row: HealthRow) -> str:
    """The message of the last failure, unless the tool has recovered."""
    return _line(row.message) if row.failures or row.state is not BreakerState.CLOSED else ""


def _laid_out(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    *columns, note = cells
    padded = (
        text.rjust(width) if text.isdecimal() else text.ljust(width)
        for text, width in zip(columns, widths, strict=True)
    )
    left = "".join(f"{text}  " for text in padded)
    notes = wrap(note, max(NARROWEST_NOTE, WIDTH - len(left)), max_lines=MOST_NOTE_LINES, placeholder=" …") or [""]
    yield (left + notes[0]).rstrip()
    yield from (" " * len(left) + text for text in notes[1:])


# ── the report ──────────────────────────────────────────────────────────────────────────────────


def _report(report: PauseReport, width: int) -> Iterator[str]:
    yield from _wrapped("PAUSED: ", report.reason, width) if report.reason else ("State of this turn",)
    yield from _work(report, width)
    if report.health:
        yield from ("", "Tools")
        yield from _health(report.health, width)
    yield from _spent(report, width)
    if report.next_steps:
        yield from ("", "What you can do")
        for number, text in enumerate(report.next_steps, 1):
            yield from _wrapped(f"  {number}. ", text, width)


def _work(report: PauseReport, width: int) -> Iterator[str]:
    if not report.planned:
        yield from ("", "No sub-tasks were declared; these are the tool calls.")
    begun = "Begun and not finished" if report.planned else "Failed"
    yield from _listed("Done", "[x]", report.completed, width)
    yield from _listed(begun, "[!]", report.failed, width)
    yield from _listed("Not attempted", "[ ]", report.not_attempted, width)
    if report.deferred:
        yield from ("", "Deferred")
        for entry in report.deferred:
            yield from _waiting(entry, width)


def _listed(title: str, mark: str, texts: Sequence[str], width: int) -> Iterator[str]:
    if texts:
        yield from ("", title)
        for text in texts:
            yield from _wrapped(f"  {mark} ", text, width)


def _waiting(entry: Deferred, width: int) -> Iterator[str]:
    yield from _wrapped("  [-] ", entry.item.text, width)
    yield from _wrapped("      why: ", entry.reason, width)
    yield from _wrapped("      to unblock: ", entry.unblock, width)


def _health(rows: Sequence[HealthRow], width: int) -> Iterator[str]:
    """One line for each tool with failures, and one for all others."""
    troubled = [row for row in rows if row.note or row.failures or row.state is not BreakerState.CLOSED]
    longest = max((len(_cut(row.tool, LONGEST_NAME)) for row in troubled), default=0)
    for row in troubled:
        in_a_row = f"{row.failures} failure{'s' * (row.failures != 1)} in a row" if row.failures else ""
        facts = "; ".join(text for text in (row.note, in_a_row, _trouble(row)) if text)
        yield from _wrapped(f"  {_cut(row.tool, LONGEST_NAME):<{longest}}  {_word(row):<11}  ", facts, width)
    well = [row.tool for row in rows if row not in troubled]
    if well:
        yield from _wrapped("  working: ", ", ".join(well), width)


def _word(row: HealthRow) -> str:
    word = BREAKER_WORDS[row.state]
    return word.upper() if row.state is BreakerState.OPEN else word


def _spent(report: PauseReport, width: int) -> Iterator[str]:
    total = len(report.log) + report.not_logged
    together = "; failures of one cause are charged together" if total > report.consumed else ""
    yield ""
    yield f"Failure budget: {budget_used(report.consumed, report.budget)} used{together}"
    counts = [f"{tool} {count}" for tool, count in failures_by_tool(report.log).items()]
    older = [f"{report.not_logged} older and not listed"] if report.not_logged else []
    if total:
        yield from _wrapped("  failures: ", ", ".join(counts + older), width)
    if len(report.log) > MOST_FAILURES:
        yield f"  the last {MOST_FAILURES} of them:"
    for entry in report.log[-MOST_FAILURES:]:
        yield from _wrapped(f"  step {entry.step}  {_cut(entry.tool, LONGEST_NAME)}  ", entry.failure.message, width)


# ── lines ───────────────────────────────────────────────────────────────────────────────────────


def _wrapped(start: str, text: str, width: int) -> Iterator[str]:
    """The text behind `start`; further lines are indented below it."""
    lines = wrap(_line(text), max(NARROWEST_NOTE, width - len(start)), break_on_hyphens=False) or [""]
    yield (start + lines[0]).rstrip()
    yield from (" " * len(start) + line for line in lines[1:])


def _line(text: str) -> str:
    return " ".join(text.split())


def _cut(name: str, limit: int) -> str:
    return name if len(name) <= limit else f"{name[: limit - 1]}…"
