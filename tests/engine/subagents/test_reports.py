"""However an agent ends, only an answer is reported as one."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.conversation import Conversation, ignore
from harness.engine.subagents.reports import (
    SAID_CHARACTERS,
    Follower,
    SubagentReport,
    SubagentState,
    ended_with,
    first_row,
    played,
    report_of,
    report_text,
    said,
)
from harness.events import (
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    Denial,
    Event,
    Fault,
    FaultKind,
    FaultOccurred,
    Health,
    Loop,
    LoopFound,
    LoopLeft,
    Message,
    MessageAdded,
    Origin,
    PermissionAnswered,
    PermissionAsked,
    Projection,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    SpendChanged,
    StepStarted,
    ToolStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
    WorkEnd,
)
from harness.processes.outcome import SurvivingProcess

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
    assert report_text("a1", report) == "There are three.\n\n[agent a1: 3 steps, 15 tokens]"


@pytest.mark.parametrize("code", FINAL)
def test_every_other_end_is_a_failure_however_much_was_said(code: TransitionCode) -> None:
    report = report_of(turn(code, "There are three."), replies("I look.", "There are three."))
    assert not report.answered
    assert report.end not in (AgentEnd.ANSWERED, AgentEnd.SILENT, AgentEnd.NOT_STARTED)
    assert report.reason == f"the reason ({code.value})"
    assert report.text == "I look.\n\nThere are three."
    assert report.ending is (WorkEnd.CANCELLED if report.end is AgentEnd.CANCELLED else WorkEnd.FAILED)
    text = report_text("a1", report)
    assert text.startswith("The agent did not finish: the reason")
    assert "may be incomplete or wrong" in text.split("There are three.")[0]


@pytest.mark.parametrize("nothing", ["", " \n\t "])
@pytest.mark.parametrize("code", [TransitionCode.COMPLETED, TransitionCode.EMPTY_ANSWER])
def test_a_turn_that_ends_without_a_word_is_no_answer(code: TransitionCode, nothing: str) -> None:
    report = report_of(turn(code, nothing), replies("I look."))
    assert (report.end, report.text, report.ending) == (AgentEnd.SILENT, "I look.", WorkEnd.FAILED)
    assert report_text("a1", report).startswith("The agent did not finish: it ended without a word. This is no answer.")


@given(st.sampled_from(AgentEnd), st.text(), st.text())
def test_whatever_an_agent_has_said_its_failure_comes_first(end: AgentEnd, reason: str, text: str) -> None:
    report = SubagentReport(end, reason, f"words: {text}")
    failed = report_text("a1", report).startswith("The agent did not finish")
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


# ── while an agent works ────────────────────────────────────────────────────────────────────────────

BEFORE = SpendChanged(5, Usage(100, 50), 1.0, Usage(), 0.0)
AFTER = SpendChanged(7, Usage(130, 60), 1.5, Usage(), 0.0, unpriced=1)


def followed(*events: Event) -> tuple[Follower, Conversation, list[AgentMoved]]:
    """A follower of an agent with earlier costs, the paying conversation, and its events."""
    moved: list[AgentMoved] = []
    asking = Conversation(ignore)
    follower = Follower("a1", BEFORE, asking, moved.append)
    for event in events:
        follower.on_event(event)
    return follower, asking, moved


def test_every_step_is_counted_and_reported_with_what_this_task_has_cost() -> None:
    _, asking, moved = followed(StepStarted(8), AFTER, StepStarted(9))
    assert moved == [
        AgentMoved("a1", 1, "asks the model", 0, 0, 0.0),
        AgentMoved("a1", 2, "asks the model", 2, 40, 0.5, unpriced=1),
    ]
    assert (asking.spend.requests, asking.spend.usage, asking.spend.cost_usd) == (2, Usage(30, 10), 0.5)


@pytest.mark.parametrize(
    ("event", "doing", "waits"),
    [
        (ToolStarted("c", "grep", "load", {}), "grep load", False),
        (PermissionAsked("c", "bash", "rm x", "it writes"), "asks for bash rm x", True),
        (QuestionAsked("c", "Which one?"), "asks: Which one?", True),
        (QuestionAnswered("c", "option", "this"), "its question was answered", False),
        (QuestionAnswered("c", "declined", ""), "its question was declined", False),
        (PermissionAnswered("c", "bash", "no", "user"), "bash: not allowed", False),
        (PermissionAnswered("c", "bash", "always", "user"), "bash: allowed", False),
        (
            RetryScheduled("model", FaultKind.OVERLOADED, 1, 10, 2.4, 0.0, 529, None, "overloaded"),
            "waits 2 s to try again: overloaded",
            False,
        ),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Event) else "",
)
def test_what_an_agent_does_is_reported_and_whether_it_waits_for_the_user(
    event: Event, doing: str, waits: bool
) -> None:
    _, _, moved = followed(event)
    assert moved == [AgentMoved("a1", 0, doing, 0, 0, 0.0, waits)]


LOOP = Loop(Projection.ACTION, "s1", 1, 3, "grep three times")
FAULT = FaultOccurred(Fault(FaultKind.OVERLOADED, "busy"), "m", 1)


@pytest.mark.parametrize(
    ("events", "health"),
    [
        ((FAULT,), Health.MODEL),
        ((FAULT, MessageAdded(replies("Again.")[0], Origin.REPLY)), Health.WELL),
        ((LoopFound(LOOP, 3),), Health.LOOP),
        ((FAULT, LoopFound(LOOP, 3)), Health.LOOP),
        ((LoopFound(LOOP, 3), LoopLeft("s2", Projection.ACTION, 4)), Health.LOOP),
        ((LoopFound(LOOP, 3), LoopLeft("s1", Projection.ACTION, 4)), Health.WELL),
        ((LoopFound(LOOP, 3), StepStarted(4), ToolStarted("c", "bash", "sleep 600", {})), Health.LOOP),
        ((ToolStarted("c", "bash", "sleep 600", {}),), Health.WELL),
    ],
)
def test_a_loop_and_a_model_that_fails_are_told_apart_and_silence_is_well(
    events: tuple[Event, ...], health: Health
) -> None:
    _, _, moved = followed(*events, StepStarted(1))
    assert moved[-1].health is health


def test_an_agent_without_an_end_is_reported_with_why_and_what_it_had_said_and_cost() -> None:
    (reply,) = replies("I look.")
    prompt = Message("user", ({"type": "text", "text": "look"},))
    follower, _, _ = followed(
        *(MessageAdded(prompt, Origin.PROMPT), StepStarted(1), AFTER, MessageAdded(reply, Origin.REPLY))
    )
    assert follower.report("it crashed") == SubagentReport(
        *(AgentEnd.FAILED, "it crashed", "I look.", 1, 2, Usage(30, 10), 0.5), unpriced=1
    )
    ended = turn(TransitionCode.COMPLETED, "There are three.")
    follower.on_event(ended)
    assert follower.report("it crashed") == report_of(ended, [reply])


def test_the_one_that_asked_learns_what_an_agent_was_denied() -> None:
    denied = Denial("c1", "bash", {"command": "rm x"}, "the user said no")
    _, asking, _ = followed(replace(turn(TransitionCode.COMPLETED, "Done."), denials=(denied,)))
    assert list(asking.denials) == [denied]


@pytest.mark.anyio
async def test_all_that_an_agent_does_is_handed_on_and_closing_the_listener_closes_it() -> None:
    closed = False

    class Agent:
        async def run(self, prompt: str) -> AsyncGenerator[Event, None]:
            nonlocal closed
            try:
                yield TurnStarted(1, prompt)
                yield StepStarted(1)
            finally:
                closed = True

    agent: Any = Agent()
    seen: list[Event] = []
    await played(agent, "look", seen.append)
    assert seen == [TurnStarted(1, "look"), StepStarted(1)]
    closed = False
    with pytest.raises(ZeroDivisionError):
        await played(agent, "look", lambda event: 1 // 0)  # type: ignore[arg-type]
    assert closed


def test_processes_that_an_agent_left_are_named_with_its_answer_and_with_its_failure() -> None:
    left = (SurvivingProcess(12, "server"), SurvivingProcess(13, "watch"))
    for end in (AgentEnd.ANSWERED, AgentEnd.FAILED):
        text = report_text("a1", SubagentReport(end, "why", "Three.", ended_processes=left))
        assert text.endswith("and they ended with it: server (12), watch (13)]")
    assert "it was never started, there is no room." in report_text(
        "a1", SubagentReport(AgentEnd.NOT_STARTED, "there is no room")
    )


def test_the_event_of_the_end_has_every_number_of_the_report() -> None:
    report = SubagentReport(AgentEnd.FAILED, "why", "Three.", 3, 4, Usage(10, 5), 0.02, 1.5, 2)
    assert ended_with("a1", report) == AgentEnded("a1", AgentEnd.FAILED, "why", 3, 4, Usage(10, 5), 0.02, 1.5, 2)


def test_a_new_row_waits_and_knows_where_its_journal_is() -> None:
    created = AgentCreated("a1", "c1", "look", "Look at it.", "m", (), background=True, journal="a1.jsonl")
    row = first_row(created, 12.0)
    assert (row.id, row.task, row.state, row.since) == ("a1", "look", SubagentState.WAITS, 12.0)
    assert (row.background, row.journal, row.moved, row.ended) == (True, "a1.jsonl", None, None)
