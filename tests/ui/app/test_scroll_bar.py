"""The scrollbar beside the conversation, and the clock of the frames."""

import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color
from textual.geometry import Region
from textual.scrollbar import ScrollBarRender
from textual.theme import BUILTIN_THEMES

from harness.ui.app.chat import Chat
from harness.ui.app.readable_colours import contrast
from harness.ui.app.scroll_bar import bar_rows
from harness.ui.transcript.entries import TextEntry
from tests.ui.app.screens import settled
from tests.ui.app.test_chat import Plain

BACK, BAR = Color.parse("#101010"), Color.parse("#a0a0a0")


class Host(App[None]):
    """A conversation alone."""

    def compose(self) -> ComposeResult:
        yield Chat(Plain())


def looks(segments: Iterable[Segment]) -> list[tuple[str, bool, object]]:
    """What each row shows, whether it is reversed, and what pressing it does."""
    return [(text, bool(style and style.reverse), style and style.meta) for text, style, _ in segments]


@example(45, 45, 0.07421875)  # between two eighths, if the quotients are not taken in the same order
@given(st.integers(1, 60), st.integers(1, 5_000), st.floats(0, 1))
def test_it_looks_and_works_like_the_one_of_textual(rows: int, hidden: int, share: float) -> None:
    total, position = rows + hidden, int(hidden * share * 8) / 8
    colours: list[Any] = [BACK.rich_color, BAR.rich_color]
    theirs = ScrollBarRender.render_bar(rows, total, rows, position, 1, True, *colours)  # noqa: FBT003
    ours = bar_rows(rows, total, rows, position, BACK, BAR)
    assert looks(segment for strip in ours for segment in strip) == looks(theirs.segments)


@pytest.mark.anyio
async def test_only_rows_that_look_different_are_drawn() -> None:
    app = Host()
    async with app.run_test(size=(40, 20)) as pilot:
        chat = app.query_one(Chat)
        chat.update([TextEntry(f"entry {number}") for number in range(2_000)])
        await settled(pilot)
        bar = chat.vertical_scrollbar
        bar._exchange_repaint_regions()
        bar.window_virtual_size += 1
        assert sum(region.height for region in bar._repaint_regions) < 4
        bar.position -= 400
        assert 2 < sum(region.height for region in bar._repaint_regions) < 20
        app.theme = "textual-light"
        await settled(pilot)
        shown = [list(row)[-1].style for row in app.screen._compositor.render_strips()]
        background = app.theme_variables["background"].lower()
        assert all(style and style.bgcolor and background in str(style.bgcolor).lower() for style in shown[5:]), shown


@pytest.mark.anyio
@pytest.mark.parametrize("theme", sorted(BUILTIN_THEMES))
async def test_the_thumb_is_seen_in_every_theme(theme: str) -> None:
    app = Host()
    app.theme = theme
    async with app.run_test(size=(40, 20)) as pilot:
        chat = app.query_one(Chat)
        chat.update([TextEntry(f"entry {number}") for number in range(50)])
        await settled(pilot)
        bar = chat.vertical_scrollbar
        strips = bar.render_lines(Region(0, 0, 1, bar.outer_size.height))
        styles = [next(iter(strip)).style for strip in strips]
        thumb = next(style for style in styles if style and style.color)
        assert thumb.color
        assert thumb.bgcolor
        if thumb.color.triplet is None or thumb.bgcolor.triplet is None:  # the terminal's own colours
            assert thumb.color not in (thumb.bgcolor, Style.parse("default").color)
        else:
            assert contrast(Color.from_rich_color(thumb.color), Color.from_rich_color(thumb.bgcolor)) > 1.5


def test_a_frame_may_follow_after_a_120th_of_a_second_and_commands_do_not_inherit_that() -> None:
    shows = "import harness.ui.app, os, textual.constants as c; print(c.MAX_FPS, os.environ.get('TEXTUAL_FPS'))"
    environ = {name: value for name, value in os.environ.items() if name != "TEXTUAL_FPS"}
    for more, expected in (({}, "120 None"), ({"TEXTUAL_FPS": "30"}, "30 30")):
        ran = subprocess.run(
            [sys.executable, "-c", shows], env=environ | more, check=False, capture_output=True, text=True
        )
        assert ran.stdout.strip() == expected, ran.stderr
