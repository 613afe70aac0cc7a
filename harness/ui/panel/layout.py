"""Lines of the panel: labels, wrapping, amounts, and names in narrow columns."""

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from harness.base.external_text import visible

LABEL = 9
"""Columns of the label of a line."""
LONE_JOINER = re.compile(r"(?<!\S)\u200d+")
NARROWEST = 8
"""Columns of text below which nothing is wrapped."""
Lines = list[Content]

QUIET = "dim"
"""Not $text-muted, which is brighter than plain text in a `Content`."""
TROUBLE = "$text-warning"
BAD = "$text-error"
GOOD = "$text-success"
KEY = "bold $text-accent"


def flat(text: str) -> str:
    """Untrusted text as one line without control characters.

    Removes a joiner with nothing to join: rich 15 cannot cut a text that begins with two of them (`cells.split_text`).
    """
    return visible(LONE_JOINER.sub("", " ".join(text.split())))


def labelled(label: str, content: Content | str) -> Content:
    """A line with a label, which may be empty, in the first columns."""
    return Content.assemble((f"{cell(flat(label), LABEL - 1)} ", QUIET), content)


def wrapped(text: str, width: int, most: int = 2, style: str = "", indent: int = LABEL, hang: int = 0) -> Lines:
    """Untrusted text in at most `most` lines, with an ellipsis if cut.

    Args:
        width: columns of the panel.
        indent: columns before each line.
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
    """Trusted text after a label, wrapped."""
    found = content.wrap(max(NARROWEST, width - LABEL))[:most]
    return [labelled("" if number else label, line.rstrip()) for number, line in enumerate(found)]


def headed(label: str, text: str, width: int, most: int = 2, style: str = "") -> Lines:
    """Untrusted text after a label, in at most `most` lines."""
    first, *others = wrapped(text, width, most, style) or [labelled("", "")]
    return [labelled(label, first[LABEL:]), *others]


def flowing(parts: Iterable[Content], width: int, gap: str = "   ") -> Lines:
    """Parts side by side below a label, wrapped between parts."""
    lines: Lines = []
    for part in parts:
        if lines and lines[-1].cell_length + len(gap) + part.cell_length <= width:
            lines[-1] = Content.assemble(lines[-1], gap, part)
        else:
            lines.append(labelled("", part))
    return lines


def one_line(content: Content, width: int) -> Content:
    """The line, cut to `width` cells."""
    return content if content.cell_length <= width else content.truncate(width, ellipsis=True)


def cell(text: str, width: int) -> str:
    """Text in exactly `width` cells, cut or padded; a wide character is never halved."""
    if cell_len(text) > width > 0:
        return set_cell_size(text, width - 1) + "…"
    return set_cell_size(text, max(0, width))


def bar(share: float, width: int) -> str:
    """A bar of `width` cells; any share above 0 is visible."""
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
    """The cost of requests: "$1.25"; "cost unknown" or "≥ $1.25" if `unpriced` of them have no known price."""
    if not unpriced:
        return money(cost_usd)
    return f"≥ {money(cost_usd)}" if cost_usd else "cost unknown"


# ── names in narrow columns ─────────────────────────────────────────────────────────────────────

MARK = "…"
"""Replaces the omitted part."""
JOINER = "\u200d"
"""Joins the characters beside it into one; meaningless beside the mark."""


def in_cells(names: Sequence[str], width: int) -> tuple[str, ...]:
    """Each name in exactly `width` cells, padded or with its middle omitted.

    All are cut at the same place, so that the marks are aligned: in the middle or, if that made two names look the
    same, at the nearest place that keeps most of them distinct.
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
    """How many names remain distinct when cut there."""
    return len({_cut(name, head, width) for name in names})


def _cut(name: str, head: int, width: int) -> str:
    tail = width - head - len(MARK)
    end = next((name[at:] for at in range(len(name)) if cell_len(name[at:]) <= tail), "")
    beginning = set_cell_size(name, head).rstrip(JOINER)
    return set_cell_size(beginning + MARK + end.lstrip(JOINER), width)
