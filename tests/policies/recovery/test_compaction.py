"""When to shorten, how much to keep, when to stop trying."""

from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.policies.recovery.compaction import (
    CompactAt,
    CompactionHealth,
    CompactionThresholds,
    summary_budget,
    tail_length,
    thresholds,
)

windows = st.integers(1_000, 2_000_000)
maxima = st.integers(1, 200_000)


def test_the_thresholds_of_a_window_of_200_000_are_the_known_ones() -> None:
    assert thresholds(200_000, 64_000) == CompactionThresholds(usable=180_000, compact=167_000, block=177_000)


def test_a_model_with_short_answers_reserves_no_more_than_they_take() -> None:
    assert thresholds(200_000, 8_000) == CompactionThresholds(usable=192_000, compact=179_000, block=189_000)


@given(window=windows, more=st.integers(0, 100_000), max_output=maxima)
def test_a_larger_window_never_has_a_smaller_threshold(window: int, more: int, max_output: int) -> None:
    before, after = thresholds(window, max_output), thresholds(window + more, max_output)
    assert before.usable <= after.usable
    assert before.compact <= after.compact
    assert before.block <= after.block


@given(window=windows, max_output=maxima)
def test_compaction_comes_before_the_block_and_the_block_before_the_end(window: int, max_output: int) -> None:
    levels = thresholds(window, max_output)
    assert 0.8 * window < levels.compact < levels.block < levels.usable <= window


# ── health ──────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Diary:
    """The oracle: it writes everything down and counts afterwards."""

    begun: list[int] = field(default_factory=list)
    good: list[bool] = field(default_factory=list)

    def off(self) -> bool:
        return len(self.good) >= 3 and not any(self.good[-3:])

    def thrashing(self, step: int) -> bool:
        last = [*self.begun[-3:], step]
        return len(last) == 4 and all(after - before <= 3 for before, after in pairwise(last))


actions = st.one_of(
    st.tuples(st.just("begin"), st.integers(0, 6)),
    st.tuples(st.just("end"), st.integers(0, 1_100)),
    st.tuples(st.just("fail"), st.just(0)),
    st.tuples(st.sampled_from(["by hand", "begin", "fail"]), st.integers(0, 2)),
)


@given(happened=st.lists(actions, max_size=40))
def test_the_breakers_agree_with_a_diary(happened: list[tuple[str, int]]) -> None:
    health, diary, step = CompactionHealth(), Diary(), 0
    for action, number in happened:
        match action:
            case "begin":
                step += number
                assert health.thrashing(step) is diary.thrashing(step)
                health = health.compacting(step)
                diary.begun.append(step)
            case "end":
                health = health.ended(1_000, number)
                diary.good.append(number <= 900)
            case "fail":
                health = health.failed()
                diary.good.append(False)
            case "by hand":
                health, diary = health.rearmed(), Diary()
        assert health.off is diary.off()


@pytest.mark.parametrize(("step", "thrashing"), [(5, True), (8, True), (9, False)])
def test_three_compactions_each_overtaken_within_three_steps_are_thrashing(step: int, *, thrashing: bool) -> None:
    assert CompactionHealth().compacting(1).compacting(3).compacting(5).thrashing(step) is thrashing


# ── sizes ───────────────────────────────────────────────────────────────────────────────────────


@given(sizes=st.lists(st.integers(0, 500), max_size=20), budget=st.integers(0, 3_000))
def test_the_tail_is_the_longest_that_fits_but_never_less_than_the_newest_round(sizes: list[int], budget: int) -> None:
    fitting = [n for n in range(len(sizes) + 1) if sum(sizes[len(sizes) - n :]) <= budget]
    assert tail_length(sizes, budget) == max(*fitting, 1 if sizes else 0)


@given(
    limit=windows,
    refused=st.none() | st.integers(1, 3_000_000),
    estimated=st.integers(1, 3_000_000),
    attempt=st.integers(1, 3),
)
def test_each_try_for_a_summary_is_smaller_and_fits_below_the_limit(
    limit: int, refused: int | None, estimated: int, attempt: int
) -> None:
    budget = summary_budget(limit, refused, estimated, attempt)
    assert 1 <= budget < limit
    assert summary_budget(limit, refused, estimated, attempt + 1) <= budget
    assert budget <= max(1, summary_budget(limit, None, estimated, attempt))


def test_an_estimate_that_was_too_low_is_corrected_by_what_the_server_counted() -> None:
    assert summary_budget(200_000, None, 100_000, 1) == 180_000
    assert summary_budget(200_000, 250_000, 125_000, 1) == 90_000
    assert summary_budget(200_000, 250_000, 500_000, 1) == 180_000
    assert summary_budget(200_000, None, 100_000, 2) == 144_000


def test_on_a_window_of_a_million_a_share_or_a_size_replaces_967_000_tokens() -> None:
    levels = thresholds(1_000_000, 128_000)
    assert CompactAt().applied(levels, 1_000_000) == levels
    assert CompactAt(share=0.6).applied(levels, 1_000_000).compact == 600_000
    assert CompactAt(tokens=200_000).applied(levels, 1_000_000).compact == 200_000
    assert CompactAt(tokens=200_000).applied(levels, 1_000_000).drained == 160_000
    assert CompactAt(share=1.0).applied(levels, 1_000_000).compact == 967_000


def test_a_size_above_a_small_window_changes_nothing_there() -> None:
    levels = thresholds(200_000, 64_000)
    assert CompactAt(tokens=200_000).applied(levels, 200_000) == levels
