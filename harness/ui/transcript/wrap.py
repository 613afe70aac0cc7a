"""Lines of a given width, and the styles that all entries share."""

from textual.content import Content

from harness.ui.lines.line import Groups, laid_out
from harness.ui.transcript.kinsoku import wrapped

MUTED = "dim"
WARNING = "$text-warning"
FAILED = "$text-error"
GOOD = "$text-success"
NAME = "$text-accent"
DIFF_STYLES = {"+": GOOD, "-": "$text-error", "@": MUTED}
"""Styles of the lines of a diff by their first character."""
TINTS = {"+": "on $diff-added", "-": "on $diff-removed"}
"""Backgrounds of its changed lines."""

TAB = 4
NARROWEST = 12
"""Cells of text below which nothing is indented."""


def hanging(mark: Content, text: Content, width: int) -> Content:
    """Text wrapped at `width` cells, with `mark` before the first line and the others indented."""
    width = max(width, 2)
    indent = mark.cell_length
    if width - indent < min(NARROWEST, width):
        return Content("\n").join(wrapped(Content.assemble(mark, text).expand_tabs(TAB), width))
    first, *others = wrapped(text.expand_tabs(TAB), width - indent) or [Content("")]
    space = Content(" " * indent)
    return Content("\n").join([Content.assemble(mark, first), *(space + line if line else line for line in others)])


def one_line(text: Content, width: int) -> Content:
    """The text on one line of at most `width` cells, with an ellipsis if cut."""
    return text.truncate(max(width, 1), ellipsis=True).rstrip()


def listing_content(groups: Groups, width: int) -> Content:
    """A list: titles in bold, names in colour."""
    lines = list[Content]()
    titles = {title for title, _ in groups}
    for name, text in laid_out(groups, width):
        lines.append(Content.assemble((name, "bold" if name in titles else NAME), text))
    return Content("\n").join(lines)
