"""How entries are drawn on the screen: the look of the transcript, and an answer that grows."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.content import Content

from harness.ui.transcript.entries import Answer, Entry
from harness.ui.transcript.entry_lines import entry_content, set_off

if TYPE_CHECKING:
    from harness.ui.transcript.markdown import StreamedMarkdown


class EntryDrawing:
    """Draws one entry after the other; of an answer that streams in only what is new."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives Unix time, for how long a call has been running."""
        self._clock = clock
        self._growing: StreamedMarkdown | None = None

    def content(self, entry: Entry, columns: int, *, expanded: bool) -> Content:
        """The entry in lines of so many cells."""
        if isinstance(entry, Answer) and not entry.done:
            return self._grown(entry.text, columns)
        return entry_content(entry, columns, expanded=expanded, now=self._clock())

    def _grown(self, text: str, columns: int) -> Content:
        if self._growing is None:
            from harness.ui.transcript.markdown import StreamedMarkdown  # with the first answer, not the first paint

            self._growing = StreamedMarkdown()
        self._growing.set(text)
        return self._growing.content(columns)

    def apart(self, above: Entry | None, below: Entry) -> bool:
        """Whether a blank line stands between two entries; there is none above the first."""
        return above is not None and set_off(above, below)
