"""One-line states with keys: the status line with model, permissions and cost, and above the prompt what runs now."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from harness.ui.key_labels import clickable

GAP = "   "
BETWEEN = " · "


@dataclass(frozen=True, slots=True)
class Status:
    """Content of the status line; facts and keys are sorted by importance."""

    facts: tuple[str, ...] = ()
    warning: str = ""
    """Shown instead of the keys."""
    keys: tuple[tuple[str, str], ...] = ()
    """Keys and their descriptions."""
    keys_first: bool = False
    """Keys may take all the room beside the first fact, not only two thirds of the line."""


class StatusLine(Widget):
    """One row, or none without a status; facts that do not fit are left out."""

    DEFAULT_CSS = """
    StatusLine {
        height: 1;
        padding: 0 1;
        color: $text-muted;
        &#activity { color: $text; display: none; }
    }
    """

    def __init__(self, status: Status | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._status = status or Status()

    def show(self, status: Status | None) -> None:
        """Show this status; None: no row."""
        self.display = status is not None
        if status is not None and status != self._status:
            self._status = status
            self.refresh()

    def render(self) -> Content:
        return line(self._status, self.scrollable_content_region.width)


def line(status: Status, columns: int) -> Content:
    """The line in `columns` cells: the first fact, keys or warning, and as many further facts as fit.

    Without room for both, a warning is preferred to the first fact, and the first fact to keys.
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
    room = columns - cell_len(status.facts[0]) if status.keys_first else columns * 2 // 3
    while keys:
        shown = Content(GAP).join([clickable(key, what, "bold") for key, what in keys])
        if shown.cell_length + len(GAP) <= room:
            return shown
        keys.pop()
    return Content("")
