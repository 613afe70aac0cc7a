"""One-line states with keys: model, permissions and cost below the prompt, the running work above it."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from harness.ui.key_labels import clickable

GAP = "   "
BETWEEN = " · "
LEAST = 10
"""Columns that a shortened fact has."""


@dataclass(frozen=True, slots=True)
class Status:
    """Content of the status line; facts and keys are sorted by importance."""

    facts: tuple[str, ...] = ()
    warning: str = ""
    """Shown instead of the keys."""
    keys: tuple[tuple[str, str], ...] = ()
    """Keys and their descriptions."""
    main: str = ""
    """The fact that is left out last, after the keys and the first fact; empty: the first one."""
    shortens: bool = False
    """The first fact is shortened rather than the last key left out."""
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
    """The line in `columns` cells.

    What does not fit is left out in this order: facts from the last one on, keys, the first fact, the main fact. A
    warning stays. A long first fact, such as the name of a model, takes half of the line at most.
    """
    facts, keys = list(status.facts), list(status.keys)
    main = status.main if status.main in facts else "".join(facts[:1])
    right = _right(status, keys, columns)
    if facts and main != facts[0] and cell_len(BETWEEN.join(facts)) + len(GAP) + right.cell_length > columns:
        facts[0] = Content(facts[0]).truncate(max(LEAST, columns // 2), ellipsis=True).plain
    while cell_len(BETWEEN.join(facts)) + len(GAP) + right.cell_length > columns:
        if others := [fact for fact in facts[1:] if fact != main]:
            facts.remove(others[-1])
        elif len(keys) > 1 or (keys and not status.shortens):
            keys.pop()
            right = _right(status, keys, columns)
        elif len(facts) > 1:
            facts.remove(facts[0])
        else:
            break
    left = Content(BETWEEN.join(facts))
    room = columns - len(GAP) - right.cell_length
    if left.cell_length > room and keys and right.cell_length and not status.warning and room >= LEAST:
        left = left.truncate(room, ellipsis=True)
    if left.cell_length > room:
        alone = right if status.warning else left
        return alone.truncate(max(0, columns), ellipsis=True)
    return Content.assemble(left, " " * (columns - left.cell_length - right.cell_length), right)


def _right(status: Status, keys: Sequence[tuple[str, str]], columns: int) -> Content:
    if status.warning:
        return Content.styled(status.warning, "$text-warning")
    keys = list(keys)
    room = columns - cell_len(status.facts[0]) if status.keys_first else columns * 2 // 3
    while keys:
        shown = Content(GAP).join([clickable(key, what, "bold") for key, what in keys])
        if shown.cell_length + len(GAP) <= room:
            return shown
        keys.pop()
    return Content("")
