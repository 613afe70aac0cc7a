"""Does the end of a stream repeat? One function is missing; TASK.md says what it has to do."""

from collections.abc import Sequence

COPIES = 4
"""Of one symbol in a row."""
COPIES_CYCLE = 3
"""Of a word of two symbols and more in a row."""
LONGEST = 8
"""Symbols of the longest word that is looked for."""


def found(stream: Sequence[str]) -> int:
    """The length of the shortest word that repeats at the end; 0: none does."""
    # ── your part begins ─────────────────────────────────────────────
    return int(len(stream) > 1 and stream[-1] == stream[-2])
    # ── your part ends ───────────────────────────────────────────────
