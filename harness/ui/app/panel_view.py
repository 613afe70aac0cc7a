"""The recovery panel: a widget, its place beside the conversation, and a screen of its own."""

from collections.abc import Callable
from itertools import zip_longest
from typing import ClassVar, Protocol

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.events import Resize
from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from harness.ui.app.chat import Chat
from harness.ui.app.status_line import Status, StatusLine

Drawing = Callable[[int, int], list[Content]]
"""Draws the panel into columns × rows."""


class PanelView(Widget):
    """Shows the output of a function, sized to the widget. Only the rows that have changed are painted again."""

    DEFAULT_CSS = """
    PanelView {
        height: auto;
        padding: 0 1 0 1;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)
        self.auto_links = False
        self._draw: Drawing | None = None
        self._rows: list[Content] = []

    def render(self) -> Content:
        """The rows that were drawn last."""
        return Content("\n").join(self._rows)

    def set_renderer(self, draw: Drawing) -> None:
        """Use this function from now on."""
        self._draw = draw
        self.redraw()

    def redraw(self) -> None:
        """Draw again; no-op while the panel is hidden."""
        columns, rows = self._space
        if self._draw is None or columns <= 0 or rows <= 0:
            return
        before, self._rows = self._rows, self._draw(columns, rows)
        follows_its_text = self.styles.height is not None and self.styles.height.is_auto
        if follows_its_text and len(before) != len(self._rows):
            self.refresh(layout=True)
            return
        pairs = enumerate(zip_longest(before, self._rows))
        if changed := [Region(0, row, columns, 1) for row, (old, new) in pairs if not _same(old, new)]:
            self.refresh(*changed)

    @property
    def _space(self) -> tuple[int, int]:
        region = self.scrollable_content_region
        highest = self.styles.max_height
        rows = region.height if highest is None else int(highest.resolve(self.app.size, self.app.size, None) or 0)
        return region.width, rows

    def on_resize(self, event: Resize) -> None:
        self.refresh()  # rows that read the same may be laid out anew
        self.redraw()


def _same(one: Content | None, other: Content | None) -> bool:
    """Whether two rows look the same; contents compare as equal when their texts are."""
    return one is not None and other is not None and (one.plain, one.spans) == (other.plain, other.spans)


WIDE = 100
"""Least columns for the panel beside the conversation."""
BROAD = 121
"""Least columns for a panel of a third of the screen; below that, the conversation needs the room."""
BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide"), (BROAD, "-broad")]
"""Classes of the screen by its columns, for an app with a SplitView."""
TALL = 30
"""Least rows for conversation, panel and a question below each other."""
VERTICAL_BREAKPOINTS = [(0, "-short"), (TALL, "-tall")]
"""Classes of the screen by its rows."""

SPLIT_CSS = """
SplitView {
    height: 1fr;
    layout: horizontal;
    layers: default above;
}
SplitView > Chat { width: 1fr; height: 1fr; margin: 0 0 1 0; }
SplitView > PanelView {
    width: 33%; max-width: 38; height: 1fr; padding: 0 0 0 1; border-left: solid $rule;
}
.-broad SplitView > PanelView { max-width: 100%; }
SplitView > MoreBelow {
    position: absolute; layer: above; width: auto; height: 1; padding: 0 1;
    background: $surface-lighten-2; color: $text; display: none;
}
SplitView.-no-panel > PanelView { display: none; }
.-narrow SplitView { layout: vertical; }
.-narrow SplitView > Chat { margin: 0; }
.-narrow SplitView.-no-panel > Chat { margin: 0 0 1 0; }
.-narrow SplitView > PanelView {
    width: 1fr; max-width: 100%; height: auto; max-height: 40vh; padding: 0 1;
    border-left: none; border-top: solid $rule;
}
.-narrow.-short.-asking SplitView > PanelView { display: none; }
"""
"""Part of the styles of the app, because it depends on a class of the screen."""


class MoreBelow(Static):
    """A mark on the last row of the conversation; a click scrolls to the newest entry."""

    def on_click(self) -> None:
        self.app.simulate_key("ctrl+end")


class SplitView(Container):
    """Conversation and panel, one below the other on a `-narrow` screen, else side by side."""

    chat_type: ClassVar[type[Chat]] = Chat
    """The view of the conversation."""
    expands: ClassVar[str] = "Ctrl+O"
    """The key that expands entries; empty: those on the screen stay as they are."""

    def compose(self) -> ComposeResult:
        yield self.chat_type()
        yield PanelView()
        yield MoreBelow(markup=False)

    def on_chat_followed(self) -> None:
        self._place_mark()

    def _place_mark(self) -> None:
        mark, chat = self.query_one(MoreBelow), self.chat
        mark.display = chat.more_below
        if chat.more_below:
            text = f"↓ {f'{chat.new_below:,} new' if chat.new_below else 'more'} below · Ctrl+End"
            mark.update(text)
            corner = chat.region.bottom_right - self.region.offset
            mark.styles.offset = max(0, corner.x - cell_len(text) - 4), corner.y - 1

    @property
    def is_ready(self) -> bool:
        """Both widgets are composed and the app is not closing."""
        return len(self.children) > 1

    @property
    def chat(self) -> Chat:
        """The conversation."""
        return self.query_one(Chat)

    @property
    def panel(self) -> PanelView:
        """The panel."""
        return self.query_one(PanelView)

    @property
    def below(self) -> bool:
        """The panel is below the conversation."""
        return self.screen.has_class("-narrow")

    def toggle_panel(self) -> bool:
        """Show or hide the panel; returns whether it is visible now."""
        hidden = self.toggle_class("-no-panel").has_class("-no-panel")
        if not hidden:
            self.call_after_refresh(self.panel.redraw)
        return not hidden


class PanelTimeline(Protocol):
    """The panel at any step; see `views.Views`."""

    @property
    def shown_step(self) -> int | None: ...

    def rows(self, columns: int, rows: int, *, expanded: bool = False) -> list[Content]: ...

    def walk(self, by: int) -> None: ...

    def jump(self, *, backwards: bool) -> bool: ...

    def show_step(self, step: int | None) -> None: ...


class FullPanel(Screen[None]):
    """The panel on the whole screen, with keys to step through the session."""

    DEFAULT_CSS = """
    FullPanel {
        & > PanelView { height: 1fr; padding: 0 2; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        # Priority: all keys in their order, and what is typed right after F3 goes to the screen below.
        Binding("f3,q", "dismiss", "back", show=False, priority=True),
        Binding("escape", "back", "back", show=False, priority=True),
        Binding("left,h", "walk(-1)", "step back", show=False, priority=True),
        Binding("right,l", "walk(1)", "step forward", show=False, priority=True),
        Binding("n", "jump(False)", "next incident", show=False, priority=True),
        Binding("p", "jump(True)", "previous incident", show=False, priority=True),
        Binding("end", "now", "now", show=False, priority=True),
    ]

    KEYS = (("←→", "steps"), ("n p", "incidents"), ("End", "now"), ("F3", "back"))

    def __init__(self, views: Callable[[], PanelTimeline]) -> None:
        """`views` returns the views of the open session; their owner redraws this screen."""
        super().__init__()
        self._views = views

    def compose(self) -> ComposeResult:
        yield PanelView()
        yield StatusLine()

    def on_mount(self) -> None:
        self.query_one(PanelView).set_renderer(lambda columns, rows: self._views().rows(columns, rows, expanded=True))
        self.redraw()

    @property
    def _past(self) -> bool:
        return self._views().shown_step is not None

    def redraw(self) -> None:
        """Draw again."""
        for panel in self.query(PanelView):  # none before the screen is composed
            panel.redraw()
        when = "an earlier step" if self._past else "now"
        for status in self.query(StatusLine):
            status.show(Status((when,), keys=self.KEYS))

    def action_walk(self, by: int) -> None:
        self._views().walk(by)

    def action_jump(self, backwards: bool) -> None:
        if not self._views().jump(backwards=backwards):
            self.query_one(StatusLine).show(Status(("no further incident",), keys=self.KEYS))

    def action_now(self) -> None:
        self._views().show_step(None)

    def action_back(self) -> None:
        if self._past:
            self.action_now()
        else:
            self.dismiss(None)
