"""Rows of two columns below titles, laid out for a width: the slash commands, for example."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

Groups = Sequence[tuple[str, Sequence[tuple[str, str]]]]
"""Titles, and below each its rows: a name and what it means."""

NARROW = 56
"""Columns below which the meaning stands on a line of its own."""
INDENT, GAP = 2, 2


def laid_out(groups: Groups, width: int) -> Iterator[tuple[str, str]]:
    """Lines of at most `width` columns, each in two parts: what is a title or a name, and what is not."""
    names = max((len(name) for _, rows in groups for name, _ in rows), default=0)
    column = 2 * INDENT if width < NARROW else INDENT + names + GAP
    for number, (title, rows) in enumerate(groups):
        if number:
            yield "", ""
        yield title, ""
        for name, meaning in rows:
            first = " " * INDENT + name
            lines = wrap(meaning, max(1, width - column)) or [""]
            if width >= NARROW:
                yield first.ljust(column), lines.pop(0)
            else:
                yield first, ""
            for line in lines:
                yield " " * column, line
