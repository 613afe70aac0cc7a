"""The plan of one session: input of the model is accepted or rejected, and open items are brought up again."""

from dataclasses import dataclass, field
from typing import Any

PENDING, IN_PROGRESS, DONE = "pending", "in_progress", "done"


@dataclass(frozen=True)
class Item:
    """One part of the work."""

    text: str
    """One line."""
    status: str
    """PENDING, IN_PROGRESS or DONE."""


@dataclass
class Plan:
    """The plan that holds, and how long it has been left alone."""

    every: int
    """So many quiet rounds make a reminder; 0: never."""
    items: list[Item] = field(default_factory=list)
    """Empty: there is no plan."""
    quiet: int = 0
    """For you: counts the quiet rounds."""

    def write(self, sent: list[Any]) -> str:
        """Take in the whole plan as the model sent it. Returns "", or a sentence that explains the error."""
        # ── your part begins ─────────────────────────────────────────────
        return ""
        # ── your part ends ───────────────────────────────────────────────

    def begin_turn(self) -> None:
        """The user has typed a new prompt."""
        # ── your part begins ─────────────────────────────────────────────
        return
        # ── your part ends ───────────────────────────────────────────────

    def after_round(self) -> list[str]:
        """A round of tools is over. Returns the texts to remind the model of now; [] where it is not reminded."""
        # ── your part begins ─────────────────────────────────────────────
        return []
        # ── your part ends ───────────────────────────────────────────────
