"""The widgets of the course, and the pages of text, code and wire that they draw to their width."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from chapters.course import CodeExcerpt, Language, Lesson, LessonError, ReadmeSection, WireExchange, difference, readme
from chapters.course.plain import messages
from chapters.course.plain.wire_text import WireLine, exchange_lines
from harness.base.external_text import visible
from harness.ui.transcript.code import coloured
from harness.ui.transcript.markdown import markdown_content
from harness.ui.transcript.wrap import GOOD, MUTED, hanging

MOST_WIRE = 4_000
"""Longest text within a request."""
HEADING = "bold $text-accent"
DECIDING = "bold on $primary-muted"
KEPT = 64
"""Cached drawings."""


@dataclass(frozen=True, slots=True)
class LessonPage:
    """A page with a title."""

    title: str
    draw: Callable[[int], Content]
    """Draws lines of at most the given number of cells."""
    deciding: Callable[[int], int | None] = lambda columns: None
    """The row to show, at the given number of cells; None: the first."""


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
    return LessonPage(
        f"{source.place}{which}",
        lambda columns: Content("\n").join(_code(source, columns)),
        lambda columns: _deciding_row(source, columns),
    )


def difference_page(lesson: Lesson) -> LessonPage:
    """What is new in my_agent.py. Raises LessonError."""
    text = visible(difference(lesson))
    return LessonPage(f"{lesson.agent} ±", lambda columns: _wrapped(coloured(text, "diff", closed=True), columns))


def wire_page(exchanges: Sequence[tuple[WireExchange, WireExchange | None]], language: Language) -> LessonPage:
    """Requests and responses, each with the request it is compared with."""
    title = messages.WIRE.into(language)
    if not exchanges:
        return LessonPage(title, lambda columns: Content(messages.NO_WIRE.into(language)))
    lines = [line for one, before in exchanges for line in exchange_lines(one, before, language, MOST_WIRE)]
    drawn = tuple(map(_wire_line, lines))
    return LessonPage(title, lambda columns: Content("\n").join(hanging(mark, line, columns) for mark, line in drawn))


def _wire_line(line: WireLine) -> tuple[Content, Content]:
    mark, text = Content.styled("+ " if line.new else "  ", GOOD), visible(line.text)
    match line.kind:
        case "heading":
            return Content(""), Content.styled(text, HEADING)
        case "header":
            return mark, Content.styled(text, MUTED)
        case "event":
            return mark, Content(text)
        case "json":
            shown = coloured(text, "json", closed=True)
            return mark, shown.stylize("bold") if line.new else shown


@lru_cache(KEPT)
def _text(text: str, columns: int) -> Content:
    return markdown_content(text, columns)


@lru_cache(KEPT)
def _code(source: CodeExcerpt, columns: int) -> tuple[Content, ...]:
    """The lines of the code; a long one takes several rows."""
    lines = coloured(visible(source.text.expandtabs(4)).rstrip("\n"), "python", closed=True).split("\n")
    wide = len(str(source.first_line + len(lines)))
    return tuple(
        _code_line(f"{number:>{wide}}", line, columns, deciding=number == source.deciding)
        for number, line in enumerate(lines, source.first_line)
    )


def _code_line(number: str, line: Content, columns: int, *, deciding: bool) -> Content:
    if not deciding:
        return hanging(Content.styled(f"{number} ", MUTED), line, columns)
    rows = hanging(Content.styled(f"{number}▸", HEADING), line, columns).split("\n")
    return Content("\n").join(row.pad_right(max(0, columns - row.cell_length)).stylize(DECIDING) for row in rows)


def _deciding_row(source: CodeExcerpt, columns: int) -> int | None:
    if not source.deciding:
        return None
    before = _code(source, columns)[: source.deciding - source.first_line]
    return sum(len(line.split("\n", allow_blank=True)) for line in before)


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


class PageView(Widget):
    """Shows a page, drawn to the width that the layout gives it."""

    DEFAULT_CSS = "PageView { height: auto; padding: 0 1; }"

    def __init__(self) -> None:
        super().__init__()
        self._page: LessonPage | None = None
        self._drawn: tuple[LessonPage, int, Content] | None = None

    def show(self, page: LessonPage) -> None:
        """Show a page."""
        if page is not self._page:
            self._page = page
            self.refresh(layout=True)

    @property
    def deciding(self) -> int | None:
        """The row that the page wants in view, if any."""
        return None if self._page is None else self._page.deciding(self.content_size.width)

    def row_of(self, line: str) -> int | None:
        """The first row that shows the start of this line, if any."""
        rows = enumerate(row.strip() for row in self.render().plain.split("\n"))
        return next((number for number, row in rows if len(row) >= SEEN and line.strip().startswith(row)), None)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Rows at this width, which the layout asks for before it gives the page its place."""
        return self._at(width).plain.count("\n") + 1

    def render(self) -> Content:
        return self._at(self.content_size.width)

    def _at(self, columns: int) -> Content:
        if self._page is None or columns <= 0:
            return Content("")
        if self._drawn is None or self._drawn[:2] != (self._page, columns):
            self._drawn = self._page, columns, self._page.draw(columns)
        return self._drawn[2]


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
    _sought: tuple[str, ...] = ()

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

    def seek(self, *lines: str) -> None:
        """Keep the first of these lines that the page contains in view, also when the width changes."""
        self._sought = lines
        self.call_after_refresh(self._seek)

    def _seek(self) -> None:
        page = self.query_one(PageView)
        rows = (page.deciding, *map(page.row_of, self._sought))
        row = next((row for row in rows if row is not None), None)
        if row is not None:
            above = min(LEADING, self.body.size.height // 3)
            self.body.scroll_to(y=max(0, row - above), animate=False)

    def show(self, page: LessonPage) -> None:
        """Show a page: its deciding row, or its start."""
        self._title = page.title
        self.query_one(PageView).show(page)
        self.body.scroll_home(animate=False)
        self.seek()

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._seek)


class SentenceView(Widget):
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
        super().__init__()
        self._shown = ("", "", "")

    def show(self, where: str, sentence: str, trouble: str = "") -> None:
        """Show a sentence; `trouble` is an error below it."""
        if self._shown != (where, sentence, trouble):
            self._shown = where, sentence, trouble
            self.set_class(bool(trouble), "-trouble")
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Rows at this width."""
        return self._at(width).plain.count("\n") + 1

    def render(self) -> Content:
        return self._at(self.content_size.width)

    def _at(self, width: int) -> Content:
        where, sentence, trouble = self._shown
        columns = max(10, width)
        lines = [
            Content.styled(visible(where), "$text-accent"),
            hanging(Content(""), Content.styled(visible(sentence), "bold"), columns),
        ]
        if trouble:
            lines.append(hanging(Content(""), Content.styled(visible(trouble), "$text-error"), columns))
        return Content("\n").join(lines)
