"""Breaking a chapter on purpose: the model of any of them, and the tools where an agent of harness has them."""

import re

import pytest

from harness.base.errors import HarnessError
from harness.events import FaultOrdered, ModelSwitched, ToolEnded, ToolOutcome, TransitionCode, TurnEnded
from harness.lessons import LANGUAGES, Lesson, Take, lesson, lessons, readme
from harness.practice.fault_orders import order_of
from harness.practice.tool_fault_orders import tool_order_of

pytestmark = pytest.mark.anyio
COMMAND = re.compile(r"`/(fault|toolfault) ([^`]+)`")
CHAPTERS = pytest.mark.parametrize("chapter", lessons(), ids=lambda chapter: chapter.id)


async def test_the_learner_breaks_the_model_and_a_tool_after_the_scripted_part() -> None:
    async with Take(lesson("s11")) as take:
        with pytest.raises(HarnessError, match="did you mean 529"):
            take.break_model("528")
        await take.finished()
        await take.settled()
        before = len(take.moments)
        assert take.break_model("529 3").startswith("On purpose, for the next 3 requests")
        assert take.break_tool("read_file timeout").startswith("On purpose, for the next call of read_file")
        take.type("read night.log")
        await take.settled()
        facts = [moment.fact for moment in take.moments[before:]]
    assert [(fact.target, fact.order) for fact in facts if isinstance(fact, FaultOrdered)] == [
        ("model", "529 3"),
        ("tool", "read_file timeout"),
    ]
    assert [fact.to_model for fact in facts if isinstance(fact, ModelSwitched)][-1] == "claude-haiku-4-5"
    assert next(fact.outcome for fact in facts if isinstance(fact, ToolEnded)) is ToolOutcome.BROKEN
    assert [fact.code for fact in facts if isinstance(fact, TurnEnded)] == [TransitionCode.COMPLETED]


@CHAPTERS
def test_what_a_chapter_says_to_type_is_understood(chapter: Lesson) -> None:
    sections = [section for language in LANGUAGES for section in readme(chapter, language)]
    for command, order in COMMAND.findall("\n".join(section.text for section in sections)):
        if command == "fault":
            order_of(order)
        else:
            tool_order_of(order, order.split()[:1])  # which tools there are is known when the chapter runs


async def test_a_tool_that_crashes_on_purpose_writes_no_traceback_beside_the_course(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Take(lesson("s10")) as take:
        await take.settled()
        take.break_tool("read_file crash")
        take.type("read AGENTS.md")
        await take.settled()
        ended = [moment.fact for moment in take.moments if isinstance(moment.fact, ToolEnded)]
    assert ended[-1].outcome is ToolOutcome.BROKEN
    assert caplog.records == []
