"""The panel as one text."""

from typing import Any

from textual.content import Content

from harness.ui.panel.sections import panel_rows
from harness.ui.panel.state import Panel


def panel_content(panel: Panel, width: int, height: int, now: float, **options: Any) -> Content:
    """The rows of the panel below each other; see `panel_rows`."""
    return Content("\n").join(panel_rows(panel, width, height, now, **options))
