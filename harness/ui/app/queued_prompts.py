"""The queued prompts, above the prompt."""

from textual.widgets import Static

from harness.ui.lines.queue import queue_rows
from harness.ui.turn_queue import TurnQueue

ROOMY_COLUMNS, ROOMY_ROWS = 80, 24
"""Size of a terminal; in a smaller one a single row is shown."""


class QueuedPrompts(Static):
    """First lines of the queued prompts; no row while there are none."""

    DEFAULT_CSS = """
    QueuedPrompts {
        height: auto;
        padding: 0 1;
        color: $text-muted;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self.display = False
        self._rows: list[str] = []

    def show(self, queue: TurnQueue) -> None:
        """Show this queue."""
        columns, rows = self.app.size
        found = queue_rows(queue, brief=columns < ROOMY_COLUMNS or rows < ROOMY_ROWS)
        if found != self._rows:
            self._rows = found
            self.display = bool(found)
            self.update("\n".join(found))
