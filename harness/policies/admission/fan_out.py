"""Whether a session may start the subagents that one reply of the model wants, or the user is asked before.

A model that planned five subagents has started 361 (anthropics/claude-code#72566), so they are counted over the
session and not by reply. Up to `free` of them start without a question. After that each reply that wants more than is
agreed is one question, however many it wants:

    yes   agreed = max(all that this makes, 2 × agreed)    few questions: log2(max_agents / free) + 1 at most
    no    nothing of this reply starts; until the next prompt, as many or more are refused without another question

The question shows the number that a yes agrees to.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

Mode = Literal["ask", "allow", "refuse"]


class Ruling(Enum):
    """What becomes of the subagents of one reply."""

    START = "start"
    ASK = "ask"
    REFUSED = "refused"
    """By the setting."""
    REFUSED_BEFORE = "refused_before"
    """The user has said no to as many in this turn."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many subagents are agreed on."""

    agreed: int
    """Subagents that the session may have started, all together, without another question."""
    refused: int | None = None
    """The smallest total that the user has said no to in this turn; None: no total."""

    def ruling(self, mode: Mode, started: int, wanted: int) -> Ruling:
        """What becomes of `wanted` subagents (1 or more) where `started` were started before."""
        total = started + wanted
        if mode == "allow" or total <= self.agreed:
            return Ruling.START
        if mode == "refuse":
            return Ruling.REFUSED
        if self.refused is not None and total >= self.refused:
            return Ruling.REFUSED_BEFORE
        return Ruling.ASK

    def after_yes(self, started: int, wanted: int, most: int) -> "Agreement":
        """After a yes to these; `most` is the cap of the session."""
        total = started + wanted
        return Agreement(max(total, min(2 * self.agreed, most)), self.refused)

    def after_no(self, started: int, wanted: int) -> "Agreement":
        """After a no to these."""
        total = started + wanted
        return Agreement(self.agreed, total if self.refused is None else min(total, self.refused))

    def at_a_prompt(self) -> "Agreement":
        """When the user has typed a new prompt."""
        return Agreement(self.agreed)
