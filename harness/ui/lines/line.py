"""One line for a person, and how much attention it deserves."""

from dataclasses import dataclass
from enum import Enum


class Tone(Enum):
    """How much attention a line deserves."""

    QUIET = "quiet"
    TROUBLE = "trouble"
    """Something failed and is being dealt with."""
    BAD = "bad"
    """Something failed for good."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line for a person. The mark is repeated in words, so that nothing is lost without it."""

    mark: str
    """One character, or a number in brackets; empty for a line that has none."""
    text: str
    tone: Tone = Tone.QUIET

    def __str__(self) -> str:
        return f"{self.mark} {self.text}" if self.mark else self.text
