"""The panel as a widget: one text, drawn anew only when it was told to."""

from collections.abc import Callable

from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

Drawing = Callable[[int, int], Content]
"""Columns and rows there are, to what is shown in them."""


class PanelView(Static):
    """Shows what a function draws into the space there is."""

    DEFAULT_CSS = """
    PanelView {
        padding: 0 1 0 1;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self.auto_links = False  # what can be clicked is drawn as such already
        self._draw: Drawing | None = None

    def use(self, draw: Drawing) -> None:
        """Draw like this from now on."""
        self._draw = draw
        self.redraw()

    def redraw(self) -> None:
        """Draw what is true now; nothing happens while the panel is hidden."""
        columns, rows = self._space
        if self._draw is not None and columns > 0 and rows > 0:
            follows_its_text = self.styles.height is not None and self.styles.height.is_auto
            self.update(self._draw(columns, rows), layout=follows_its_text)

    @property
    def _space(self) -> tuple[int, int]:
        """Columns, and rows up to the most that the panel may take where its height follows its text."""
        region = self.scrollable_content_region
        highest = self.styles.max_height
        rows = region.height if highest is None else int(highest.resolve(self.app.size, self.app.size, None) or 0)
        return region.width, rows

    def on_resize(self, event: Resize) -> None:
        self.redraw()
