"""The conversation: one widget that draws its own rows.

Textual slows down with every widget. Here entries are no widgets but rows, drawn when they come into sight and kept
for a while. After each change `_settle` measures what is in sight, finds the rows of the screen, and marks those that
look different. Nothing of this lays out the screen again.
"""

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich.style import Style as RichStyle
from textual.events import Click, Resize
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.selection import SelectEnd, Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from harness.ui.app.entry_rows import MARGIN, Canvas, EntryDrawing, EntryRows
from harness.ui.app.row_index import Position, RowIndex
from harness.ui.app.row_styles import action_of, highlighted, hovered_link, selected_cells
from harness.ui.app.scroll_bar import LightScrollBar

if TYPE_CHECKING:
    from harness.ui.transcript.entries import Entry

KEPT = 400
"""Most entries whose rows are kept."""
LINES = 1 << 24
"""More than the rows of an entry. A row of a selection is its entry times this, plus its line: so the order of two rows
is that of two numbers, and a row keeps its number while entries grow."""
AROUND = 80
"""Entries on each side of the screen that are measured while there is nothing else to do."""
SLICE_S = 0.004
"""Seconds of such measuring at a time."""
NEAR = 2
"""Screens. So far entries are measured one by one when the user scrolls; beyond, by estimate."""
Shown = tuple[Strip, tuple[int, int] | None, bool]
"""A row of the screen: its text, the cells that are selected, and whether it has the link under the pointer."""


class Chat(ScrollView):
    """A scrollable list of entries that follows the newest one until the user scrolls up."""

    DEFAULT_CSS = """
    Chat {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        scrollbar-color: $foreground 35%;
        scrollbar-color-hover: $foreground 50%;
        scrollbar-color-active: $foreground 50%;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        &:ansi {
            scrollbar-color: ansi_bright_black;
            scrollbar-color-hover: ansi_bright_black;
            scrollbar-color-active: ansi_bright_black;
        }
    }
    """

    can_focus = False

    class Followed(Message):
        """`more_below`, `new_below` or the size of the conversation has changed."""

    def __init__(self, draw: EntryDrawing | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.auto_links = False  # Textual would draw everything again whenever the pointer moves
        self._draw = draw
        self._entries: Sequence[Entry] = ()
        self._expanded = False
        self._opened: dict[int, bool] = {}
        """Entries that were expanded or folded by a click."""
        self._drawn: dict[int, EntryRows] = {}
        self._index = RowIndex(self._measured)
        self._canvas: Canvas | None = None
        self._look: object = None
        """What the canvas depends on."""
        self._top = Position(0, 0)
        """The row at the top of the screen."""
        self._row = 0
        """Its number, as the scrollbar has it."""
        self._follows = True
        self._settling = False
        self._measuring = False
        """`_measure_around` will be called."""
        self._rows: list[tuple[int, Strip]] = []
        """The rows on the screen, each with its number in a selection."""
        self._marked: list[Shown] = []
        """Each row as it was drawn last or is marked for drawing."""
        self._hovered = ""
        """The action of the link under the pointer."""
        self.more_below = False
        """There is text below the last row on the screen."""
        self._left_at = 0
        """Entries there were when the user left the newest one."""

    # ── called by the app ──────────────────────────────────────────────────────────────────────

    @property
    def new_below(self) -> int:
        """Entries that were added since the user left the newest one."""
        return max(0, len(self._entries) - self._left_at) if self.more_below else 0

    def set_renderer(self, draw: EntryDrawing) -> None:
        """Use this renderer from now on."""
        self._draw = draw
        self._forget()

    def update(self, entries: Sequence["Entry"], first: int = 0) -> None:
        """Show `entries`; those before index `first` are unchanged."""
        if self.more_below and len(entries) != len(self._entries):
            self.post_message(self.Followed())
        self._entries = entries
        columns = self._columns(self.outer_size.width)
        first = min(first, len(self._index))
        self._index.replace(first, [estimated_rows(entry, columns) for entry in entries[first:]])
        self._drawn = {number: drawn for number, drawn in self._drawn.items() if number < len(entries)}
        self._opened = {number: opened for number, opened in self._opened.items() if number < len(entries)}
        self._settle()

    def redraw(self, *, running_only: bool = False) -> None:
        """Draw all entries again, or only those that show a running time."""
        for number, drawn in self._drawn.items():
            if not running_only or getattr(self._entries[number], "running", False):
                drawn.entry = None
                self._index.forget(number)
        self._settle()

    def follow(self) -> None:
        """Scroll to the newest entry and follow it."""
        self._follows = True
        self._settle()

    def scroll_end(self, **options: Any) -> None:
        """Scroll to the newest entry and follow it."""
        self.follow()

    def show_top(self, number: int) -> None:
        """Scroll to the first line of an entry if it does not fit below it."""
        if not self.outer_size.height:
            self.call_after_refresh(self.show_top, number)
        elif number < len(self._entries):
            top = self._index.moved(Position(number, 0), int(self._gap(number)))
            if top < self._index.last_screen(self.outer_size.height):
                self._top, self._follows = top, False
                self._settle()

    def expand_all(self) -> bool:
        """Toggle the expansion of all entries; returns whether they are expanded now."""
        self._expanded = not self._expanded
        self._opened.clear()
        self._index.forget()
        self._settle()
        return self._expanded

    # ── what is on the screen ───────────────────────────────────────────────────────────────────

    def _settle(self) -> None:
        """Find the rows of the screen, place the scrollbar, and mark the rows that look different."""
        rows = self.outer_size.height
        if not rows or self._settling or not self.is_attached:
            self._note_height()
            return
        self._settling = True
        try:
            self._renew_canvas()
            self._find_rows(rows)
            self._forget_distant()
            self._note_height()
            self._move_scrollbar(rows)
            self._mark()
        finally:
            self._settling = False
        self._note_what_is_below()
        if self._unmeasured is not None and not self._measuring:
            self._measuring = True
            self.call_after_refresh(self._measure_around)

    @property
    def _unmeasured(self) -> int | None:
        seen, rows = self._top.entry, self.outer_size.height
        return self._index.unmeasured(seen - AROUND, seen + AROUND + rows) if self._draw is not None else None

    def _measure_around(self) -> None:
        """Measure what will be seen next, so that the scrollbar is right and scrolling is quick."""
        until = monotonic() + SLICE_S
        self._measuring = False
        while (entry := self._unmeasured) is not None and monotonic() < until:
            self._index.height(entry)
        self._settle()

    def _find_rows(self, rows: int) -> None:
        index = self._index
        if not self._entries or self._draw is None:
            self._rows, self._row, self._top, self._follows = [], 0, Position(0, 0), True
            return
        if self._follows:
            self._top = index.last_screen(rows)
        entry = min(self._top.entry, len(index) - 1)
        self._top = Position(entry, max(0, min(self._top.line, index.height(entry) - 1)))
        self._rows = self._rows_from(self._top, rows)
        if len(self._rows) < rows and self._top > (0, 0):
            self._follows = True
            self._top = index.last_screen(rows)
            self._rows = self._rows_from(self._top, rows)
        self._row = index.top(self._top.entry) + self._top.line

    def _rows_from(self, top: Position, rows: int) -> list[tuple[int, Strip]]:
        found: list[tuple[int, Strip]] = []
        entry, line = top
        while len(found) < rows and entry < len(self._entries):
            self._index.height(entry)
            gap = int(self._gap(entry))
            strips = [self._blank] * gap + self._drawn_entry(entry).rows
            first = entry * LINES + LINES // 2 - gap  # a gap that comes or goes leaves the numbers of the text
            found += [(first + at, strips[at]) for at in range(line, min(len(strips), line + rows - len(found)))]
            entry, line = entry + 1, 0
        return found

    def _move_scrollbar(self, rows: int) -> None:
        total = self._index.total
        self.set_reactive(Widget.virtual_size, Size(self.outer_size.width - self.scrollbar_size_vertical, total))
        self._refresh_scrollbars()
        part = 0.0 if self._follows else self.scroll_y - round(self.scroll_y)
        at = max(0.0, min(self._row + part, float(max(0, total - rows))))
        self.set_reactive(Widget.scroll_y, at)
        self.set_reactive(Widget.scroll_target_y, at)
        if self.show_vertical_scrollbar:
            bar = self.vertical_scrollbar
            bar.window_virtual_size, bar.window_size, bar.position = total, rows, at

    def _note_height(self) -> None:
        """Lay out the screen if the height of this widget follows its text."""
        if self.styles.auto_dimensions and self._index.total != self.virtual_size.height:
            self.refresh(layout=True)

    def _note_what_is_below(self) -> None:
        more = not self._follows and self._index.total > self._row + self.outer_size.height
        if more != self.more_below:
            self.more_below = more
            self._left_at = len(self._entries)
            self.post_message(self.Followed())

    # ── entries as rows ─────────────────────────────────────────────────────────────────────────

    def _columns(self, width: int) -> int:
        return max(10, width - self.scrollbar_size_vertical - 2 * MARGIN)

    def _gap(self, number: int) -> bool:
        """Whether a blank row precedes an entry."""
        above = self._entries[number - 1] if number else None
        try:
            return self._draw is not None and self._draw.apart(above, self._entries[number])
        except Exception:  # noqa: BLE001 (as for an entry that cannot be drawn: those below it are still shown)
            return True

    def _measured(self, number: int) -> int:
        return int(self._gap(number)) + len(self._drawn_entry(number).rows)

    def _drawn_entry(self, number: int) -> EntryRows:
        entry, expanded = self._entries[number], self._opened.get(number, self._expanded)
        before = self._drawn.get(number)
        if before is None or before.expanded != expanded or before.entry != entry:
            assert self._draw is not None
            assert self._canvas is not None
            self._drawn[number] = self._canvas.drawn(self._draw, entry, expanded=expanded, before=before)
        return self._drawn[number]

    def _forget(self) -> None:
        self._drawn.clear()
        self._index.forget()

    def _forget_distant(self) -> None:
        if len(self._drawn) > KEPT:
            seen = self._top.entry + self.outer_size.height // 2
            near = sorted(self._drawn, key=lambda number: abs(number - seen))
            for number in near[KEPT // 2 :]:
                del self._drawn[number]

    def _renew_canvas(self, width: int = 0) -> None:
        """Draw everything again after a change of width or theme."""
        width = width or self.outer_size.width
        base, link = self.visual_style, self.link_style
        look = width, base, link, self.app.theme
        if look == self._look:
            return
        other_width = self._canvas is None or self._canvas.width != width
        parsed: dict[str | Style, Style] = {}

        def parse(style: str | Style) -> Style:
            if (found := parsed.get(style)) is None:
                found = parsed[style] = self._get_style(style)
            return found

        self._look, self._canvas = look, Canvas(width, self._columns(width), base, link, parse)
        self._drawn.clear()
        self._marked = []
        entry, line = self._top
        if other_width and entry < len(self._entries):
            share = line / max(1, self._index.known_height(entry))
            self._index.forget()
            if self._draw is not None:
                self._top = Position(entry, int(share * self._index.height(entry)))

    # ── size and scrolling ──────────────────────────────────────────────────────────────────────

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The scrollbar, which is made when it is first wanted."""
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = LightScrollBar()
            self._vertical_scrollbar.display = False
            self.app._start_widget(self, self._vertical_scrollbar)
        return self._vertical_scrollbar

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The rows of all entries, for a height that follows them."""
        if self._draw is None or not self._entries:
            return 0
        self._renew_canvas(width)
        return sum(map(self._index.height, range(len(self._entries))))

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        if resized := size != self._size:
            self._set_dirty()
            self._marked = []
        self._size = self._container_size = size
        if resized:
            self._settle()
        return resized

    def on_resize(self, event: Resize) -> None:
        if self.more_below:
            self.post_message(self.Followed())  # the mark has another place

    def _scroll_to(self, x: float | None = None, y: float | None = None, **options: Any) -> bool:
        """Scroll at once, because corrected heights would be overwritten while an animation runs."""
        by = 0.0 if y is None else y - self.scroll_y
        if y is not None and self._is_near(by):
            self._index.moved(self._top, round(by))  # with estimates, the first row could seem to be near
            self._settle()
            y = self.scroll_y + by
        return super()._scroll_to(x, y, **options | {"animate": False})

    def _is_near(self, by: float) -> bool:
        shown = bool(self._entries) and self._draw is not None and self._canvas is not None
        return shown and abs(by) <= NEAR * self.outer_size.height

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The user has scrolled."""
        row, rows = round(new_value), self.outer_size.height
        by = row - self._row
        if self._settling or not rows or not self._entries or self._draw is None:
            return
        if not by:
            self.vertical_scrollbar.position = new_value
            return
        near = self._is_near(by)
        self._top = self._index.moved(self._top, by) if near else self._index.at(row)
        at_end = by > 0 and row + rows >= self.max_scroll_y
        self._follows = at_end and (not near or self._top >= self._index.last_screen(rows))
        self._settle()
        self._extend_selection()

    # ── drawing ─────────────────────────────────────────────────────────────────────────────────

    @property
    def _blank(self) -> Strip:
        assert self._canvas is not None
        return self._canvas.blank

    def _number_of(self, y: int) -> int:
        """The number of a row of the screen in a selection; those below the last entry have the next one."""
        return self._rows[y][0] if y < len(self._rows) else len(self._entries) * LINES

    def _shown(self, first: int, end: int) -> list[Shown]:
        """Rows of the screen."""
        selection, hovered = self.text_selection, self._hovered
        shown: list[Shown] = []
        for number, strip in self._rows[first:end]:
            span = None if selection is None else selected_cells(strip, selection, number)
            shown.append((strip, span, bool(hovered) and any(action_of(style) == hovered for _, style, _ in strip)))
        return shown + [(self._blank, None, False)] * (end - first - len(shown))

    def _mark(self) -> None:
        """Mark the rows of the screen that look different."""
        if self._canvas is None:
            return
        shown = self._shown(0, self.outer_size.height)
        before, self._marked = self._marked, shown
        if len(before) != len(shown):
            self.refresh()
            return
        width = self.outer_size.width
        changed = [Region(0, y, width, 1) for y, pair in enumerate(zip(before, shown, strict=True)) if differ(*pair)]
        if changed:
            self.refresh(*changed)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a part of the screen."""
        self._dirty_regions.clear()
        if self._canvas is None or self._look_changed:
            self._settle()
        if self._canvas is None:
            return [Strip.blank(crop.width, self.visual_style.rich_style)] * crop.height
        strips = []
        for strip, span, hovered in self._shown(crop.y, crop.bottom):
            chosen = strip if span is None else highlighted(strip, *span, self._selection_style)
            strips.append(hovered_link(chosen, self._hovered, self.link_style_hover) if hovered else chosen)
        _, background = self.background_colors
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return [strip.crop(crop.x, crop.right) for strip in strips]

    @property
    def _look_changed(self) -> bool:
        width = self._canvas.width if self._canvas is not None else 0
        return (width, self.visual_style, self.link_style, self.app.theme) != self._look

    @property
    def _selection_style(self) -> Style:
        return Style.from_styles(self.screen.get_component_styles("screen--selection"))

    # ── the mouse ───────────────────────────────────────────────────────────────────────────────

    def render_line(self, y: int) -> Strip:
        """A row of the screen whose characters know their place in a selection, for Textual."""
        if self._canvas is None:
            return Strip.blank(self.outer_size.width)
        strip = self._rows[y][1] if 0 <= y < len(self._rows) else self._blank
        return strip.apply_offsets(0, self._number_of(max(0, y)))

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selected text."""
        self._mark()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, without margins."""
        if self._canvas is None or self._draw is None:
            return None
        start, end = selection.start or Offset(0, 0), selection.end or Offset(0, len(self._entries) * LINES)
        lines = []
        for number in range(start.y // LINES, min(end.y // LINES + 1, len(self._entries))):
            for line, strip in enumerate(self._drawn_entry(number).rows):
                if (span := selection.get_span(number * LINES + LINES // 2 + line)) is not None:
                    until = None if span[1] == -1 else span[1]
                    lines.append(strip.text[max(MARGIN, span[0]) : until].rstrip())
        return ("\n".join(lines), "\n") if lines else None

    def _extend_selection(self) -> None:
        """The row under a pointer that selects is another one after scrolling."""
        state = self.screen._select_state
        if self.screen._selecting and state is not None and state.end is not None and state.end.content_widget is self:
            _, offset = self.screen.get_widget_and_offset_at(*state.screen_offset)
            end = SelectEnd(state.end.container, self, offset)
            self.screen._select_state = state.update_end(state.screen_offset, end)

    def watch_hover_style(self, previous_hover_style: RichStyle, hover_style: RichStyle) -> None:
        """Draw the link under the pointer differently."""
        action = action_of(hover_style)
        if action != self._hovered:
            self._hovered = action
            self._mark()

    def on_click(self, event: Click) -> None:
        if event.chain > 1:
            event.prevent_default()  # Textual would select the whole conversation
        number, line = divmod(self._number_of(event.y), LINES)
        if number >= len(self._entries) or line < LINES // 2 or action_of(event.style):
            return
        if event.chain > 1:
            every = Selection(Offset(0, number * LINES), Offset(0, (number + 1) * LINES))
            self.screen.selections = {self: every}
        elif self.screen.get_selected_text() is None:
            self._opened[number] = not self._opened.get(number, self._expanded)
            self._index.forget(number)
            self._settle()


def estimated_rows(entry: "Entry", columns: int) -> int:
    """About the height of an entry."""
    text = getattr(entry, "text", "")
    return 2 + text.count("\n") + len(text) // columns if text else 1


def differ(one: Shown, other: Shown) -> bool:
    """Whether two rows look different."""
    return one[1:] != other[1:] or (one[0] is not other[0] and one[0] != other[0])
