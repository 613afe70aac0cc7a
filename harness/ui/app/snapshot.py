"""SVG snapshots of a session, drawn by the live views without a terminal."""

from collections.abc import Sequence

from textual.app import ComposeResult

from harness.base.errors import HarnessError
from harness.session import Record
from harness.ui.app.panel_view import BREAKPOINTS, SPLIT_CSS, PanelView, SplitView
from harness.ui.app.pickers import known_theme
from harness.ui.app.readable_colours import ReadableColours
from harness.ui.app.status_line import Status, StatusLine
from harness.ui.app.views import EntryRenderer
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.layout import Lines
from harness.ui.panel.sections import panel_rows
from harness.ui.transcript.fold import Transcript

SETTLED_S = 0.04
"""Seconds without a change after which the screen is settled: two frames of Textual."""


class SnapshotApp(ReadableColours):
    """Conversation and panel, or the panel only, after some records."""

    CSS = (
        SPLIT_CSS
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
            self._transcript.on_event(record.event, record.at)
            self._fold.on_event(record.event, record.at)
        self._session = name
        if theme:
            self.theme = known_theme(theme, sorted(self.available_themes))

    def compose(self) -> ComposeResult:
        yield PanelView() if self._panel_only else SplitView()
        yield StatusLine()

    def on_mount(self) -> None:
        panel = self._fold.now
        self.query_one(PanelView).set_renderer(self._drawn)
        for split_view in self.query(SplitView):
            split_view.chat.set_renderer(EntryRenderer(lambda: panel.at))
            split_view.chat.update(self._transcript.entries)
        self.query_one(StatusLine).show(Status((self._session, f"turn {panel.turn}", f"step {panel.step}")))

    def _drawn(self, columns: int, rows: int) -> Lines:
        panel = self._fold.now
        return panel_rows(panel, columns, rows, panel.at)


async def snapshot_svg(
    records: Sequence[Record], name: str, *, columns: int, rows: int, theme: str = "", panel_only: bool = False
) -> str:
    """The screen after `records` as an SVG.

    Args:
        records: oldest first.
        name: shown in the status line.
        columns: width of the screen.
        rows: height of the screen.
        theme: a theme of Textual; empty: the default.
        panel_only: without the conversation.

    Raises HarnessError for an unknown theme.
    """
    app = SnapshotApp(records, name, theme=theme, panel_only=panel_only)
    async with app.run_test(size=(columns, rows)) as pilot:
        await pilot.pause()
        before, drawn = "", app.export_screenshot(title=f"harness · {name}")
        while drawn != before:  # the layout changes once more when all heights are known
            await pilot.pause(SETTLED_S)
            before, drawn = drawn, app.export_screenshot(title=f"harness · {name}")
        return drawn


def parse_size(text: str) -> tuple[int, int]:
    """Columns and rows in a text such as "120x36". Raises HarnessError."""
    columns, _, rows = text.lower().partition("x")
    if not (columns.isdecimal() and rows.isdecimal() and 20 <= int(columns) <= 400 and 5 <= int(rows) <= 200):
        raise HarnessError(f"{text!r} is not a size; give columns and rows, for example 120x36.")
    return int(columns), int(rows)
