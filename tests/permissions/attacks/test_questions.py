"""How many ordinary lines ask without need, and that random lines that run unasked do no harm."""

import shutil

import pytest

from benchmarks.ordinary_lines import DAILY, OF_TRANSCRIPTS
from benchmarks.questions import judged
from benchmarks.unasked import Trial


def test_of_the_lines_of_a_day_at_most_fifteen_ask_without_need() -> None:
    found = judged(DAILY)
    assert len(found) >= 231
    assert len([one.line.line for one in found if one.needless]) <= 15, [one for one in found if one.needless]


def test_of_the_lines_of_models_at_most_eight_ask_without_need() -> None:
    found = judged(OF_TRANSCRIPTS)
    assert len(found) >= 100
    assert len([one.line.line for one in found if one.needless]) <= 8, [one for one in found if one.needless]


def test_what_writes_or_reads_keys_is_asked_about() -> None:
    runs = {one.line.line for one in judged(DAILY) if one.line.may_ask and one.verdict == "runs"}
    assert runs == set()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("shell", ["bash", pytest.param("sh", marks=pytest.mark.stories)])
def test_random_lines_that_run_unasked_do_no_harm(shell: str) -> None:
    figures = Trial(seed=1, shells=(shell,)).run(220, most_wrong=1)
    assert figures.wrong == []
    assert figures.executed >= 140
    assert len(figures.programs) >= 40
