"""The plan of one session: what the model sends is taken in or refused, and it is reminded of what is open."""

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
        items: list[Item] = []
        for number, one in enumerate(sent, 1):
            match one:
                case {"text": str(text), "status": str(status)} if text.strip():
                    items.append(Item(" ".join(text.split()), status))
                case _:
                    return f"entry {number} needs a text and a status"
        texts = [item.text for item in items]
        for item in items:
            if item.status not in (PENDING, IN_PROGRESS, DONE):
                return f"{item.text}: there is no status {item.status}"
            if texts.count(item.text) > 1:
                return f"{item.text}: is there more than once"
        begun = [item.text for item in items if item.status == IN_PROGRESS]
        if len(begun) > 1:
            return f"one at a time, not {', '.join(begun)}"
        self.items, self.quiet = items, -1  # the round in which it is written is not over yet
        return ""
        # ── your part ends ───────────────────────────────────────────────

    def begin_turn(self) -> None:
        """The person has said something new."""
        # ── your part begins ─────────────────────────────────────────────
        self.quiet = 0
        # ── your part ends ───────────────────────────────────────────────

    def after_step(self) -> list[str]:
        """A step is over. Returns the texts to remind the model of; [] without a reminder."""
        # ── your part begins ─────────────────────────────────────────────
        self.quiet += 1
        left = [item.text for item in self.items if item.status != DONE]
        if not left or not 0 < self.every <= self.quiet:
            return []
        self.quiet = 0
        return left
        # ── your part ends ───────────────────────────────────────────────
