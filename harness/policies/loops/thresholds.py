"""From where on a repetition counts as a loop: the numbers that the detectors go by (resilience 3.5, B5)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The numbers of the detectors. What is shorter than all of them is work.

    Lengths are in steps, or in visits for places and states. The matched length of a loop is how long its tail has
    been the same as one copy before: (copies - 1) x period where it is whole.

    Raises ValueError, with one sentence, for a number that is out of range.
    """

    longest_period: int = 64
    """Steps of the longest circle that is found."""
    copies: int = 4
    """Of one interaction in a row."""
    copies_failing: int = 3
    """Of one interaction in a row that fails."""
    copies_cycle: int = 3
    """Of a circle of two steps and more, in every projection."""
    copies_error: int = 4
    """Failures in a row of one tool with one error, whatever the arguments (B9)."""
    walk_length: int = 8
    """Least matched length for places and states: a walk without memory comes back to where it was, too (B6)."""
    action_length: int = 100
    """Least matched length where only the calls are the same, and not what came back (Q4)."""
    stagnation_copies: int = 8
    """Of one interaction among others, while nothing is changed."""
    stagnation_window: int = 24
    """Last steps in which those are counted."""
    poll_copies: int = 4
    """Times in a row that a declared poll may not come too early (B10)."""

    def __post_init__(self) -> None:
        for one in fields(self):
            least, most = RANGES[one.name]
            value: int = getattr(self, one.name)
            if not least <= value <= most:
                raise ValueError(f"{one.name} must be from {least} to {most}, not {value}")
        if self.stagnation_copies > self.stagnation_window:
            raise ValueError(
                f"stagnation_copies must be at most stagnation_window, which is {self.stagnation_window}, "
                f"not {self.stagnation_copies}"
            )


RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "longest_period": (1, 256),
        "copies": (2, 100),
        "copies_failing": (2, 100),
        "copies_cycle": (2, 100),
        "copies_error": (2, 100),
        "walk_length": (1, 10_000),
        "action_length": (1, 10_000),
        "stagnation_copies": (2, 1_000),
        "stagnation_window": (2, 1_000),
        "poll_copies": (1, 100),
    }
)
"""Least and most of each number."""
