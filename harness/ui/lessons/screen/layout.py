"""How the parts of the course stand on the screen."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from harness.ui.app.split_view import Stage
from harness.ui.lessons.screen.pane import Heading, Pane
from harness.ui.lessons.screen.panes import HIGH, Part

HEIGHTS = [(0, "-low"), (HIGH, "-high")]
"""For the app: classes of its screen by its rows."""

LAYOUT_CSS = """
#lesson { height: 1fr; }
#lesson > #pages { width: 1fr; }
#lesson > #talk { width: 1fr; }
#lesson > #talk.-beside { border-left: solid $surface-lighten-2; }
#text { height: 2fr; }
#code { height: 3fr; }
#lesson LessonStage { layout: vertical; }
#lesson LessonStage > PanelView {
    width: 1fr; height: auto; max-height: 35vh;
    border-left: none; border-top: solid $surface-lighten-2;
}
.-high Saying { padding: 1 2; }
#lesson.-reading #text { max-width: 100; }
"""


class LessonStage(Stage):
    """Conversation and panel, the panel always below."""

    @property
    def below(self) -> bool:
        """It takes rows that are missed elsewhere."""
        return self.app.size.height < HIGH


class Parts(Horizontal):
    """Text and code at the left, the conversation at the right; or fewer of them."""

    def __init__(self) -> None:
        super().__init__(id="lesson")

    def compose(self) -> ComposeResult:
        with Vertical(id="pages"):
            yield Pane(id="text")
            yield Pane(id="code")
        with Vertical(id="talk"):
            yield Heading()
            yield LessonStage()

    @property
    def text(self) -> Pane:
        """The chapter's text."""
        return self.query_one("#text", Pane)

    @property
    def code(self) -> Pane:
        """Code, a difference, or the wire."""
        return self.query_one("#code", Pane)

    @property
    def talk_heading(self) -> Heading:
        """The line above the conversation."""
        return self.query_one("#talk", Vertical).query_one(Heading)

    def show(self, parts: frozenset[Part], *, reading: bool) -> None:
        """Show these parts and no others."""
        self.set_class(reading, "-reading")
        pages = self.query_one("#pages", Vertical)
        talk = self.query_one("#talk", Vertical)
        pages.display = bool(parts & {Part.TEXT, Part.CODE})
        self.text.display = Part.TEXT in parts
        self.code.display = Part.CODE in parts
        talk.display = Part.TALK in parts
        talk.set_class(pages.display, "-beside")
