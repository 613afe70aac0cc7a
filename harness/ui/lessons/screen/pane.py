"""A part of the screen with a line above it that says what it is."""

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from harness.base.terminal_text import visible
from harness.ui.lessons.screen.pages import Page

LEADING = 6
"""Rows above a line that is sought: what the text says before it shows code."""
SEEN = 8
"""Characters that a row must have to be known again."""


class Heading(Static):
    """What stands below it; marked while its part is the one that is scrolled."""

    DEFAULT_CSS = """
    Heading {
        height: 1;
        padding: 0 1;
        color: $text-muted;
        background: $surface;
        &.-active { color: $text-accent; text-style: bold; }
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._text = ""

    def say(self, text: str, *, active: bool) -> None:
        """Say this, on one line; nothing is drawn when it says so already."""
        said = f"{'▸' if active else ' '} {visible(text)}"
        if self._text != said:
            self._text = said
            self.set_class(active, "-active")
            self._redraw()

    def _redraw(self) -> None:
        self.update(Content(self._text).truncate(max(1, self.content_region.width), ellipsis=True), layout=False)

    def on_resize(self, event: Resize) -> None:
        self._redraw()


class PageView(Static):
    """Draws a page anew when its width changes."""

    DEFAULT_CSS = "PageView { height: auto; padding: 0 1; }"

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._page: Page | None = None
        self._drawn: tuple[Page, int] | None = None
        self._rows: list[str] = []

    def show(self, page: Page) -> None:
        """Show this page."""
        self._page = page
        self._redraw()

    def row_of(self, line: str) -> int | None:
        """The first row that begins with this line, or with as much of it as fits; None where there is none."""
        rows = enumerate(row.strip() for row in self._rows)
        return next((number for number, row in rows if len(row) >= SEEN and line.strip().startswith(row)), None)

    def _redraw(self) -> None:
        columns = self.scrollable_content_region.width
        if self._page is not None and columns > 0 and self._drawn != (self._page, columns):
            self._drawn = self._page, columns
            drawn = self._page.draw(columns)
            self._rows = drawn.plain.split("\n")
            self.update(drawn)

    def on_resize(self, event: Resize) -> None:
        self._redraw()


class Pane(Vertical):
    """A heading and a page that can be longer than the room there is."""

    DEFAULT_CSS = """
    Pane {
        & > VerticalScroll {
            height: 1fr;
            scrollbar-size-vertical: 1;
            scrollbar-gutter: stable;
            scrollbar-color: $surface-lighten-2;
            scrollbar-color-hover: $surface-lighten-3;
            scrollbar-color-active: $surface-lighten-3;
            scrollbar-background: $background;
            scrollbar-background-hover: $background;
            scrollbar-background-active: $background;
        }
    }
    """

    _title = ""

    def compose(self) -> ComposeResult:
        yield Heading()
        with VerticalScroll(can_focus=False):
            yield PageView()

    @property
    def heading(self) -> Heading:
        """The line above it."""
        return self.query_one(Heading)

    @property
    def body(self) -> VerticalScroll:
        """What can be scrolled."""
        return self.query_one(VerticalScroll)

    def mark(self, name: str, *, active: bool) -> None:
        """Say in the heading what this is, and whether it is what keys scroll."""
        self.heading.say(" · ".join(part for part in (name, self._title) if part), active=active)

    def seek(self, line: str) -> None:
        """Bring this line into sight, with what leads to it, when everything is drawn; nothing where it is not."""
        self.call_after_refresh(self._seek, line)

    def _seek(self, line: str) -> None:
        row = self.query_one(PageView).row_of(line)
        if row is not None:
            self.body.scroll_to(y=max(0, row - LEADING), animate=False)

    def show(self, page: Page) -> None:
        """Show a page from its beginning."""
        self._title = page.title
        self.query_one(PageView).show(page)
        self.body.scroll_home(animate=False)
