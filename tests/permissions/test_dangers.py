"""git in every form: what rules see of it, and what no pattern allows."""

import pytest

from harness.permissions import Allow, Ask, Deny, Mode
from tests.cases import cases
from tests.permissions.test_verdicts import decided


@cases(__file__, "denied push", "line")
def test_a_denied_subcommand_runs_unasked_in_no_form(line: str) -> None:
    for mode in Mode:
        decision = decided(line, mode, deny="bash(git push *)")
        assert isinstance(decision, Deny | Ask), decision
    assert isinstance(decided(line, Mode.DENY, deny="bash(git push *)"), Deny)


@pytest.mark.parametrize(
    "line", ["git -Csrc push", "git-push", "git --git-dir x push", "git --config-env=a.b=HOME push"]
)
def test_a_subcommand_that_is_seen_is_denied_for_certain(line: str) -> None:
    assert isinstance(decided(line, Mode.YOLO, deny="bash(git push *)"), Deny)


@pytest.mark.parametrize(
    "line", ["git status", "git -c color.ui=false log", "git -C src commit -m push", "git-log push"]
)
def test_another_subcommand_is_not_denied_with_it(line: str) -> None:
    assert isinstance(decided(line, Mode.YOLO, deny="bash(git push *)"), Allow)


@cases(__file__, "runs something", "line")
def test_what_makes_git_run_something_is_covered_by_no_pattern(line: str) -> None:
    decision = decided(line, Mode.EDITS, allow=["bash(git *)", "write(**)", "read(**)"])
    assert isinstance(decision, Ask), decision
    assert decision.dangers or "$" in line


@cases(__file__, "ordinary", "line")
def test_ordinary_forms_are_covered_by_a_pattern(line: str) -> None:
    assert isinstance(decided(line, Mode.EDITS, allow=["bash(git *)", "write(**)", "read(**)"]), Allow)
