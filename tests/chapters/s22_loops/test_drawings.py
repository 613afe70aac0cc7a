"""The drawings of s22 say what the detector finds."""

from chapters.s22_loops.drawings import NUMBERS, RUNGS, WORDS, ladder, rows
from harness.events import Rung
from harness.policies.loops.repeat_detector import RepeatTail


def test_each_row_becomes_a_loop_at_its_last_step() -> None:
    for word, copies in WORDS:
        tail = RepeatTail(NUMBERS.longest_period)
        counted = []
        for _ in range(copies):
            for *_, symbol in word:
                tail.push(symbol)
                counted.append(tail.copies(len(word)))
        assert counted[-1] == copies
        assert max(counted[:-1]) < max(copies, 2)


def test_every_row_shows_its_steps() -> None:
    assert len(rows().splitlines()) == sum(len(word) * copies for word, copies in WORDS) + len(WORDS) - 1


def test_the_ladder_has_every_rung_in_its_order() -> None:
    assert list(RUNGS) == list(Rung)
    assert [line.split()[0] for line in ladder().splitlines()] == [rung.value for rung in Rung]
