"""Faults in a chapter's demo: in the model of each chapter, and in tools where a harness agent runs them."""

import pytest

from chapters.course import Recording, lesson
from harness.base.errors import HarnessError
from harness.events import FaultOrdered, RetryScheduled, ToolEnded, ToolOutcome, TransitionCode, TurnEnded

pytestmark = pytest.mark.anyio


async def test_the_learner_breaks_the_model_and_a_tool_after_the_scripted_part(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Recording(lesson("s10")) as recording:
        with pytest.raises(HarnessError, match="did you mean 529"):
            recording.break_model("528")
        await recording.finished()
        await recording.settled()
        before = len(recording.moments)
        assert recording.break_model("529").startswith("On purpose, for the next request")
        assert recording.break_tool("read_file crash").startswith("On purpose, for the next call of read_file")
        recording.type("read AGENTS.md")
        await recording.settled()
        facts = [moment.fact for moment in recording.moments[before:]]
    assert [(fact.target, fact.order) for fact in facts if isinstance(fact, FaultOrdered)] == [
        ("model", "529"),
        ("tool", "read_file crash"),
    ]
    assert [fact.status for fact in facts if isinstance(fact, RetryScheduled)] == [529]
    assert next(fact.outcome for fact in facts if isinstance(fact, ToolEnded)) is ToolOutcome.BROKEN
    assert [fact.code for fact in facts if isinstance(fact, TurnEnded)] == [TransitionCode.COMPLETED]
    assert caplog.records == [], "a traceback beside the course"
