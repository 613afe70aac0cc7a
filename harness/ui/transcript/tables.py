"""Tables in columns, by the cells that their characters take."""

from collections.abc import Sequence
from itertools import zip_longest

from textual.content import Content

GAP = 2
"""Cells between two columns."""
NARROWEST = 4
"""Cells below which a column is not worth having."""
RULE = "dim"
ROW_SEPARATOR = " | "


def table_lines(rows: Sequence[Sequence[Content]], alignments: Sequence[str], width: int) -> list[Content]:
    """A table of which the first row is the heading.

    Args:
        alignments: "left", "right" or "center" for each column.
        width: cells there are; cells of the table are wrapped so that it fits. Where columns would become too
            narrow to be read, each row is a line.
    """
    widths = column_widths([max(cell.cell_length for cell in column) for column in zip(*rows, strict=True)], width)
    if widths is None:
        return [line for row in rows for line in Content(ROW_SEPARATOR).join(row).wrap(width)]
    heading, *body = rows
    lines = _row([cell.stylize("bold") for cell in heading], alignments, widths)
    lines.append(Content.styled("─" * (sum(widths) + GAP * (len(widths) - 1)), RULE))
    for row in body:
        lines += _row(row, alignments, widths)
    return lines


def column_widths(natural: Sequence[int], width: int) -> list[int] | None:
    """How wide each column may be: the widest give way first. None: there is no room for that many columns."""
    room = width - GAP * (len(natural) - 1)
    wanted = [max(1, cells) for cells in natural]
    if sum(wanted) <= room:
        return wanted
    widths: dict[int, int] = {}
    for place, column in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        share = room // (len(wanted) - place)
        widths[column] = min(wanted[column], share)
        room -= widths[column]
    fits = all(widths[column] >= min(wanted[column], NARROWEST) for column in widths)
    return [widths[column] for column in range(len(wanted))] if fits else None


def _row(cells: Sequence[Content], alignments: Sequence[str], widths: Sequence[int]) -> list[Content]:
    columns = [cell.wrap(width) for cell, width in zip(cells, widths, strict=True)]
    lines = []
    for parts in zip_longest(*columns, fillvalue=Content("")):
        placed = map(_placed, parts, alignments, widths)
        lines.append(Content(" " * GAP).join(placed).rstrip())
    return lines


def _placed(text: Content, alignment: str, width: int) -> Content:
    text = text.rstrip()
    missing = max(0, width - text.cell_length)
    before = {"right": missing, "center": missing // 2}.get(alignment, 0)
    return Content.assemble(" " * before, text, " " * (missing - before))
