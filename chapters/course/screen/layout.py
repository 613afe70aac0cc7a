"""The layout of the course: panes, their visibility, and the focus."""

from enum import Enum

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from chapters.course.screen.panes import Heading, Pane
from harness.ui.app.panel_view import SplitView

WIDE = 100
"""Least columns for two panes side by side."""
CODE_COLUMNS = 94
"""Columns of the code pane while it is active: lines of 88 characters with their numbers."""
LEAST_BESIDE = 24
"""Least columns that the conversation has beside it."""
HIGH = 34
"""Least rows for text and code together."""


class Part(Enum):
    """A pane of the screen."""

    TEXT = "text"
    CODE = "code"
    """Code, diff or wire."""
    TALK = "talk"
    """Conversation and panel."""


def in_sight(columns: int, rows: int, active: Part, *, reading: bool) -> frozenset[Part]:
    """The visible panes on a screen of this size, always including the active one. `reading`: the text only."""
    if reading:
        return frozenset({Part.TEXT})
    if columns < (CODE_COLUMNS + LEAST_BESIDE if active is Part.CODE else WIDE):
        return frozenset({active})
    if rows >= HIGH:
        return frozenset(Part)
    return frozenset({Part.TALK, Part.TEXT if active is Part.TEXT else Part.CODE})


ORDER = (Part.TEXT, Part.CODE, Part.TALK)


class CodeView(Enum):
    """Content of the code pane."""

    CODE = "code"
    DIFFERENCE = "difference"
    WIRE = "wire"


class LessonFocus:
    """The active pane and the content of the code pane."""

    def __init__(self) -> None:
        self.active = Part.TALK
        """The pane that keys scroll, and the only one on a narrow screen."""
        self.reading = True
        """Show the text only."""
        self.kind = CodeView.CODE
        self.piece = 0
        """Index of the piece of code; the first belongs to the step."""

    def arrive(self, *, at_beginning: bool) -> None:
        """Reset for another place."""
        self.reading = at_beginning
        self.piece = 0
        if self.kind is CodeView.DIFFERENCE:
            self.kind = CodeView.CODE
        if self.active is Part.TEXT:
            self.active = Part.TALK

    def code(self) -> None:
        """Show the code of the step, or the next piece if code is active."""
        if self.scrolled is Part.CODE and self.kind is CodeView.CODE:
            self.piece += 1
        self.turn_to(CodeView.CODE)

    def turn_to(self, kind: CodeView) -> None:
        """Show a view in the code pane."""
        self.kind, self.active, self.reading = kind, Part.CODE, False

    def read(self) -> None:
        """Toggle the text-only view."""
        self.reading = not self.reading

    def cycle(self, by: int) -> None:
        """Activate the next or previous pane."""
        self.reading = False
        self.active = ORDER[(ORDER.index(self.active) + by) % len(ORDER)]

    def back(self) -> None:
        """Return to the conversation and the code of the step."""
        self.kind, self.active, self.reading = CodeView.CODE, Part.TALK, False

    @property
    def scrolled(self) -> Part:
        """The pane that keys scroll."""
        return Part.TEXT if self.reading else self.active


HEIGHTS = [(0, "-low"), (HIGH, "-high")]
"""Classes of the screen by its rows, for the app."""

LAYOUT_CSS = """
#lesson { height: 1fr; }
#lesson > #pages { width: 1fr; }
#lesson > #talk { width: 1fr; }
#lesson > #talk.-beside { border-left: solid $rule; }
#text { height: 2fr; }
#code { height: 3fr; }
#lesson LessonSplitView { layout: vertical; }
#lesson LessonSplitView > PanelView {
    width: 1fr; max-width: 100%; height: auto; max-height: 35vh; padding: 0 1;
    border-left: none; border-top: solid $rule;
}
.-high SentenceView { padding: 1 2; }
#lesson.-reading #text { max-width: 100; }
"""


class LessonSplitView(SplitView):
    """Conversation with the panel below it."""

    @property
    def below(self) -> bool:
        """Whether rows are scarce."""
        return self.app.size.height < HIGH


class LessonPanes(Horizontal):
    """Text and code on the left, conversation on the right."""

    def __init__(self) -> None:
        super().__init__(id="lesson")

    def compose(self) -> ComposeResult:
        with Vertical(id="pages"):
            yield Pane(id="text")
            yield Pane(id="code")
        with Vertical(id="talk"):
            yield Heading()
            yield LessonSplitView()

    @property
    def text(self) -> Pane:
        """The text of the chapter."""
        return self.query_one("#text", Pane)

    @property
    def code(self) -> Pane:
        """Code, diff or wire."""
        return self.query_one("#code", Pane)

    @property
    def talk_heading(self) -> Heading:
        """The line above the conversation."""
        return self.query_one("#talk", Vertical).query_one(Heading)

    def show(self, parts: frozenset[Part], *, reading: bool, code_first: bool) -> None:
        """Show only these panes; `code_first`: with room for whole lines of code."""
        self.set_class(reading, "-reading")
        pages = self.query_one("#pages", Vertical)
        pages.styles.width = CODE_COLUMNS if code_first else "1fr"
        talk = self.query_one("#talk", Vertical)
        pages.display = bool(parts & {Part.TEXT, Part.CODE})
        self.text.display = Part.TEXT in parts
        self.code.display = Part.CODE in parts
        talk.display = Part.TALK in parts
        talk.set_class(pages.display, "-beside")
