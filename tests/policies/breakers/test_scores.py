"""Scores are believed for some steps, each tool's for itself."""

from hypothesis import given
from hypothesis import strategies as st

from harness.events import Score
from harness.policies.breakers.availability import Scores

TOOLS = ("grep", "bash")


def test_a_tool_that_was_not_checked_has_no_score() -> None:
    assert Scores().of("grep", 0) is None


def test_a_score_is_believed_until_its_step_and_a_later_one_takes_its_place() -> None:
    scores = Scores().with_score("grep", Score.DEGRADED, 5)
    assert [scores.of("grep", step) for step in (0, 4, 5, 6)] == [Score.DEGRADED, Score.DEGRADED, None, None]
    assert scores.of("bash", 0) is None
    later = scores.with_score("grep", Score.AVAILABLE, 8)
    assert [later.of("grep", step) for step in (4, 7, 8)] == [Score.AVAILABLE, Score.AVAILABLE, None]
    assert scores.of("grep", 4) is Score.DEGRADED  # frozen


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
