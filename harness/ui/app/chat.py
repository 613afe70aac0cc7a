"""The conversation: a window of widgets on a list of entries.

Only the newest entries are widgets. An unbounded list of them makes every further message slower (terminal §6.4), so
older ones stay data, come back when the person scrolls up to them, and leave again at the bottom.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.widgets import Static

if TYPE_CHECKING:
    from harness.ui.transcript.entries import Entry

MOUNTED = 80
"""Entries that are widgets while the person reads the newest ones, at most."""
KEPT = 60
"""So many are left when they have become too many: taking widgets away lays everything out, so it is done seldom."""
EARLIER = 40
"""Entries that become widgets again each time the top is reached."""


class Drawing(Protocol):
    """Knows how entries look."""

    def content(self, entry: "Entry", columns: int, *, expanded: bool) -> Content:
        """The entry in lines of so many cells."""
        ...

    def apart(self, above: "Entry | None", below: "Entry") -> bool:
        """Whether a blank line stands between two entries."""
        ...


class EntryView(Static):
    """One entry. A click expands it, or folds it again."""

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
        """Place of the entry in the list."""
        self.opened: bool | None = None
        """What the person chose for this entry alone; None: as all others."""
        self.drawn: tuple[object, int, bool] | None = None
        """What was drawn last: entry, columns, expanded."""


class Chat(VerticalScroll):
    """Shows entries, stays at the bottom until the person scrolls up."""

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

    def __init__(self, draw: Drawing | None = None, *, id: str | None = None) -> None:
        """`draw` may be given later, by `use`, when what it needs has been imported."""
        super().__init__(id=id)
        self._draw = draw
        self._entries: Sequence[Entry] = ()
        self._views: list[EntryView] = []
        self._expanded = False
        self._held: tuple[EntryView, float] | None = None
        """An entry that stays on its row of the screen, from its top, when those before it get their places."""

    # ── what the app calls ──────────────────────────────────────────────────────────────────────

    def use(self, draw: Drawing) -> None:
        """Draw entries like this from now on."""
        self._draw = draw

    def update(self, entries: Sequence["Entry"], first: int = 0) -> None:
        """Show `entries`, of which those before `first` are as they were."""
        self._entries = entries
        self._drop_beyond(len(entries))
        for view in self._views:
            if view.number >= first:
                self._redraw(view)
        shown_until = self._views[-1].number + 1 if self._views else max(0, len(entries) - MOUNTED)
        fresh = [EntryView(number) for number in range(max(shown_until, self._oldest_wanted), len(entries))]
        for view in fresh:
            self._redraw(view)
        if fresh:
            self._views += fresh
            self.mount_all(fresh)
        self._prune()

    def redraw(self, *, running_only: bool = False) -> None:
        """Draw all mounted entries again; `running_only`: those that show how long something has been running."""
        for view in self._views:
            entry = self._entries[view.number]
            if not running_only or getattr(entry, "running", False):
                view.drawn = None
                self._redraw(view)

    def follow(self) -> None:
        """Go to the newest entry, and stay there."""
        if self.is_anchored:
            self.anchor()

    def show_top(self, number: int) -> None:
        """Stay at the first line of an entry, if all of it does not fit from there on; else go on as before."""

        def scroll() -> None:
            view = next((view for view in self._views if view.number == number), None)
            if view is not None and view.virtual_region.y < self.max_scroll_y:
                self.release_anchor()
                self.scroll_to(y=view.virtual_region.y, animate=False, immediate=True)

        self.call_after_refresh(scroll)

    def expand_all(self) -> bool:
        """Expand every entry, or fold them all again. Returns whether they are expanded now."""
        self._expanded = not self._expanded
        for view in self._views:
            view.opened = None
            self._redraw(view)
        return self._expanded

    # ── the window ──────────────────────────────────────────────────────────────────────────────

    @property
    def _follows(self) -> bool:
        """The person reads the newest entries."""
        return self.is_vertical_scroll_end or self.max_scroll_y == 0

    @property
    def _oldest_wanted(self) -> int:
        """Entries before this one are not mounted when many come at once."""
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
        """Place the entries, and hang at the bottom only if there are more than fit.

        An anchored widget hangs short content at the bottom too, so this is decided where the height becomes known
        and before it is used.
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
            self.vertical_scrollbar.refresh()  # an anchor moves it without a word, and what it looked like would stay
        self._anchored = overflows
        return placed

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        if new < old and new < 1 and self._views and self._views[0].number > 0:
            self.call_after_refresh(self._mount_earlier)
        elif new > old and self._follows:
            self._prune()

    def _mount_earlier(self) -> None:
        """Make the entries before the first mounted one widgets, and stay where the person reads."""
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
        """Scroll by as many rows as have come above the entry that is held.

        Like the anchor of Textual this is done while the rows are laid out: after that there is no moment that is
        certain to come before the next key, and at the top a key that scrolls up would change nothing.
        """
        if self._held is None:
            return
        view, row = self._held
        self._held = None
        at = next((placement.region.y for placement in placed.placements if placement.widget is view), None)
        if at is not None:
            self.set_reactive(Chat.scroll_y, at - row)
            self.set_reactive(Chat.scroll_target_y, at - row)
            self.vertical_scrollbar.position = at - row

    # ── drawing ─────────────────────────────────────────────────────────────────────────────────

    @property
    def _columns(self) -> int:
        return max(10, self.scrollable_content_region.width - 2)

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
            view.update(self._draw.content(entry, self._columns, expanded=expanded))

    def on_resize(self, event: Resize) -> None:
        self.refresh(layout=True)  # only now the new height is what the entries are placed by
        for view in self._views:
            self._redraw(view)

    def on_click(self, event: Click) -> None:
        view = event.widget
        if isinstance(view, EntryView) and self.screen.get_selected_text() is None:
            view.opened = not (self._expanded if view.opened is None else view.opened)
            self._redraw(view)
