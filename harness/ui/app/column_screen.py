"""A screen on which a selection stays in the column where it began."""

from textual.containers import VerticalScroll
from textual.geometry import Offset, Spacing
from textual.screen import Screen
from textual.selection import SelectEnd, Selection, SelectState
from textual.widget import Widget

from harness.ui.app.panel_view import PanelView

INSIDE = Spacing(0, 1, 0, 1)
"""Cells at the sides of a column that hold no text."""


class ColumnScreen(Screen[None]):
    """The screen of an app with text in columns.

    Textual selects from the first to the last character in reading order of everything that both ends have in common.
    On a screen with columns that takes the next column along as soon as the pointer is not on text: on a blank line, or
    beside the column.
    """

    def validate__select_state(self, state: SelectState | None) -> SelectState | None:
        """A drag that has left its column ends at the nearest cell of the column."""
        column = None if state is None else column_of(state.start.content_widget or state.start.container)
        if state is None or state.end is None or column is None:
            return state
        region = column.scrollable_content_region.shrink(INSIDE)
        if not region or column in (state.end.content_widget or state.end.container).ancestors_with_self:
            return state
        x, y = state.screen_offset
        nearest = Offset(min(max(x, region.x), region.right - 1), min(max(y, region.y), region.bottom - 1))
        widget, offset = self.get_widget_and_offset_at(*nearest)
        found = widget is not None and offset is not None and column in widget.ancestors_with_self
        return state.update_end(nearest, SelectEnd(column, widget if found else None, offset if found else None))

    def validate_selections(self, selections: dict[Widget, Selection]) -> dict[Widget, Selection]:
        """Nothing of another column is selected."""
        state = self._select_state
        column = None if state is None else column_of(state.start.content_widget or state.start.container)
        if column is None:
            return selections
        return {widget: chosen for widget, chosen in selections.items() if column in widget.ancestors_with_self}


def column_of(widget: Widget) -> Widget | None:
    """The column that a widget stands in; None: it stands in none, as the line at the bottom."""
    above = (one for one in widget.ancestors_with_self if isinstance(one, VerticalScroll | PanelView))
    return next(above, None)
