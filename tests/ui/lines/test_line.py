"""Rows of two columns, and the help that is made of them."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from harness.ui.commands.commands import COMMANDS, help_groups
from harness.ui.lines.line import NARROW, laid_out

BESIDE_THE_PANEL = 59
"""Columns of the conversation in a terminal of 110 columns with the panel at its side."""
WORDS = st.text("abc ", max_size=80).map(str.strip)
GROUPS = st.lists(st.tuples(st.text("XYZ", min_size=1, max_size=8), st.lists(st.tuples(WORDS, WORDS), max_size=4)))


def test_every_command_is_in_the_help_once_on_a_line_of_its_own() -> None:
    lines = list(laid_out(help_groups(), BESIDE_THE_PANEL))
    names = [name.split()[0] for name, _ in lines if name.startswith("  ") and name.strip()]
    assert names == [f"/{name}" for name in COMMANDS]
    assert max(cell_len(name + text) for name, text in lines) <= BESIDE_THE_PANEL


def test_on_a_narrow_screen_the_meaning_is_below_the_name() -> None:
    lines = [name + text for name, text in laid_out(help_groups(), 40)]
    assert lines[1:3] == ["  /help", "    list the commands, or describe one"]
    assert max(map(cell_len, lines)) <= 40


@given(GROUPS, st.integers(min_value=1, max_value=100))
def test_nothing_is_lost_and_text_never_leaves_its_column(
    groups: list[tuple[str, list[tuple[str, str]]]], width: int
) -> None:
    lines = list(laid_out(groups, width))
    said = "".join(name + text for name, text in lines).replace(" ", "")
    assert said == "".join(t + "".join(n + m for n, m in rows) for t, rows in groups).replace(" ", "")
    column = max((len(name) for name, text in lines if text), default=0)
    assert all(len(name) == column for name, text in lines if text)
    assert all(len(name + text) <= width for name, text in lines if text and column < width)
    assert width < NARROW or column <= 84
