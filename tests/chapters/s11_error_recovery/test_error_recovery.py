"""Counts of the chapter's demo: requests, waits and recoveries."""

import pytest

from chapters.course import Recording, WireExchange, lesson
from harness.events import Event, ModelSwitched, Notice, RetryScheduled, ToolEnded, Transition, TurnEnded
from harness.events import TransitionCode as Code
from tests.chapters.live import live, typed

pytestmark = pytest.mark.anyio
MOST_WAITING_S = 5.0


async def test_four_turns_survive_what_can_be_survived_with_no_request_too_many() -> None:
    async with Recording(lesson("s11"), scripted_only=True) as take:
        await take.finished()
        facts = [moment.fact for moment in take.moments]
        report = (take.workspace / "report.txt").read_text()
    events = [fact for fact in facts if isinstance(fact, Event)]
    assert [event.code for event in events if isinstance(event, Transition)] == [
        *(Code.NEXT_TURN, Code.COMPLETED),
        *(Code.MAX_OUTPUT_TOKENS_ESCALATE, Code.NEXT_TURN, Code.MAX_OUTPUT_TOKENS_RECOVERY, Code.COMPLETED),
        *(Code.REACTIVE_COMPACT_RETRY, Code.COMPLETED),
        Code.API_ERROR,
    ]
    assert [(fact.answer, fact.max_tokens) for fact in facts if isinstance(fact, WireExchange)] == [
        ("429 rate_limit_error", 8_000),
        ("200", 8_000),
        ("200 with reset", 8_000),
        ("200", 8_000),
        ("200 with cut_tool", 8_000),
        ("200", 64_000),
        ("200", 64_000),
        ("200", 64_000),
        ("400 invalid_request_error", 64_000),
        ("200", 64_000),
        *[("529 overloaded_error", 64_000)] * 3,
        ("200", 8_000),
        ("401 authentication_error", 64_000),
    ]
    waits = [event.delay_s for event in events if isinstance(event, RetryScheduled)]
    assert waits[0] == 1.0
    assert sum(waits) < MOST_WAITING_S
    assert [event.tool for event in events if isinstance(event, ToolEnded)] == ["read_file", "write_file"]
    assert report == "Oven 2 stood still from 00:04 to 04:30 because of fuse F3."
    assert sum(isinstance(event, Notice) for event in events) == 4
    ended = [event for event in events if isinstance(event, TurnEnded)]
    assert ended[1].answer.count("40 loaves moved to oven 1.") == 1
    assert "ANTHROPIC_API_KEY" in ended[3].reason


@pytest.mark.stories
async def test_three_overloads_are_two_waits_and_then_the_fallback_model() -> None:
    """After an answer, as the text describes: the script has opened the first model's breaker."""
    async with live("s11") as recording:
        await typed(recording, "hello")
        recording.break_model("529 3")
        facts = await typed(recording, "hello")
    after = [type(fact) for fact in facts if isinstance(fact, RetryScheduled | ModelSwitched)]
    assert after == [RetryScheduled, RetryScheduled, ModelSwitched]
