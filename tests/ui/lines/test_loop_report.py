"""The report of a turn that ended in a loop."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.events import Attempt, Rung
from harness.ui.lines.loop_report import NARROWEST, stuck_lines
from tests.ui.loops import REPORT

TEXT = st.text(st.sampled_from("ab -\n天"), max_size=60)
LONGEST_START = len("  step 9999  other tool  ")
ATTEMPTS = st.builds(Attempt, st.sampled_from(Rung), st.integers(1, 9_999), TEXT)


def test_it_says_what_repeats_what_was_tried_and_what_a_person_can_do() -> None:
    assert stuck_lines(REPORT) == (
        "IN A LOOP: read_file notes.txt, 4 times in a row, with the same result each time",
        "The turn ended in step 12, after 8 steps in it.",
        "",
        "What was tried",
        "  step  6  nudge       the model is told that it repeats itself",
        "  step  8  other tool  bash in place of read_file; loses: line numbers",
        "  step 10  rollback    back to the end of step 2",
        "",
        "What you can do",
        "  1. Say in other words what you want, or what the file should hold.",
        "  2. /rewind goes back before this prompt.",
    )


def test_where_nothing_was_tried_it_says_so() -> None:
    ended = Attempt(Rung.STOP, 12, "the turn was stopped")
    assert stuck_lines(replace(REPORT, tried=(ended,), steps_in_loop=1))[1:4] == (
        "The turn ended in step 12, after 1 step in it.",
        "",
        "Nothing was tried.",
    )


@given(st.lists(ATTEMPTS, max_size=5).map(tuple), st.lists(TEXT, max_size=4).map(tuple), st.integers(20, 120))
def test_nothing_is_lost_at_any_width(tried: tuple[Attempt, ...], steps: tuple[str, ...], width: int) -> None:
    report = replace(REPORT, tried=tried, next_steps=steps)
    lines = stuck_lines(report, width)
    words = "".join("".join(lines).split())
    assert all("".join(one.detail.split()) in words for one in tried if one.rung is not Rung.STOP)
    assert all("".join(text.split()) in words for text in steps)
    assert all(len(line) <= max(width, LONGEST_START + NARROWEST) for line in lines)
