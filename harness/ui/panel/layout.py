"""Lines of the panel: a label, a text, and never more cells than there is room for."""

import re
from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from harness.base.terminal_text import visible

LABEL = 8
"""Columns of the label of a line."""
LONE_JOINER = re.compile(r"(?<!\S)\u200d+")
NARROWEST = 8
"""Columns of text below which nothing is wrapped any more."""
Lines = list[Content]

QUIET = "dim"
"""Not $text-muted: in a text, without an opacity of its own, that is brighter than what stands beside it."""
TROUBLE = "$text-warning"
BAD = "$text-error"
GOOD = "$text-success"
KEY = "bold $text-accent"


def flat(text: str) -> str:
    """Text of others as one line without control characters.

    A joiner with nothing to join goes: rich 15 cannot cut a text that begins with two of them (`cells.split_text`).
    """
    return visible(LONE_JOINER.sub("", " ".join(text.split())))


def labelled(label: str, content: Content | str) -> Content:
    """A line with a label in the first columns; an empty one leaves them blank."""
    return Content.assemble((f"{cell(flat(label), LABEL - 1)} ", QUIET), content)


def wrapped(text: str, width: int, most: int = 2, style: str = "", indent: int = LABEL, hang: int = 0) -> Lines:
    """Text of others, indented, in at most so many lines; a cut is shown.

    Args:
        text: any text.
        width: columns of the panel.
        most: lines.
        style: of the text.
        indent: columns before it.
        hang: further columns before every line but the first.
    """
    room = max(NARROWEST, width - indent - hang)
    found = Content(flat(text)).wrap(room)
    if len(found) > most:
        rest = " ".join(line.plain.strip() for line in found[most - 1 :])
        found = [*found[: most - 1], Content(rest).truncate(room, ellipsis=True)]
    before = " " * indent
    lines = [line.plain.rstrip() for line in found if line.plain.strip()]
    return [
        Content.assemble(before + " " * (hang if number else 0), (line, style)) for number, line in enumerate(lines)
    ]


def hung(label: str, content: Content, width: int, most: int = 2) -> Lines:
    """Our own words after a label, on a further line where they do not fit."""
    found = content.wrap(max(NARROWEST, width - LABEL))[:most]
    return [labelled("" if number else label, line.rstrip()) for number, line in enumerate(found)]


def headed(label: str, text: str, width: int, most: int = 2, style: str = "") -> Lines:
    """Text of others after a label, in at most so many lines."""
    first, *others = wrapped(text, width, most, style) or [labelled("", "")]
    return [labelled(label, first[LABEL:]), *others]


def flowing(parts: Iterable[Content], width: int, gap: str = "   ") -> Lines:
    """Parts beside each other below a label, and on a further line where they do not fit."""
    lines: Lines = []
    for part in parts:
        if lines and lines[-1].cell_length + len(gap) + part.cell_length <= width:
            lines[-1] = Content.assemble(lines[-1], gap, part)
        else:
            lines.append(labelled("", part))
    return lines


def one_line(content: Content, width: int) -> Content:
    """The line, cut to so many cells."""
    return content if content.cell_length <= width else content.truncate(width, ellipsis=True)


def cell(text: str, width: int) -> str:
    """Text in exactly so many cells, cut or padded; a wide character is never halved."""
    if cell_len(text) > width > 0:
        return set_cell_size(text, width - 1) + "…"
    return set_cell_size(text, max(0, width))


def bar(share: float, width: int) -> str:
    """A bar of so many cells; anything above nothing shows."""
    full = max(0, min(width, round(share * width)))
    if share > 0 and full == 0:
        full = 1
    return "▓" * full + "░" * (width - full)


def count(number: int) -> str:
    """A number of tokens in a few characters: "812", "8k", "1.2M"."""
    if number < 1_000:
        return str(number)
    if number < 999_500:
        thousands = number / 1_000
        return f"{thousands:.1f}k".replace(".0k", "k") if thousands < 9.95 else f"{thousands:.0f}k"
    return f"{number / 1_000_000:.1f}M".replace(".0M", "M")


def money(value: float) -> str:
    """An amount: "$0.0012" below a cent, "$1.25" above."""
    return f"${value:.2f}" if value >= 0.01 else f"${value:.4f}"


def priced(cost_usd: float, unpriced: int) -> str:
    """What requests cost; `unpriced` of them have no known price: "cost unknown", "≥ $1.25"."""
    if not unpriced:
        return money(cost_usd)
    return f"≥ {money(cost_usd)}" if cost_usd else "cost unknown"


def plural(number: int, word: str) -> str:
    """A number and what it counts: "1 tool call", "2 tool calls"."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")
