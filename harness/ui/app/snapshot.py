"""A picture of one moment of a session: the same views as live, drawn without a terminal."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.content import Content

from harness.base.errors import HarnessError
from harness.session import Record
from harness.ui.app.entry_view import EntryDrawing
from harness.ui.app.panel_view import PanelView
from harness.ui.app.readable_colours import ReadableColours
from harness.ui.app.screen_commands import known_theme
from harness.ui.app.split_view import BREAKPOINTS, STAGE_CSS, Stage
from harness.ui.app.status import Status, StatusLine
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.sections import panel_content
from harness.ui.transcript.fold import Transcript

SETTLED_S = 0.04
"""Seconds after which a screen that is still the same does not change any more: two frames of Textual's."""


class Still(ReadableColours):
    """Conversation and panel, or the panel alone, as they were after some records."""

    CSS = (
        STAGE_CSS
        + """
    Screen { layout: vertical; }
    Screen > PanelView { height: 1fr; }
    """
    )
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS

    def __init__(self, records: Sequence[Record], name: str, *, theme: str, panel_only: bool) -> None:
        super().__init__()
        self._panel_only = panel_only
        self._transcript = Transcript()
        self._fold = PanelFold()
        for record in records:
            self._transcript.see(record.event, record.at)
            self._fold.see(record.event, record.at)
        self._session = name
        if theme:
            self.theme = known_theme(theme, sorted(self.available_themes))

    def compose(self) -> ComposeResult:
        yield PanelView() if self._panel_only else Stage()
        yield StatusLine()

    def on_mount(self) -> None:
        panel = self._fold.now
        self.query_one(PanelView).use(self._drawn)
        for stage in self.query(Stage):
            stage.chat.use(EntryDrawing(lambda: panel.at))
            stage.chat.update(self._transcript.entries)
        self.query_one(StatusLine).tell(Status((self._session, f"turn {panel.turn}", f"step {panel.step}")))

    def _drawn(self, columns: int, rows: int) -> Content:
        panel = self._fold.now
        return panel_content(panel, columns, rows, panel.at)


async def picture(
    records: Sequence[Record], name: str, *, columns: int, rows: int, theme: str = "", panel_only: bool = False
) -> str:
    """The moment after `records` as an SVG of so many columns and rows.

    Args:
        records: what had happened by then, oldest first.
        name: what the status line calls it.
        theme: one of Textual's themes; empty: the default one.
        panel_only: without the conversation.

    Raises HarnessError for a theme that does not exist.
    """
    app = Still(records, name, theme=theme, panel_only=panel_only)
    async with app.run_test(size=(columns, rows)) as pilot:
        await pilot.pause()
        before, drawn = "", app.export_screenshot(title=f"harness · {name}")
        while drawn != before:  # what stands there first moves once more when all heights are known
            await pilot.pause(SETTLED_S)
            before, drawn = drawn, app.export_screenshot(title=f"harness · {name}")
        return drawn


def size_of(text: str) -> tuple[int, int]:
    """Columns and rows in a text such as "120x36". Raises HarnessError."""
    columns, _, rows = text.lower().partition("x")
    if not (columns.isdecimal() and rows.isdecimal() and 20 <= int(columns) <= 400 and 5 <= int(rows) <= 200):
        raise HarnessError(f"{text!r} is no size; give columns and rows, for example 120x36.")
    return int(columns), int(rows)
