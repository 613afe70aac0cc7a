"""Conversation and panel side by side, or one below the other where there is little room."""

from textual.app import ComposeResult
from textual.containers import Container

from harness.ui.app.chat import Chat
from harness.ui.app.panel_view import PanelView

WIDE = 100
"""Columns from which the panel stands at the side."""
BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]
"""For an app that shows a stage: classes of its screen by its columns."""

STAGE_CSS = """
Stage {
    height: 1fr;
    layout: horizontal;
}
Stage > Chat { width: 1fr; height: 1fr; }
Stage > PanelView { width: 48; height: 1fr; border-left: solid $surface-lighten-2; }
Stage.-no-panel > PanelView { display: none; }
.-narrow Stage { layout: vertical; }
.-narrow Stage > PanelView {
    width: 1fr; height: auto; max-height: 40vh;
    border-left: none; border-top: solid $surface-lighten-2;
}
"""
"""How they stand; part of the app's own styles, because it goes by a class of the screen."""


class Stage(Container):
    """The two views of one session. The classes `-narrow` and `-wide` of the screen say how they stand."""

    def compose(self) -> ComposeResult:
        yield Chat()
        yield PanelView()

    @property
    def stands(self) -> bool:
        """Both views are there: they have been composed, and the app is not closing."""
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
        """The panel stands below the conversation, where every row counts."""
        return self.screen.has_class("-narrow")

    def toggle_panel(self) -> bool:
        """Show or hide the panel; returns whether it is shown now."""
        hidden = self.toggle_class("-no-panel").has_class("-no-panel")
        if not hidden:
            self.call_after_refresh(self.panel.redraw)
        return not hidden
