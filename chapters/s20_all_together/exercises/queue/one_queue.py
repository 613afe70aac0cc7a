"""One queue for everything that happens to an agent. The functions have mistakes; TASK.md has the rules."""

from dataclasses import dataclass

ORDER = "user", "answer", "result", "end", "mail", "note", "clock"
"""Kinds of what happens."""


@dataclass(frozen=True)
class Happened:
    """Something that happened."""

    number: int
    """Counts up within a session, also over restarts."""
    kind: str
    """One of ORDER."""
    text: str = ""


class OneQueue:
    """The queue of a session. `journal` outlives the program: ("happened", Happened) and ("read", [numbers])."""

    def __init__(self, journal: list[tuple[str, object]]) -> None:
        self.journal = journal
        # ── your part begins ─────────────────────────────────────────────
        self.waiting: list[Happened] = []
        self.last = 0
        # ── your part ends ───────────────────────────────────────────────

    def put(self, kind: str, text: str = "") -> Happened:
        """Add something that happened."""
        # ── your part begins ─────────────────────────────────────────────
        self.last += 1
        one = Happened(self.last, kind, text)
        self.waiting.append(one)
        return one
        # ── your part ends ───────────────────────────────────────────────

    def take(self, *, in_turn: bool) -> list[Happened]:
        """What the model reads now; `in_turn`: a turn runs, between two of its steps."""
        # ── your part begins ─────────────────────────────────────────────
        taken, self.waiting = self.waiting, []
        return taken
        # ── your part ends ───────────────────────────────────────────────

    def wakes(self) -> bool:
        """Whether something waits that is a reason for a turn."""
        # ── your part begins ─────────────────────────────────────────────
        return bool(self.waiting)
        # ── your part ends ───────────────────────────────────────────────
