"""/plan: what the model has declared that it will do, and how far it is."""

from harness.session import Session
from harness.ui.commands.results import Result, Say
from harness.ui.lines.plan import whole_plan

NONE = "There is no plan. The model writes one with todo_write when work has several parts."


def plan(session: Session, argument: str) -> Result:
    """The whole plan, one part a line."""
    return Say("\n".join(whole_plan(session.plan)) if session.plan else NONE)
