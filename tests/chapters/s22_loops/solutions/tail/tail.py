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
    for length in range(1, LONGEST + 1):
        copies = COPIES if length == 1 else COPIES_CYCLE
        if list(stream[-length * copies :]) == list(stream[-length:]) * copies:
            return length
    return 0
    # ── your part ends ───────────────────────────────────────────────
