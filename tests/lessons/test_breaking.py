"""Breaking a chapter on purpose: the model of any of them, and the tools where an agent of harness has them."""

import re

import pytest

from harness.base.errors import HarnessError
from harness.events import FaultOrdered, ModelSwitched, ToolEnded, ToolOutcome, TransitionCode, TurnEnded
from harness.lessons import Recording, lesson, lessons

pytestmark = pytest.mark.anyio
COMMAND = re.compile(r"`/(fault|toolfault) ([^`]+)`")
CHAPTERS = pytest.mark.parametrize("chapter", lessons(), ids=lambda chapter: chapter.id)


async def test_the_learner_breaks_the_model_and_a_tool_after_the_scripted_part() -> None:
    async with Recording(lesson("s11")) as recording:
        with pytest.raises(HarnessError, match="did you mean 529"):
            recording.break_model("528")
        await recording.finished()
        await recording.settled()
        before = len(recording.moments)
        assert recording.break_model("529 3").startswith("On purpose, for the next 3 requests")
        assert recording.break_tool("read_file timeout").startswith("On purpose, for the next call of read_file")
        recording.type("read night.log")
        await recording.settled()
        facts = [moment.fact for moment in recording.moments[before:]]
    assert [(fact.target, fact.order) for fact in facts if isinstance(fact, FaultOrdered)] == [
        ("model", "529 3"),
        ("tool", "read_file timeout"),
    ]
    assert [fact.to_model for fact in facts if isinstance(fact, ModelSwitched)][-1] == "claude-haiku-4-5"
    assert next(fact.outcome for fact in facts if isinstance(fact, ToolEnded)) is ToolOutcome.BROKEN
    assert [fact.code for fact in facts if isinstance(fact, TurnEnded)] == [TransitionCode.COMPLETED]


async def test_a_tool_that_crashes_on_purpose_writes_no_traceback_beside_the_course(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Recording(lesson("s10")) as recording:
        await recording.settled()
        recording.break_tool("read_file crash")
        recording.type("read AGENTS.md")
        await recording.settled()
        ended = [moment.fact for moment in recording.moments if isinstance(moment.fact, ToolEnded)]
    assert ended[-1].outcome is ToolOutcome.BROKEN
    assert caplog.records == []
