"""Whether the subagents of one reply may start without asking the user (docs/design/admission.md#fan-out).

They are counted over the session, not by reply. Up to `free` of them start without a question. After that each reply
that wants more than is agreed is one question:

    yes   agreed = max(all that this makes, 2 × agreed)    at most log2(max_subagents / free) + 1 questions
    no    nothing of this reply starts; until the next prompt, as many or more are refused without a question

The question shows the number that a yes agrees to.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

Mode = Literal["ask", "allow", "refuse"]


class FanOutDecision(Enum):
    """The decision about the subagents of one reply."""

    START = "start"
    ASK = "ask"
    REFUSED = "refused"
    """By the setting."""
    REFUSED_BEFORE = "refused_before"
    """The user refused as many in this turn."""


@dataclass(frozen=True, slots=True)
class FanOutConsent:
    """How many subagents the user has agreed to."""

    agreed: int
    """Subagents that the session may start in total without a question."""
    refused: int | None = None
    """The smallest total that the user refused in this turn; None: none."""

    def ruling(self, mode: Mode, started: int, wanted: int) -> FanOutDecision:
        """The decision about `wanted` subagents (1 or more) after `started`."""
        total = started + wanted
        if mode == "allow" or total <= self.agreed:
            return FanOutDecision.START
        if mode == "refuse":
            return FanOutDecision.REFUSED
        if self.refused is not None and total >= self.refused:
            return FanOutDecision.REFUSED_BEFORE
        return FanOutDecision.ASK

    def after_yes(self, started: int, wanted: int, most: int) -> "FanOutConsent":
        total = started + wanted
        return FanOutConsent(max(total, min(2 * self.agreed, most)), self.refused)

    def after_no(self, started: int, wanted: int) -> "FanOutConsent":
        total = started + wanted
        return FanOutConsent(self.agreed, total if self.refused is None else min(total, self.refused))

    def at_a_prompt(self) -> "FanOutConsent":
        """After a new prompt of the user."""
        return FanOutConsent(self.agreed)
