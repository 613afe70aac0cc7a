"""The widgets of the course, and the pages of text, code and wire that they draw to their width."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from harness.base.external_text import visible
from harness.lessons import CodeExcerpt, Language, Lesson, LessonError, ReadmeSection, WireExchange, difference, readme
from harness.ui.lessons import messages
from harness.ui.lessons.narration import received, reply_text, request_text
from harness.ui.transcript.code import coloured
from harness.ui.transcript.markdown import markdown_content
from harness.ui.transcript.wrap import MUTED, hanging

MOST_WIRE = 4_000
"""Longest text within a request."""
HEADING = "bold $text-accent"
KEPT = 64
"""Cached drawings."""


@dataclass(frozen=True, slots=True)
class LessonPage:
    """A page with a title."""

    title: str
    draw: Callable[[int], Content]
    """Draws lines of at most the given number of cells."""


def text_page(lesson: Lesson, language: Language, parts: slice) -> LessonPage:
    """Some sections of the README, or an error."""
    try:
        return sections_page(readme(lesson, language)[parts])
    except LessonError as error:
        return sections_page((ReadmeSection("", str(error)),))


def sections_page(sections: Sequence[ReadmeSection]) -> LessonPage:
    """Sections of a text."""
    text = "\n\n".join(
        f"## {section.title}\n\n{section.text}" if section.title else section.text for section in sections
    )
    title = " · ".join(section.title for section in sections if section.title)
    return LessonPage(title, lambda columns: _text(text, columns))


def code_page(source: CodeExcerpt, number: int, count: int) -> LessonPage:
    """Code with line numbers; the `number`th of `count` pieces."""
    which = f" ({number}/{count})" if count > 1 else ""
    return LessonPage(f"{source.place}{which}", lambda columns: _code(source, columns))


def difference_page(lesson: Lesson) -> LessonPage:
    """The diff of the demo. Raises LessonError."""
    text = visible(difference(lesson))
    return LessonPage(f"{lesson.demo} ±", lambda columns: _wrapped(coloured(text, "diff", closed=True), columns))


def wire_page(exchanges: Sequence[WireExchange], language: Language) -> LessonPage:
    """Requests and replies."""
    title = messages.WIRE.into(language)
    if not exchanges:
        return LessonPage(title, lambda columns: Content(messages.NO_WIRE.into(language)))
    blocks = [
        block
        for one in exchanges
        for block in (
            Content.styled(messages.SENT.into(language).format(number=one.number), HEADING),
            _json(request_text(one, MOST_WIRE)),
            Content.styled(received(one, language), HEADING),
            _json(reply_text(one, MOST_WIRE)),
        )
    ]
    whole = Content("\n").join(blocks)
    return LessonPage(title, lambda columns: _wrapped(whole, columns))


def _json(text: str) -> Content:
    return coloured(visible(text), "json", closed=True)


@lru_cache(KEPT)
def _text(text: str, columns: int) -> Content:
    return markdown_content(text, columns)


@lru_cache(KEPT)
def _code(source: CodeExcerpt, columns: int) -> Content:
    lines = coloured(visible(source.text.expandtabs(4)).rstrip("\n"), "python", closed=True).split("\n")
    wide = len(str(source.first_line + len(lines)))
    return Content("\n").join(
        hanging(Content.styled(f"{number:>{wide}} ", MUTED), line, columns)
        for number, line in enumerate(lines, source.first_line)
    )


def _wrapped(text: Content, columns: int) -> Content:
    return Content("\n").join(hanging(Content(""), line, columns) for line in text.split("\n", allow_blank=True))


LEADING = 6
"""Rows above a line that is scrolled to."""
SEEN = 8
"""Least characters of a row to match a line."""


class Heading(Static):
    """The heading of a pane; marked while the pane is active."""

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

    def show(self, text: str, *, active: bool) -> None:
        """Show a text on one line."""
        line = f"{'▸' if active else ' '} {visible(text)}"
        if self._text != line:
            self._text = line
            self.set_class(active, "-active")
            self._redraw()

    def _redraw(self) -> None:
        self.update(Content(self._text).truncate(max(1, self.content_region.width), ellipsis=True), layout=False)

    def on_resize(self, event: Resize) -> None:
        self._redraw()


class PageView(Static):
    """Shows a page and redraws it when its width changes."""

    DEFAULT_CSS = "PageView { height: auto; padding: 0 1; }"

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._page: LessonPage | None = None
        self._drawn: tuple[LessonPage, int] | None = None
        self._rows: list[str] = []

    def show(self, page: LessonPage) -> None:
        """Show a page."""
        self._page = page
        self._redraw()

    def row_of(self, line: str) -> int | None:
        """The first row that shows the start of this line, if any."""
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
    """A heading and a scrollable page."""

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
        """The heading."""
        return self.query_one(Heading)

    @property
    def body(self) -> VerticalScroll:
        """The scrollable part."""
        return self.query_one(VerticalScroll)

    def mark(self, name: str, *, active: bool) -> None:
        """Set the heading, and whether the pane is active."""
        self.heading.show(" · ".join(part for part in (name, self._title) if part), active=active)

    def seek(self, line: str) -> None:
        """Scroll to a line after the next drawing, if the page contains it."""
        self.call_after_refresh(self._seek, line)

    def _seek(self, line: str) -> None:
        row = self.query_one(PageView).row_of(line)
        if row is not None:
            self.body.scroll_to(y=max(0, row - LEADING), animate=False)

    def show(self, page: LessonPage) -> None:
        """Show a page from its start."""
        self._title = page.title
        self.query_one(PageView).show(page)
        self.body.scroll_home(animate=False)


class SentenceView(Static):
    """The position and the sentence of a step."""

    DEFAULT_CSS = """
    SentenceView {
        height: auto;
        max-height: 55vh;
        padding: 0 2;
        border-left: thick $primary;
        margin: 0 0 0 0;
        &.-trouble { border-left: thick $error; }
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._shown = ("", "", "")

    def show(self, where: str, sentence: str, trouble: str = "") -> None:
        """Show a sentence; `trouble` is an error below it."""
        if self._shown != (where, sentence, trouble):
            self._shown = where, sentence, trouble
            self.set_class(bool(trouble), "-trouble")
            self._redraw()

    def _redraw(self) -> None:
        where, sentence, trouble = self._shown
        columns = max(10, self.content_region.width)
        lines = [
            Content.styled(visible(where), "$text-accent"),
            hanging(Content(""), Content.styled(visible(sentence), "bold"), columns),
        ]
        if trouble:
            lines.append(hanging(Content(""), Content.styled(visible(trouble), "$text-error"), columns))
        self.update(Content("\n").join(lines))

    def on_resize(self, event: Resize) -> None:
        self._redraw()
