"""The plan of a turn in one line, where no panel shows it."""

from harness.events import PlanChanged
from harness.ui.line import Line


def plan_line(event: PlanChanged) -> Line:
    """All parts of a plan with how far they are."""
    parts = "; ".join(f"{item.status.mark} {item.text}" for item in event.items)
    return Line("·", f"plan: {parts or 'nothing is left of it'}")
