"""The screen of an app as text."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.segment import Segment
from textual.app import App
from textual.events import MouseDown, MouseUp
from textual.pilot import Pilot

COLOURS = ("text-warning", "text-error", "text-success")
"""Colours with a meaning; the others are decoration. In the default theme, warnings use the accent colour."""


def screen_lines(app: App[Any]) -> list[str]:
    """The rows of the screen without blanks at their ends."""
    return ["".join(segment.text for segment in row).rstrip() for row in screen_rows(app)]


def screen_text(app: App[Any]) -> str:
    """The rows as one text."""
    return "\n".join(screen_lines(app))


async def settled(pilot: Pilot[Any]) -> list[str]:
    """The rows once they stop changing."""
    await pilot.pause()
    before, now = list[str](), screen_lines(pilot.app)
    while now != before:
        await pilot.pause(0.04)
        before, now = now, screen_lines(pilot.app)
    return now


async def click(pilot: Pilot[Any], column: int, row: int) -> None:
    """Click as a terminal does, so that the app finds the widget under the pointer."""
    for kind in (MouseDown, MouseUp):
        pilot.app.post_message(kind(None, column, row, 0, 0, 1, shift=False, meta=False, ctrl=False))
    await pilot.pause()


def coloured(app: App[Any]) -> list[str]:
    """The text in meaningful colours: row from 1, name of the colour, text."""
    names = {app.theme_variables[name].upper(): name.removeprefix("text-") for name in COLOURS}
    return [
        f"{number:>2} {name:<7} {text.strip()}"
        for number, row in enumerate(screen_rows(app), 1)
        for name, text in _runs(row, names)
        if name and text.strip()
    ]


def _runs(row: Sequence[Segment], names: dict[str, str]) -> list[tuple[str, str]]:
    """Join neighbours of one colour; give each run the name of its colour, or ""."""
    runs: list[tuple[str, str]] = []
    for segment in row:
        colour = segment.style.color if segment.style is not None else None
        name = names.get(colour.triplet.hex.upper(), "") if colour is not None and colour.triplet else ""
        if runs and runs[-1][0] == name:
            runs[-1] = name, runs[-1][1] + segment.text
        else:
            runs.append((name, segment.text))
    return runs


def screen_rows(app: App[Any]) -> Iterator[list[Segment]]:
    """The rows with their styles."""
    for strip in app.screen._compositor.render_strips():
        yield list(strip)
