"""The report of a pause: work done and not done, tools, next steps (docs/design/breakers.md#pause-report)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.events import (
    BreakerState,
    CascadePhase,
    Deferred,
    Failure,
    HealthRow,
    ItemStatus,
    LoggedFailure,
    PauseReport,
    PlanItem,
    ToolTally,
)
from harness.policies.breakers.cascades import CascadeGroup
from harness.policies.breakers.failure_signature import NO_GUESS, suspected_root

LONGEST_MESSAGE = 120
"""Characters of a tool's message in a next step; the log has all of it."""


@dataclass(frozen=True, slots=True)
class _WorkDone:
    completed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    not_attempted: tuple[str, ...] = ()
    deferred: tuple[Deferred, ...] = ()
    possible: tuple[str, ...] = ()
    """Items that could be done next."""


def pause_report(
    reason: str,
    items: Sequence[PlanItem] = (),
    deferred: Sequence[Deferred] = (),
    calls: Sequence[ToolTally] = (),
    health: Sequence[HealthRow] = (),
    consumed: int = 0,
    budget: int = 0,
    log: Sequence[LoggedFailure] = (),
    not_logged: int = 0,
    *,
    groups: Sequence[CascadeGroup] = (),
    attended: bool = True,
) -> PauseReport:
    """Everything a user needs to continue.

    An item is identified by its text and listed once: as done, else as deferred, else as failed if it was begun, else
    as not attempted. Without a plan, `calls` take its place.

    Args:
        reason: why the turn pauses, in one line.
        items: the plan of the turn, if there is one.
        deferred: the items that cannot be done now.
        calls: how often each tool was called, and with what success.
        health: a row for each tool.
        consumed: failures charged in this cycle, of `budget`.
        log: the failures of the cycle, oldest first; `not_logged` older ones were dropped.
        groups: tools that failed from one cause.
        attended: a user can type commands; otherwise the next steps name none.
    """
    planned = bool(items or deferred)
    work = _planned(items, deferred) if planned else _called(calls)
    return PauseReport(
        reason,
        work.completed,
        work.failed,
        work.not_attempted,
        work.deferred,
        planned,
        tuple(health),
        consumed,
        budget,
        tuple(log),
        not_logged,
        (
            *_group_steps(groups, attended=attended),
            *_tool_steps(health, log, groups, attended=attended),
            _going_on(work, budget),
        ),
    )


def failures_by_tool(log: Sequence[LoggedFailure]) -> Mapping[str, int]:
    """Failures of each tool, most first. They add up to the length of the log."""
    return dict(Counter(entry.tool for entry in log).most_common())


# ── work ────────────────────────────────────────────────────────────────────────────────────────


def _planned(items: Sequence[PlanItem], deferred: Sequence[Deferred]) -> _WorkDone:
    status = {item.text: item.status for item in items}
    for entry in deferred:
        status.setdefault(entry.item.text, entry.item.status)
    waiting = {entry.item.text: entry for entry in deferred if status[entry.item.text] is not ItemStatus.DONE}

    def texts(wanted: ItemStatus) -> tuple[str, ...]:
        return tuple(text for text, known in status.items() if known is wanted and text not in waiting)

    begun, untouched = texts(ItemStatus.IN_PROGRESS), texts(ItemStatus.PENDING)
    return _WorkDone(texts(ItemStatus.DONE), begun, untouched, tuple(waiting.values()), (*begun, *untouched))


def _called(calls: Sequence[ToolTally]) -> _WorkDone:
    return _WorkDone(
        tuple(_times(call.tool, call.succeeded) for call in calls if call.succeeded),
        tuple(_times(call.tool, call.failed) for call in calls if call.failed),
    )


def _times(tool: str, count: int) -> str:
    return f"{tool}, {count} call{'s' * (count != 1)}"


# ── what a user can do ────────────────────────────────────────────────────────────────────────


def _group_steps(groups: Sequence[CascadeGroup], *, attended: bool) -> Iterator[str]:
    for group in groups:
        tools = " and ".join(", ".join(sorted(group.members)).rsplit(", ", 1))
        root = suspected_root(group.signature)
        if group.phase is CascadePhase.RECOVERING:
            yield f"{tools}: tried one after the other, now that the first of their group works again ({root})"
        else:
            then = ". When it is gone: /confirm" if attended else ""
            yield f"{tools} failed from one cause: {root}{then}"


def _tool_steps(
    health: Sequence[HealthRow], log: Sequence[LoggedFailure], groups: Sequence[CascadeGroup], *, attended: bool
) -> Iterator[str]:
    named = {tool for group in groups for tool in group.members}
    last = {entry.tool: entry.failure for entry in log}
    for row in health:
        if row.tool not in named and (row.failures or row.state is not BreakerState.CLOSED):
            opened = attended and row.state is not BreakerState.CLOSED
            then = f". When it works again: /reset {row.tool}" if opened else ""
            yield f"Check {row.tool}{_facts(last.get(row.tool), row)}{then}"
    named |= {row.tool for row in health}
    yield from (f"Check {tool}{_facts(failure)}" for tool, failure in last.items() if tool not in named)


def _facts(failure: Failure | None, row: HealthRow | None = None) -> str:
    """What is known of a tool's failure, to follow its name."""
    message = failure.message if failure else row.message if row else ""
    root = suspected_root(failure.signature) if failure and failure.signature else ""
    facts = [row.note if row else "", _shortened(message), "" if root == NO_GUESS else root]
    known = "; ".join(fact for fact in facts if fact)
    return f": {known}" if known else ""


def _shortened(message: str) -> str:
    line = " ".join(message.split()).rstrip(".")
    return line if len(line) <= LONGEST_MESSAGE else f"{line[: LONGEST_MESSAGE - 1].rstrip()}…"


def _going_on(work: _WorkDone, budget: int) -> str:
    afresh = f" with a fresh budget of {budget} failure{'s' * (budget != 1)}" if budget else ""
    if work.possible:
        return f"Go on{afresh}, from: {work.possible[0]}"
    if work.deferred:
        first = work.deferred[0]
        return f"Nothing that is left can be done yet. {first.item.text} needs: {first.unblock}"
    return f"Go on{afresh}"
