"""Lines stay as wide as they are counted, also in terminals that draw the parts of a character one by one."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from harness.ui.app.cell_filter import CellFilter, joins_clusters
from tests.ui.app.test_in_a_terminal import PRACTICE, script
from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

FAMILY, THUMB, HEART, FLAG, RAINBOW = "👨‍👩‍👧", "👍🏽", "❤️", "🇯🇵", "🏳️‍🌈"
EMOJI = (
    FAMILY,
    THUMB,
    HEART,
    FLAG,
    RAINBOW,
    "1️⃣",
    "©️",
    "🤷🏽‍♀️",
    "👩🏽‍❤️‍💋‍👨🏼",
    "🏴\U000e0067\U000e0062\U000e007f",
    "⌚︎",
    "🏽",
)
LETTERS = ("a", " ", "天", "か\u3099", "e\u0301", "हिन्दी", "நி", "क्\u200dष", "กำ", "│", "…", "\ufeff", "\u200b")
BLACK = Color(0, 0, 0)
PADDING, EDGE = 40, "│"


def cells_one_by_one(text: str) -> int:
    """Cells where each code point has its own: none for marks and format characters, two for wide ones."""
    narrow = [one for one in text if unicodedata.category(one) not in ("Mn", "Me", "Cf")]
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in narrow)


@given(st.lists(st.sampled_from(EMOJI + LETTERS), max_size=8), st.integers(0, 8))
def test_the_edge_behind_a_text_stays_in_its_column(parts: list[str], cut: int) -> None:
    segments = ["".join(parts[:cut]), "".join(parts[cut:])]
    line = [Segment(text) for text in (*segments, " " * PADDING, EDGE)]
    drawn = "".join(text for text, _, _ in CellFilter().apply(line, BLACK))
    assert drawn.endswith(EDGE)
    assert cells_one_by_one(drawn) == sum(map(cell_len, segments)) + PADDING + 1


def test_a_cluster_becomes_its_first_part_and_a_flag_its_letters() -> None:
    [shown] = CellFilter().apply([Segment(f"{FAMILY}{THUMB}{HEART}{FLAG}{RAINBOW}.")], BLACK)
    assert shown.text == "👨👍❤ JP🏳 ."
    same = [Segment("天気 ok é")]
    assert CellFilter().apply(same, BLACK) == same


@pytest.mark.parametrize(
    ("joins", "environ"),
    [
        (True, {"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}),
        (True, {"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}),
        (True, {"TERM": "foot"}),
        (False, {"TERM": "xterm-256color"}),
        (False, {"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}),
        (False, {"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty", "TMUX": "/tmp/tmux"}),
    ],
)
def test_which_terminals_join_the_parts_of_a_character(joins: bool, environ: dict[str, str]) -> None:
    assert joins_clusters(environ) is joins


@pytest.mark.anyio
@pytest.mark.stories
@pytest.mark.skipif(TMUX is None, reason=REASON)
async def test_the_border_of_the_panel_is_straight_in_a_real_terminal(place: Place) -> None:
    parts = (FAMILY, THUMB, HEART, FLAG, RAINBOW, "1️⃣", "天気", "か\u3099", "e\u0301", "हिन्दी", "நி")
    answer = "\\n\\n".join(f"{part} and {part}" for part in parts)
    replies = script(place, f'[[reply]]\ntext = "{answer}\\n\\nThe end."\n')
    async with Tmux(place, PRACTICE, replies, columns=120, rows=36, LC_ALL="C.UTF-8") as terminal:
        await terminal.sees("asks first")
        await terminal.say("hello")
        screen = await terminal.sees("The end.", "1 request", gone=("Esc stop",))  # a running turn's line has no border
    rows = screen.splitlines()[:-4]  # without the frame of the prompt and the status line
    assert [row for row in rows if EDGE not in row] == []
    assert {cells_one_by_one(row[: row.index(EDGE)]) for row in rows} == {cells_one_by_one(rows[0].split(EDGE)[0])}
