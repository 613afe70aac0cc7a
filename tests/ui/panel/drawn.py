"""The panel as one text."""

from typing import Any

from textual.content import Content

from harness.ui.panel.sections import panel_rows
from harness.ui.panel.state import Panel
from tests.ui.panel.situations import NOW

KEYS = (("Alt+R", "retry now"), ("Alt+M", "fallback model"), ("Esc", "stop"))


def panel_content(panel: Panel, width: int, height: int, now: float, **options: Any) -> Content:
    """The rows of the panel below each other; see `panel_rows`."""
    return Content("\n").join(panel_rows(panel, width, height, now, **options))


def look(panel: Panel, width: int = 60, height: int = 60, now: float = NOW, **more: object) -> list[str]:
    """The lines of the panel without their styles."""
    return panel_content(panel, width, height, now, **more).plain.split("\n")


def says(panel: Panel, *texts: str, width: int = 60, **more: object) -> None:
    """The panel has lines with these texts, in this order."""
    lines = iter(look(panel, width, **more))  # type: ignore[arg-type]
    for text in texts:
        assert any(text in line for line in lines), f"{text!r} is not in\n" + "\n".join(look(panel, width))


def colours(content: Content) -> set[str]:
    return {str(span.style) for span in content.spans}
