"""Reports of several lines."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import Attempt, Rung
from harness.session import ExitCounts
from harness.ui.lines.reports import NARROWEST, exits_in_words, stuck_lines
from tests.ui.loops import REPORT

TEXT = st.text(st.sampled_from("ab -\n天"), max_size=60)
LONGEST_START = len("  step 9999  other tool  ")
ATTEMPTS = st.builds(Attempt, st.sampled_from(Rung), st.integers(1, 9_999), TEXT)


def test_it_says_what_repeats_what_was_tried_and_the_users_options() -> None:
    assert stuck_lines(REPORT) == (
        "IN A LOOP: read_file notes.txt, 4 times in a row, with the same result each time",
        "The turn ended in step 12, after 8 steps in it.",
        "",
        "Interventions",
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


NUMBERS = st.integers(0, 5_000)


@pytest.mark.parametrize(
    ("exits", "words"),
    [
        (ExitCounts(started=1, exited=1), "1 started: 1 exited"),
        (ExitCounts(started=3, exited=2), "3 started: 2 exited, 1 still runs"),
        (
            ExitCounts(started=6, terminated=2, killed=1, slowest_end_s=12.0),
            "6 started: 2 were stopped, 1 was killed, 3 still run; ending one took at most 12 s",
        ),
        (
            ExitCounts(started=2, survived=1, handed_over=1),
            "2 started: 1 could not be ended, 1 continues without the program",
        ),
    ],
)
def test_only_what_happened_is_reported(exits: ExitCounts, words: str) -> None:
    assert exits_in_words(exits) == words


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_the_parts_make_up_what_was_started(
    exited: int, terminated: int, killed: int, survived: int, handed: int, running: int
) -> None:
    started = exited + terminated + killed + survived + handed + running
    words = exits_in_words(ExitCounts(started, exited, terminated, killed, survived, handed))
    total, _, parts = words.partition(";")[0].replace(",", "").partition(" started: ")
    assert int(total) == started == sum(int(word) for word in parts.split() if word.isdigit())
