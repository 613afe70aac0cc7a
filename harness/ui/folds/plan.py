"""The plan that the model declared with todo_write, folded from events."""

from collections.abc import Sequence

from harness.events import Event, ItemStatus, PlanChanged, PlanItem, SessionStarted, TurnStarted

Plan = tuple[PlanItem, ...]


def after(plan: Plan, event: Event) -> Plan:
    """The plan after an event. A plan with no open item ends with the next prompt."""
    match event:
        case SessionStarted():
            return ()
        case TurnStarted(prompt=prompt) if prompt and not is_open(plan):
            return ()
        case PlanChanged(items=items):
            return items
        case _:
            return plan


def is_open(plan: Sequence[PlanItem]) -> bool:
    """Whether any item is left to do."""
    return any(item.is_open for item in plan)


def how_far(plan: Sequence[PlanItem]) -> str:
    """The progress: "2 of 5"."""
    return f"{sum(not item.is_open for item in plan)} of {len(plan)}"


def in_progress(plan: Sequence[PlanItem]) -> str:
    """The text of the item in progress; empty if there is none."""
    return next((item.text for item in plan if item.status is ItemStatus.IN_PROGRESS), "")
