"""The plan of one session: lists of the model are accepted or refused, and the model is reminded of open items."""

from dataclasses import dataclass, field
from typing import Any

PENDING, IN_PROGRESS, DONE = "pending", "in_progress", "done"


@dataclass(frozen=True)
class Item:
    """One item of a plan."""

    text: str
    """One line."""
    status: str
    """PENDING, IN_PROGRESS or DONE."""


@dataclass
class Plan:
    """The current plan, and the number of steps since it was written."""

    every: int
    """Quiet steps before a reminder; 0: never."""
    items: list[Item] = field(default_factory=list)
    """Empty: there is no plan."""
    quiet: int = 0
    """For your use: the number of quiet steps."""

    def write(self, sent: list[Any]) -> str:
        """Accept or refuse the whole plan that the model sent. Returns "", or a sentence that explains the error."""
        # ── your part begins ─────────────────────────────────────────────
        return ""
        # ── your part ends ───────────────────────────────────────────────

    def begin_turn(self) -> None:
        """The user has typed a new prompt."""
        # ── your part begins ─────────────────────────────────────────────
        return
        # ── your part ends ───────────────────────────────────────────────

    def after_step(self) -> list[str]:
        """A step is over. Returns the texts to remind the model of; [] without a reminder."""
        # ── your part begins ─────────────────────────────────────────────
        return []
        # ── your part ends ───────────────────────────────────────────────
