"""What the user typed during a turn and the model has not read yet, above the prompt."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual.widgets import Static

if TYPE_CHECKING:
    from harness.ui.turn_queue import TurnQueue

ROOMY_COLUMNS, ROOMY_ROWS = 80, 24
"""Size of a terminal; in a smaller one a single row is shown."""
NARROWEST = 12
"""Columns of a text below which it has no note beside it."""


class QueuedPrompts(Static):
    """First lines of the waiting texts and prompts; no row while there are none."""

    DEFAULT_CSS = """
    QueuedPrompts {
        display: none;
        height: auto;
        padding: 0 1;
        color: $text-muted;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self._rows: list[str] = []

    def show(self, joining: Sequence[str], where: str, queue: "TurnQueue") -> None:
        """Show the texts for the running turn, with the place where they join it, and this queue."""
        from harness.ui.lines.queue import waiting_rows  # after the first paint

        columns, height = self.app.size
        brief = columns < ROOMY_COLUMNS or height < ROOMY_ROWS
        found = [with_note(*row, columns - 2) for row in waiting_rows(joining, where, queue, brief=brief)]
        if found != self._rows:
            self._rows = found
            self.display = bool(found)
            self.update("\n".join(found))


def with_note(text: str, note: str, columns: int) -> str:
    """A text with a note at the right end of the row."""
    from harness.ui.lines.queue import TAKES_BACK  # after the first paint

    room = columns - cell_len(note) - 2
    if room < cell_len(text):  # where it joins matters more than the key
        note = note.removesuffix(f" · {TAKES_BACK}")
        room = columns - cell_len(note) - 2
    if not note or room < NARROWEST:
        return text
    cut = text if cell_len(text) <= room else f"{set_cell_size(text, room - 1).rstrip()}…"
    return f"{set_cell_size(cut, room)}  {note}"
