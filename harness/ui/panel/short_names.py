"""Names of tools in a column that is too narrow for some of them: cut where they differ least."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

MARK = "…"
"""Stands for what is left out."""
JOINER = "\u200d"
"""Makes one character of those beside it; beside the mark there is nothing to join."""


def in_cells(names: Sequence[str], width: int) -> tuple[str, ...]:
    """Each name in exactly so many cells, padded or with a mark for what is left out.

    All are cut at the same place, so that the marks stand below each other: in the middle, or, where that would make
    two names look the same, at the place nearest to it that leaves most of them apart.
    """
    width = max(1, width)
    long = tuple(dict.fromkeys(name for name in names if cell_len(name) > width))
    head = _head(long, width) if long else 0
    return tuple(_cut(name, head, width) if name in long else set_cell_size(name, width) for name in names)


def _head(names: Sequence[str], width: int) -> int:
    """Cells before the mark."""
    middle = width // 2
    for head in sorted(range(width), key=lambda head: abs(head - middle)):
        if _apart(names, head, width) == len(names):
            return head
    return max(range(width), key=lambda head: (_apart(names, head, width), -abs(head - middle)))


def _apart(names: Sequence[str], head: int, width: int) -> int:
    """How many of the names look different when they are cut there."""
    return len({_cut(name, head, width) for name in names})


def _cut(name: str, head: int, width: int) -> str:
    tail = width - head - len(MARK)
    end = next((name[at:] for at in range(len(name)) if cell_len(name[at:]) <= tail), "")
    beginning = set_cell_size(name, head).rstrip(JOINER)
    return set_cell_size(beginning + MARK + end.lstrip(JOINER), width)
