"""The line at the bottom: who answers, who may do what, how full, how much, and what can be pressed."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

GAP = "   "
BETWEEN = " · "


@dataclass(frozen=True, slots=True)
class Status:
    """What the line says. Facts are words, most important first."""

    facts: tuple[str, ...] = ()
    warning: str = ""
    """Said instead of the keys, in the colour of a warning; for a moment, or as long as it is true."""
    keys: tuple[tuple[str, str], ...] = ()
    """Keys and what they do, most important first."""


class StatusLine(Static):
    """One row. What does not fit is left out from the end, never cut in the middle of a word."""

    DEFAULT_CSS = """
    StatusLine {
        height: 1;
        padding: 0 1;
        color: $text-muted;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self._status = Status()

    def tell(self, status: Status) -> None:
        """Say this from now on; nothing is drawn when it is what is said already."""
        if status != self._status:
            self._status = status
            self._redraw()

    def on_resize(self, event: Resize) -> None:
        self._redraw()

    def _redraw(self) -> None:
        self.update(line(self._status, self.scrollable_content_region.width), layout=False)


def line(status: Status, columns: int) -> Content:
    """The line in `columns` cells. The first fact is always there, then keys or warning, then as many facts as fit.

    Where there is no room for two things a warning stands alone, else the first fact.
    """
    right = _right(status, columns)
    facts = list(status.facts)
    while len(facts) > 1 and cell_len(BETWEEN.join(facts)) + len(GAP) + right.cell_length > columns:
        facts.pop()
    left = Content(BETWEEN.join(facts))
    if left.cell_length + len(GAP) + right.cell_length > columns:
        alone = right if status.warning else left
        return alone.truncate(max(0, columns), ellipsis=True)
    return Content.assemble(left, " " * (columns - left.cell_length - right.cell_length), right)


def _right(status: Status, columns: int) -> Content:
    if status.warning:
        return Content.styled(status.warning, "$text-warning")
    keys = list(status.keys)
    while keys:
        shown = Content(GAP).join([Content.assemble((key, "bold"), " ", what) for key, what in keys])
        if shown.cell_length + len(GAP) <= columns * 2 // 3:
            return shown
        keys.pop()
    return Content("")
