"""Only an answer is told as an answer, whichever way an agent ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.subagents.reports import SAID_CHARACTERS, SubagentReport, report_of, said, told
from harness.events import AgentEnd, Message, TransitionCode, TurnEnded, Usage, WorkEnd

FINAL = [code for code in TransitionCode if code not in (TransitionCode.COMPLETED, TransitionCode.EMPTY_ANSWER)]


def turn(code: TransitionCode, answer: str) -> TurnEnded:
    """The end of a turn of three steps."""
    return TurnEnded(1, code, "the reason", answer, Usage(10, 5), 0.02, 3, 4, 1.5)


def replies(*texts: str) -> list[Message]:
    """What an agent has said."""
    return [Message("assistant", ({"type": "text", "text": text},)) for text in texts]


def test_a_turn_that_is_completed_with_words_is_an_answer() -> None:
    report = report_of(turn(TransitionCode.COMPLETED, " There are three. "), replies("There are three."))
    assert (report.end, report.reason, report.text) == (AgentEnd.ANSWERED, "", "There are three.")
    assert report.ending is WorkEnd.SUCCEEDED
    assert (report.steps, report.requests, report.usage, report.cost_usd, report.duration_s) == (
        *(3, 4, Usage(10, 5), 0.02, 1.5),
    )
    assert told("a1", report) == "There are three.\n\n[agent a1: 3 steps, 15 tokens]"


@pytest.mark.parametrize("code", FINAL)
def test_every_other_end_is_a_failure_however_much_was_said(code: TransitionCode) -> None:
    report = report_of(turn(code, "There are three."), replies("I look.", "There are three."))
    assert not report.answered
    assert report.end not in (AgentEnd.ANSWERED, AgentEnd.SILENT, AgentEnd.NOT_STARTED)
    assert report.reason == f"the reason ({code.value})"
    assert report.text == "I look.\n\nThere are three."
    assert report.ending is (WorkEnd.CANCELLED if report.end is AgentEnd.CANCELLED else WorkEnd.FAILED)
    text = told("a1", report)
    assert text.startswith("The agent did not finish: the reason")
    assert "may be incomplete or wrong" in text.split("There are three.")[0]


@pytest.mark.parametrize("nothing", ["", " \n\t "])
@pytest.mark.parametrize("code", [TransitionCode.COMPLETED, TransitionCode.EMPTY_ANSWER])
def test_a_turn_that_ends_without_a_word_is_no_answer(code: TransitionCode, nothing: str) -> None:
    report = report_of(turn(code, nothing), replies("I look."))
    assert (report.end, report.text, report.ending) == (AgentEnd.SILENT, "I look.", WorkEnd.FAILED)
    assert told("a1", report).startswith("The agent did not finish: it ended without a word. This is no answer.")


@given(st.sampled_from(AgentEnd), st.text(), st.text())
def test_whatever_an_agent_has_said_its_failure_comes_first(end: AgentEnd, reason: str, text: str) -> None:
    report = SubagentReport(end, reason, f"words: {text}")
    failed = told("a1", report).startswith("The agent did not finish")
    assert failed != report.answered
    assert report.answered == (end is AgentEnd.ANSWERED) == (report.ending is WorkEnd.SUCCEEDED)


@given(st.lists(st.text(), max_size=5))
def test_the_last_words_are_handed_back_and_not_too_many(texts: list[str]) -> None:
    words = said([*replies(*texts), Message("user", ({"type": "text", "text": "never this"},))])
    assert len(words) <= SAID_CHARACTERS + len("… ")
    assert "never this" not in words
    for text in filter(None, map(str.strip, texts)):
        assert text in words


def test_of_very_much_the_end_is_handed_back() -> None:
    words = said(replies("a" * SAID_CHARACTERS, "the end"))
    assert words.startswith("… a")
    assert words.endswith("\n\nthe end")
