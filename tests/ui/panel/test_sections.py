"""The panel at every size."""

import pytest

from harness.ui.panel.state import Panel
from tests.ui.panel import situations as situation
from tests.ui.panel.drawn import KEYS, look
from tests.ui.panel.situations import ALL


@pytest.mark.parametrize(
    ("panel", "line"),
    [
        (situation.CALM, "model    claude-sonnet-4-6 answers"),
        (situation.WAITING, "model    529 overloaded · next try in 3 s · 3 of 10"),
        (situation.OPEN, "1 paused: grep"),
        (situation.SYSTEMIC, 'loop     read_file src/settings.py + grep "TIMEOUT_S" + glo…'),
        (situation.PAUSED, "paused   the failure budget of this turn is used up"),
        (situation.ASKED, "model    may bash run?"),
        (situation.LOOP_ASKED, "model    a loop was found; what now?"),
        (situation.NUDGED, "loop     read_file notes.txt, 4 times in a row, with the sa…"),
        (situation.STOPPED_IN_A_LOOP, "loop     read_file notes.txt, 4 times in a row, with the sa…"),
    ],
)
def test_one_line_says_the_most_important_thing(panel: Panel, line: str) -> None:
    assert look(panel, height=1) == [line]


@pytest.mark.parametrize("name", ALL)
def test_every_situation_fits_into_any_room_and_more_room_never_says_less(name: str) -> None:
    for width in (30, 44, 100):
        whole = look(ALL[name], width, 200, actions=KEYS)
        assert len(whole) < 60
        for height in range(1, len(whole)):
            assert len(look(ALL[name], width, height, actions=KEYS)) <= height
        assert all(look(ALL[name], width, height, actions=KEYS) == whole for height in (len(whole), 60))


def test_a_moment_of_the_past_says_which_and_what_happened_in_it() -> None:
    fold = situation.recorded("grep-dies")
    lines = look(fold.at_step(3), shown_step=3)
    assert lines[0] == "◂ step 3 of 8 · a tool was paused"
    assert lines[-1] == "steps    ✗ ✗ ⊘ ○ · ◌ · ●"
