"""How the processes have ended, in one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.session import ExitCounts
from harness.ui.lines.exit_codes import exits_in_words

NUMBERS = st.integers(0, 5_000)


@pytest.mark.parametrize(
    ("exits", "words"),
    [
        (ExitCounts(started=1, exited=1), "1 started: 1 ended by itself"),
        (ExitCounts(started=3, exited=2), "3 started: 2 ended by themselves, 1 still runs"),
        (
            ExitCounts(started=6, terminated=2, killed=1, slowest_end_s=12.0),
            "6 started: 2 were stopped, 1 was killed, 3 still run; ending one took at most 12 s",
        ),
        (
            ExitCounts(started=2, survived=1, handed_over=1),
            "2 started: 1 could not be ended, 1 goes on without the program",
        ),
    ],
)
def test_only_what_happened_is_told(exits: ExitCounts, words: str) -> None:
    assert exits_in_words(exits) == words


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_the_parts_make_up_what_was_started(
    exited: int, terminated: int, killed: int, survived: int, handed: int, running: int
) -> None:
    started = exited + terminated + killed + survived + handed + running
    words = exits_in_words(ExitCounts(started, exited, terminated, killed, survived, handed))
    total, _, parts = words.partition(";")[0].replace(",", "").partition(" started: ")
    assert int(total) == started == sum(int(word) for word in parts.split() if word.isdigit())
