"""Scores are believed for some steps, each tool's for itself."""

from hypothesis import given
from hypothesis import strategies as st

from harness.events import Score
from harness.policies.breakers.availability import Scores

TOOLS = ("grep", "bash")


@given(
    checks=st.lists(st.tuples(st.sampled_from(TOOLS), st.sampled_from(Score), st.integers(0, 20)), max_size=12),
    step=st.integers(0, 25),
)
def test_the_last_check_of_a_tool_decides(checks: list[tuple[str, Score, int]], step: int) -> None:
    scores = Scores()
    for check in checks:
        scores = scores.with_score(*check)
    for tool in TOOLS:
        last = [(score, until) for other, score, until in checks if other == tool][-1:]
        assert scores.of(tool, step) == next((score for score, until in last if step < until), None)
    assert len(scores.given) <= len(TOOLS)
