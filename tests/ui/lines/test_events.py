"""What the plain screen and standard error say of an event, in one line."""

from dataclasses import replace

from harness.events import CompactionEnded, RetryBudgetSpent
from harness.ui.lines.events import line_of


def test_that_no_retry_is_left_for_all_agents_is_one_line() -> None:
    told = "✗ no more retries: the agents together have used all they share, 12 retries for 20 requests"
    assert str(line_of(RetryBudgetSpent(20, 12))) == told
    assert str(line_of(RetryBudgetSpent(1, 1))).endswith("1 retry for 1 request")


def test_a_compaction_that_gained_nothing_is_no_success() -> None:
    grown = CompactionEnded("summary", 4_138, 4_150, succeeded=True, detail="summarised")
    assert str(line_of(grown)) == "✗ compaction gained nothing: about 4,138 → 4,150 tokens"
    assert str(line_of(replace(grown, tokens_after=400))).startswith("✓ compacted by summary: about 4,138 → 400 tokens")
