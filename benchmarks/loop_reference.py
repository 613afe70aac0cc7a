"""Our reading of the loop detector of the lecture on loops, to compare costs with. Nothing uses it.

For each place of the history, from the end backwards, and for each length, it digests the sequence that begins there
and counts how often the same digest follows at once. With nothing that repeats that is the cube of the history.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

SHORTEST, REPETITIONS = 3, 2
"""As in the lecture: events of the shortest sequence, and how often it must come."""


@dataclass
class Seed:
    """The detector of action sequences over one history of events, each written as its kind and name."""

    events: Sequence[str]
    looked_at: int = 0
    """Events that went into digests."""

    def found(self) -> Sequence[str] | None:
        """The first sequence found that repeats."""
        length = len(self.events)
        if length < SHORTEST * REPETITIONS:
            return None
        for begin in range(length - SHORTEST, 0, -1):
            for size in range(SHORTEST, (length - begin) // 2 + 1):
                if self._repetitions(begin, size) >= REPETITIONS:
                    return self.events[begin : begin + size]
        return None

    def _repetitions(self, begin: int, size: int) -> int:
        candidate = self._digest(begin, size)
        repetitions, at = 1, begin + size
        while at + size <= len(self.events) and self._digest(at, size) == candidate:
            repetitions += 1
            at += size
        return repetitions

    def _digest(self, begin: int, size: int) -> str:
        self.looked_at += size
        return hashlib.sha256("->".join(self.events[begin : begin + size]).encode()).hexdigest()
