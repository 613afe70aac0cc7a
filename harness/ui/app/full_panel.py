"""The panel on the whole screen: every tool, every failure, and the steps to walk through."""

from collections.abc import Callable
from typing import ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen

from harness.ui.app.panel_view import PanelView
from harness.ui.app.status import Status, StatusLine


class Moments(Protocol):
    """Who knows the moments that can be shown."""

    def content(self, columns: int, rows: int) -> Content:
        """The moment that is shown, drawn into so much space."""
        ...

    def walk(self, by: int) -> None:
        """Show the step that lies `by` steps further."""
        ...

    def jump(self, *, backwards: bool) -> bool:
        """Show the next step in which something went wrong."""
        ...

    def show_step(self, step: int | None) -> None:
        """Show a step; None: the present."""
        ...

    @property
    def shown_step(self) -> int | None:
        """The step of the past that is shown; None: the present."""
        ...


class FullPanel(Screen[None]):
    """Shows the panel in all the space there is."""

    DEFAULT_CSS = """
    FullPanel {
        & > PanelView { height: 1fr; padding: 0 2; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f3,q", "dismiss", "back", show=False),
        Binding("escape", "back", "back", show=False),
        Binding("left,h", "walk(-1)", "step back", show=False),
        Binding("right,l", "walk(1)", "step on", show=False),
        Binding("n", "jump(False)", "next incident", show=False),
        Binding("p", "jump(True)", "incident before", show=False),
        Binding("end", "now", "now", show=False),
    ]

    KEYS = (("←→", "steps"), ("n p", "incidents"), ("End", "now"), ("F3", "back"))

    def __init__(self, moments: Callable[[], Moments]) -> None:
        """`moments` gives those of the session that is shown now; who changes them redraws this screen."""
        super().__init__()
        self._moments = moments

    def compose(self) -> ComposeResult:
        yield PanelView()
        yield StatusLine()

    def on_mount(self) -> None:
        self.query_one(PanelView).use(lambda columns, rows: self._moments().content(columns, rows))
        self.redraw()

    @property
    def _past(self) -> bool:
        return self._moments().shown_step is not None

    def redraw(self) -> None:
        """Draw what is shown now."""
        for panel in self.query(PanelView):  # there is none before the screen is composed
            panel.redraw()
        when = "a moment of the past" if self._past else "now"
        for status in self.query(StatusLine):
            status.tell(Status((when,), keys=self.KEYS))

    def action_walk(self, by: int) -> None:
        self._moments().walk(by)

    def action_jump(self, backwards: bool) -> None:
        if not self._moments().jump(backwards=backwards):
            self.query_one(StatusLine).tell(Status(("no incident there",), keys=self.KEYS))

    def action_now(self) -> None:
        self._moments().show_step(None)

    def action_back(self) -> None:
        if self._past:
            self.action_now()
        else:
            self.dismiss(None)
