"""The conversation: a list of entries; only the newest are widgets.

Textual slows down with every mounted widget. Older entries are mounted when the user scrolls up to them and removed
again at the bottom.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.message import Message
from textual.scrollbar import ScrollBar
from textual.types import CallbackType
from textual.widget import AwaitMount
from textual.widgets import Static

from harness.ui.app.scroll_bar import LightScrollBar

if TYPE_CHECKING:
    from harness.ui.transcript.entries import Entry

MOUNTED = 80
"""Most entries that are mounted while the user reads the newest ones."""
KEPT = 60
"""Entries left after pruning. Fewer than `MOUNTED`, because removing widgets causes a layout."""
EARLIER = 40
"""Entries mounted each time the top is reached."""


class EntryDrawing(Protocol):
    """Draws entries; see `views.EntryRenderer`."""

    def content(self, entry: "Entry", columns: int, *, expanded: bool) -> Content: ...

    def apart(self, above: "Entry | None", below: "Entry") -> bool: ...


class EntryView(Static):
    """One entry; a click expands or folds it."""

    DEFAULT_CSS = """
    EntryView {
        height: auto;
        padding: 0 1 0 1;
        &.-apart { margin: 1 0 0 0; }
    }
    """

    def __init__(self, number: int) -> None:
        super().__init__(markup=False)
        self.number = number
        """Index of the entry."""
        self.opened: bool | None = None
        """Expanded or folded by a click; None: like the others."""
        self.drawn: tuple[object, int, bool] | None = None
        """The entry, columns and expansion drawn last."""

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """Textual lays out the screen once more after each new size, but only a new width changes an entry."""
        layout = layout and self.outer_size.width not in (0, size.width)
        return super()._size_updated(size, virtual_size, container_size, layout)


class Chat(VerticalScroll):
    """A scrollable list of entries that follows the newest one until the user scrolls up."""

    DEFAULT_CSS = """
    Chat {
        layout: stream;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        scrollbar-color: $surface-lighten-2;
        scrollbar-color-hover: $surface-lighten-3;
        scrollbar-color-active: $surface-lighten-3;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }
    """

    can_focus = False

    class Followed(Message):
        """`more_below`, `new_below` or the size of the conversation has changed."""

    def __init__(self, draw: EntryDrawing | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._draw = draw
        self._entries: Sequence[Entry] = ()
        self._views: list[EntryView] = []
        self._expanded = False
        self._held: tuple[EntryView, float] | None = None
        """An entry and its row on the screen, kept while entries are mounted above it."""
        self._to_top: int | None = None
        """The entry whose first line is wanted on the screen as soon as the entry has its place."""
        self.more_below = False
        """There is text below the last row on the screen."""
        self._left_at = 0
        """Entries there were when the user left the newest one."""

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The scrollbar, which is made when it is first wanted."""
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = LightScrollBar()
            self._vertical_scrollbar.display = False
            self.app._start_widget(self, self._vertical_scrollbar)
        return self._vertical_scrollbar

    # ── called by the app ──────────────────────────────────────────────────────────────────────

    @property
    def new_below(self) -> int:
        """Entries that were added since the user left the newest one."""
        return max(0, len(self._entries) - self._left_at) if self.more_below else 0

    def set_renderer(self, draw: EntryDrawing) -> None:
        """Use this renderer from now on."""
        self._draw = draw

    def update(self, entries: Sequence["Entry"], first: int = 0) -> None:
        """Show `entries`; those before index `first` are unchanged."""
        if self.more_below and len(entries) != len(self._entries):
            self.post_message(self.Followed())
        self._entries = entries
        self._drop_beyond(len(entries))
        self._redraw_from(first)
        shown_until = self._views[-1].number + 1 if self._views else max(0, len(entries) - MOUNTED)
        fresh = [EntryView(number) for number in range(max(shown_until, self._oldest_wanted), len(entries))]
        for view in fresh:
            self._redraw(view)
        if fresh:
            self._views += fresh
            self.mount_all(fresh)
        self._prune()

    def redraw(self, *, running_only: bool = False) -> None:
        """Draw all mounted entries again, or only those that show a running time."""
        for view in self._views:
            entry = self._entries[view.number]
            if not running_only or getattr(entry, "running", False):
                view.drawn = None
                self._redraw(view)

    def follow(self) -> None:
        """Scroll to the newest entry and follow it."""
        if self.is_anchored:
            self.anchor()

    def show_top(self, number: int) -> None:
        """Scroll to the first line of an entry if it does not fit below it."""
        self._to_top = number
        self.refresh(layout=True)

    def expand_all(self) -> bool:
        """Toggle the expansion of all entries; returns whether they are expanded now."""
        self._expanded = not self._expanded
        for view in self._views:
            view.opened = None
            self._redraw(view)
        return self._expanded

    # ── mounting ──────────────────────────────────────────────────────────────────────────────

    @property
    def _follows(self) -> bool:
        return self.is_vertical_scroll_end or self.max_scroll_y == 0

    @property
    def _oldest_wanted(self) -> int:
        return max(0, len(self._entries) - MOUNTED) if self._follows else 0

    def _drop_beyond(self, count: int) -> None:
        gone = [view for view in self._views if view.number >= count]
        if gone:
            self._views = self._views[: len(self._views) - len(gone)]
            self.remove_children(gone)

    def _prune(self) -> None:
        if self._follows and len(self._views) > MOUNTED:
            gone, self._views = self._views[:-KEPT], self._views[-KEPT:]
            self.remove_children(gone)

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Arrange the entries, anchored at the bottom only if they overflow.

        Textual anchors short content at the bottom, too, so this is decided as soon as the height is known.
        """
        placed = super().arrange(size, optimal)
        self._keep_place(placed)
        beyond = placed.spatial_map.total_region.bottom - self.container_size.height
        overflows = self.container_size.height > 0 < beyond
        if self._anchored and not overflows:
            self.set_reactive(Chat.scroll_y, 0)
            self.set_reactive(Chat.scroll_target_y, 0)
            self._anchor_released = False
        if overflows and self.vertical_scrollbar.position != beyond:
            self.vertical_scrollbar.refresh()  # an anchor moves it without redrawing it
        self._anchored = overflows
        self._show_wanted_top(placed, beyond)
        self._note_what_is_below(beyond)
        return placed

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        if new < old and new < 1 and self._views and self._views[0].number > 0:
            self.call_after_refresh(self._mount_earlier)
        elif new > old and self._follows:
            self._prune()
        self._note_what_is_below(self.max_scroll_y)

    def _note_what_is_below(self, beyond: float) -> None:
        more = beyond - self.scroll_target_y >= 1 and (self._anchor_released or not self._anchored)
        if more != self.more_below:
            self.more_below = more
            self._left_at = len(self._entries)
            self.post_message(self.Followed())

    def _mount_earlier(self) -> None:
        """Mount earlier entries without moving the text on the screen."""
        waiting = self._held is not None
        if waiting or not self._views or not (until := self._views[0].number) or self.scroll_y >= 1:
            return
        self.app.animator.force_stop_animation(self, "scroll_y")
        self._held = self._views[0], self._views[0].virtual_region.y - self.scroll_y
        earlier = [EntryView(number) for number in range(max(0, until - EARLIER), until)]
        for view in earlier:
            self._redraw(view)
        self.mount_all(earlier, before=self._views[0])
        self._views[:0] = earlier

    def _keep_place(self, placed: DockArrangeResult) -> None:
        """Scroll by the height of the entries mounted above the held one.

        Done during layout, as Textual's anchor is: any later, a key could arrive first and scroll from the wrong row.
        """
        if self._held is None:
            return
        view, row = self._held
        self._held = None
        at = next((placement.region.y for placement in placed.placements if placement.widget is view), None)
        if at is not None:
            self._place_at(at - row)

    def _show_wanted_top(self, placed: DockArrangeResult, beyond: int) -> None:
        """Done during layout: before the entry has its place, Textual's anchor scrolls to its end."""
        for placement in placed.placements:
            if isinstance(placement.widget, EntryView) and placement.widget.number == self._to_top:
                self._to_top = None
                if placement.region.y < beyond:
                    self.release_anchor()
                    self._place_at(placement.region.y)

    def _place_at(self, row: float) -> None:
        self.set_reactive(Chat.scroll_y, row)
        self.set_reactive(Chat.scroll_target_y, row)
        self.vertical_scrollbar.position = row

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """Textual lays out a second time when the content has grown, which a reserved scrollbar does not need."""
        return super()._size_updated(size, virtual_size, container_size, layout and size != self.outer_size)

    def call_next(self, callback: CallbackType, *args: Any, **kwargs: Any) -> None:
        """Textual lays out a second time once children are mounted, which entries do not need."""
        if isinstance(callback, AwaitMount):
            self.refresh(repaint=False, layout=True)
        else:
            super().call_next(callback, *args, **kwargs)

    # ── drawing ─────────────────────────────────────────────────────────────────────────────────

    @property
    def _columns(self) -> int:
        return max(10, self.scrollable_content_region.width - 2)

    def _redraw_from(self, first: int) -> None:
        for view in self._views:
            if view.number >= first:
                self._redraw(view)

    def _redraw(self, view: EntryView) -> None:
        if self._draw is None:
            return
        entry = self._entries[view.number]
        expanded = self._expanded if view.opened is None else view.opened
        wanted = entry, self._columns, expanded
        if view.drawn != wanted:
            view.drawn = wanted
            above = self._entries[view.number - 1] if view.number else None
            view.set_class(self._draw.apart(above, entry), "-apart", update=view.is_attached)
            # A new one is laid out when it is mounted.
            view.update(self._draw.content(entry, self._columns, expanded=expanded), layout=view.is_attached)

    def on_resize(self, event: Resize) -> None:
        self.refresh(layout=True)  # the new height is known only now
        for view in self._views:
            self._redraw(view)
        if self.more_below:
            self.post_message(self.Followed())  # the mark has another place

    def on_click(self, event: Click) -> None:
        view = event.widget
        if isinstance(view, EntryView) and self.screen.get_selected_text() is None:
            view.opened = not (self._expanded if view.opened is None else view.opened)
            self._redraw(view)
