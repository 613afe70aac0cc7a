"""Lines of the panel: a label, a text, and never more than there is room for."""

from textwrap import wrap

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from harness.visible import visible

LABEL = 8
"""Columns of the label of a line."""
Lines = list[Content]


def flat(text: str) -> str:
    """Text of others as one line without control characters."""
    return visible(" ".join(text.split()))


def labelled(label: str, content: Content | str) -> Content:
    """A line with a label in the first columns; an empty one leaves them blank."""
    return Content.assemble((f"{label:<{LABEL}}", "$text-muted"), content)


def wrapped(text: str, width: int, most: int = 2, style: str = "") -> Lines:
    """Text of others below a label, in at most so many lines."""
    room = max(8, width - LABEL)
    lines = wrap(flat(text), room, max_lines=most, placeholder=" …", break_on_hyphens=False)
    return [labelled("", Content.styled(line, style) if style else line) for line in lines]


def one_line(content: Content, width: int) -> Content:
    """The line, cut to so many cells."""
    return content if content.cell_length <= width else content.truncate(width, ellipsis=True)


def cell(text: str, width: int) -> str:
    """Text in exactly so many cells, cut or padded; a wide character is never halved."""
    if cell_len(text) > width:
        return set_cell_size(text, max(0, width - 1)) + "…"
    return set_cell_size(text, width)


def bar(share: float, width: int) -> str:
    """A bar of so many cells; anything above nothing shows."""
    full = max(0, min(width, round(share * width)))
    if share > 0 and full == 0:
        full = 1
    return "▓" * full + "░" * (width - full)


def count(number: int) -> str:
    """A number of tokens in a few characters: "812", "41k", "1.2M"."""
    if number < 1_000:
        return str(number)
    if number < 999_500:
        thousands = number / 1_000
        return f"{thousands:.1f}k" if thousands < 9.95 else f"{thousands:.0f}k"
    return f"{number / 1_000_000:.1f}M"


def plural(number: int, word: str) -> str:
    """ "1 tool call", "2 tool calls"."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")
