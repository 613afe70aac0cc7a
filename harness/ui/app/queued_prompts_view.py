"""The queued prompts, above the prompt."""

from typing import TYPE_CHECKING

from textual.widgets import Static

if TYPE_CHECKING:
    from harness.ui.turn_queue import TurnQueue

ROOMY_COLUMNS, ROOMY_ROWS = 80, 24
"""Size of a terminal; in a smaller one a single row is shown."""


class QueuedPrompts(Static):
    """First lines of the queued prompts; no row while there are none."""

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

    def show(self, queue: "TurnQueue") -> None:
        """Show this queue."""
        from harness.ui.lines.queue import queue_rows  # after the first paint

        columns, rows = self.app.size
        found = queue_rows(queue, brief=columns < ROOMY_COLUMNS or rows < ROOMY_ROWS)
        if found != self._rows:
            self._rows = found
            self.display = bool(found)
            self.update("\n".join(found))
