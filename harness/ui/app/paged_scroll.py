"""A scrollable area that says how much is below its last row."""

from textual.containers import VerticalScroll
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message

from harness.base.external_text import counted


class PagedScroll(VerticalScroll):
    """Posts `Scrolled` whenever `position` may have changed."""

    class Scrolled(Message):
        """Another part is visible, or the area has another size."""

        def __init__(self, area: "PagedScroll") -> None:
            super().__init__()
            self.area = area

    @property
    def position(self) -> str:
        """The number of lines below and the key that shows them; empty if everything is visible."""
        if not self.max_scroll_y:
            return ""
        below = round(self.max_scroll_y - self.scroll_y)
        return f"↓ {counted(below, 'more line')} · PgDn" if below else "↑ PgUp"

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self.post_message(self.Scrolled(self))

    def watch_virtual_size(self, size: Size) -> None:
        self.post_message(self.Scrolled(self))

    def on_resize(self, event: Resize) -> None:
        self.post_message(self.Scrolled(self))
