"""Facts of the moment are said once, and again when the history has lost them."""

from pathlib import Path

from harness.events import Message
from harness.executor.facts import Facts


def said(facts: str) -> Message:
    return Message("user", ({"type": "text", "text": facts}, {"type": "text", "text": "hello"}))


def test_facts_that_stand_in_the_history_are_not_said_again(tmp_path: Path) -> None:
    facts = Facts(tmp_path)
    first = facts.new(())
    assert "Today is" in first
    assert facts.new((said(first), Message("assistant", ({"type": "text", "text": "hi"},)))) == ""


def test_facts_are_said_again_after_the_history_was_cleared_or_summarised(tmp_path: Path) -> None:
    facts = Facts(tmp_path)
    first = facts.new(())
    assert facts.new(()) == first
    assert facts.new((said("The conversation so far, summarised."),)) == first


def test_a_fact_that_was_true_before_is_said_again_when_it_is_true_again(tmp_path: Path) -> None:
    head = tmp_path / ".git" / "HEAD"
    head.parent.mkdir()
    facts = Facts(tmp_path)
    history: list[Message] = []
    for branch in ("main", "other", "main"):
        head.write_text(f"ref: refs/heads/{branch}\n")
        news = facts.new(history)
        assert f"branch is {branch}." in news
        history.append(said(news))
