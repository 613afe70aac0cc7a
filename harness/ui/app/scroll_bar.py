"""A vertical scrollbar that draws only the rows that look different.

The scrollbar of Textual draws all its rows with every change of the text beside it, which costs more than the text.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil
from typing import Self

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.strip import Strip

EIGHTHS = "▁▂▃▄▅▆▇"
"""The upper end of the thumb, from one eighth of a row on; reversed, its lower end."""


class LightScrollBar(ScrollBar):
    """Looks and works like the vertical scrollbar of Textual, in one column."""

    def __init__(self) -> None:
        super().__init__(name="vertical")
        self._marked: Sequence[Strip] = ()
        """The rows when some of them were marked for drawing."""

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Draw the rows that have changed."""
        if repaint and not (regions or layout or recompose) and self.is_attached:
            before, self._marked = self._marked, self._rows()
            if len(before) == len(self._marked):
                changed = [y for y, pair in enumerate(zip(before, self._marked, strict=True)) if pair[0] is not pair[1]]
                if not changed:
                    return self
                regions = tuple(Region(0, y, 1, 1) for y in changed)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a part of the scrollbar."""
        self._dirty_regions.clear()
        _, background = self.background_colors
        rows = self._rows()
        if len(self._marked) != len(rows):  # all of them are drawn
            self._marked = rows
        strips = list(rows[crop.y : crop.bottom])
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return strips

    def _rows(self) -> Sequence[Strip]:
        styles = self.parent.styles if self.parent is not None else self.styles
        if self.grabbed:
            back, bar = styles.scrollbar_background_active, styles.scrollbar_color_active
        elif self.mouse_over:
            back, bar = styles.scrollbar_background_hover, styles.scrollbar_color_hover
        else:
            back, bar = styles.scrollbar_background, styles.scrollbar_color
        position, window = self.position, self.window_size
        return bar_rows(self.outer_size.height, self.window_virtual_size, window, position, back, back + bar)


@lru_cache(16)
def bar_rows(rows: int, total: int, window: int, position: float, back: Color, bar: Color) -> Sequence[Strip]:
    """The rows of a scrollbar.

    Args:
        rows: its height.
        total: lines of the text.
        window: lines that are shown.
        position: the line at the top.
        back: colour of the bar.
        bar: colour of its thumb.
    """
    start = end = 0  # of the thumb, in eighths of a row
    if 0 < window < total and rows:
        thumb = max(1.0, window / (total / rows))  # in the order of Textual: each quotient is rounded
        start = max(0, int((rows - thumb) * (position / (total - window)) * 8))
        end = start + ceil(thumb * 8)
    return [_row(min(8, max(0, start - 8 * y)), min(8, max(0, end - 8 * y)), back, bar) for y in range(rows)]


@lru_cache(256)
def _row(above: int, until: int, back: Color, bar: Color) -> Strip:
    """One row, whose thumb covers it from `above` to `until`; equal rows are one object."""
    if until <= above:
        pressed = "scroll_up" if above else "scroll_down"
        return Strip([Segment(" ", Style(bgcolor=back.rich_color, meta={"@mouse.down": pressed}))], 1)
    grab = {"@mouse.down": "grab"}
    plain = Style(color=bar.rich_color, bgcolor=back.rich_color, meta=grab)
    turned = Style(color=bar.rich_color, bgcolor=back.rich_color, reverse=True, meta=grab)
    if above:
        return Strip([Segment(EIGHTHS[7 - above], plain)], 1)
    return Strip([Segment(EIGHTHS[7 - until] if until < 8 else " ", turned)], 1)
