"""The plan of a session in words: as a line of its own, whole, and in the few words that a status has room for."""

from collections.abc import Iterator, Sequence

from harness.base.terminal_text import visible
from harness.events import ItemStatus, PlanChanged, PlanItem
from harness.ui.lines.line import Line


def plan_line(event: PlanChanged) -> Line:
    """All parts of a plan with how far they are."""
    parts = "; ".join(f"{item.status.mark} {item.text}" for item in event.items)
    return Line("·", f"plan: {parts or 'nothing is left of it'}")


def whole_plan(plan: Sequence[PlanItem]) -> Iterator[str]:
    """A line for each part with the tools it needs, and how far the plan is."""
    yield from (f"  {visible(item.line)}" for item in plan)
    yield f"{how_far(plan)} done"


def how_far(plan: Sequence[PlanItem]) -> str:
    """ "2 of 5": the parts that are done, and all of them."""
    return f"{sum(not item.is_open for item in plan)} of {len(plan)}"


def in_progress(plan: Sequence[PlanItem]) -> str:
    """The part that is worked on; empty: none is."""
    return next((item.text for item in plan if item.status is ItemStatus.IN_PROGRESS), "")


def is_open(plan: Sequence[PlanItem]) -> bool:
    """Whether something of it is left to do."""
    return any(item.is_open for item in plan)
