"""The style of a row under the pointer or in a selection."""

from collections.abc import Mapping
from typing import Any

from rich.style import Style as RichStyle
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from harness.ui.app.entry_rows import MARGIN


def action_of(style: RichStyle | None) -> str:
    """What a click on text in this style does; empty: nothing."""
    if style is None or style._meta is None:
        return ""
    meta: Mapping[str, Any] = style.meta
    return str(meta.get("@click", ""))


def selected_cells(strip: Strip, selection: Selection, row: int) -> tuple[int, int] | None:
    """The cells of a row that are selected, without its margins."""
    if (span := selection.get_span(row)) is None:
        return None
    length = len(strip.text.rstrip())
    start, end = max(MARGIN, span[0]), length if span[1] == -1 else min(span[1], length)
    return (strip.index_to_cell_position(start), strip.index_to_cell_position(end)) if start < end else None


def highlighted(strip: Strip, start: int, end: int, selection: Style) -> Strip:
    """The row with some of its cells selected: their colours are blended with those of the selection."""

    def blended(style: RichStyle) -> RichStyle:
        return (Style.from_rich_style(style) + selection).rich_style + RichStyle.from_meta(style.meta)

    chosen = [segment._replace(style=blended(segment.style or RichStyle.null())) for segment in strip.crop(start, end)]
    return Strip.join([strip.crop(0, start), Strip(chosen, end - start), strip.crop(end)])


def hovered_link(strip: Strip, action: str, style: RichStyle) -> Strip:
    """The row with `style` over its links to `action`."""
    return Strip(
        [
            segment._replace(style=segment.style + style)
            if segment.style and action_of(segment.style) == action
            else segment
            for segment in strip
        ]
    )
