"""Questions of the model and of its subagents, in whole turns."""

import asyncio
from pathlib import Path

import pytest

from harness.engine.permissions.asker import NoAsker, UserAnswer
from harness.events import (
    AgentMoved,
    BreakerChanged,
    PermissionAsked,
    QuestionAnswered,
    QuestionAsked,
    ToolEnded,
    ToolOutcome,
    TransitionCode,
)
from tests.agent.stage import VirtualClock, calls, fails, says, stage
from tests.agent.test_agents import of_subagent, on_stage, task

pytestmark = pytest.mark.anyio

ASK = '{ name = "ask_user", input = { question = "Which colour?", options = ["red", "blue"] } }'


class User(NoAsker):
    """Thinks for a while, and chooses the last option; or never answers."""

    present = True

    def __init__(self, think_s: float | None = 0.0) -> None:
        self.think_s = think_s
        self.asked: list[QuestionAsked] = []
        self.is_asked = asyncio.Event()

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """The last option."""
        self.asked.append(asked)
        self.is_asked.set()
        if self.think_s is None:
            await asyncio.Event().wait()
        else:
            await asyncio.sleep(self.think_s)
        return UserAnswer("option", asked.options[-1].label)


def results(body: dict[str, object]) -> str:
    return str(body["messages"][-1]["content"])  # type: ignore[index]


@pytest.mark.parametrize("mode", ["ask", "edits", "yolo", "deny"])
async def test_a_question_is_put_in_every_permission_mode_and_its_answer_is_the_result(
    mode: str, tmp_path: Path
) -> None:
    user = User()
    async with stage(tmp_path, calls(ASK) + says("Blue it is."), asker=user, permission_mode=mode) as here:
        turn = await here.turn()
        assert "The user chose: blue" in results(here.bodies[1])
    assert turn.end.code is TransitionCode.COMPLETED
    assert [asked.question for asked in user.asked] == ["Which colour?"]
    assert [(event.how, event.answer, event.by) for event in turn.of(QuestionAnswered)] == [("option", "blue", "user")]
    assert not turn.of(PermissionAsked)


async def test_the_time_of_a_turn_is_without_what_the_user_needs_to_answer(tmp_path: Path) -> None:
    clock = VirtualClock()

    class Thinker(User):
        async def question(self, asked: QuestionAsked) -> UserAnswer | None:
            await clock.sleep(600.0)
            return await super().question(asked)

    script = fails(529) + calls(ASK) + says("Blue it is.")
    async with stage(tmp_path, script, asker=Thinker(), clock=clock) as here:
        turn = await here.turn()
    assert 0 < turn.end.duration_s == pytest.approx(sum(clock.waits) - 600.0)


async def test_a_user_may_think_for_longer_than_a_tool_may_take_and_no_breaker_counts_it(tmp_path: Path) -> None:
    user = User(think_s=0.1)
    script = calls(ASK) * 4 + says("Enough.")
    async with stage(tmp_path, script, asker=user, tool_timeout_s=0.02, failure_threshold=1) as here:
        turn = await here.turn()
    assert [ended.outcome for ended in turn.of(ToolEnded)] == [ToolOutcome.OK] * 4
    assert all(ended.failure is None for ended in turn.of(ToolEnded))
    assert not turn.of(BreakerChanged)


async def test_the_question_of_a_subagent_says_whose_it_is_and_the_parent_shows_that_it_waits(tmp_path: Path) -> None:
    user = User()
    script = calls(task()) + of_subagent(calls(ASK)) + of_subagent(says("Blue.")) + says("Blue, it says.")
    async with on_stage(tmp_path, script, asker=user) as here:
        turn = await here.turn()
    assert [(asked.agent, asked.question) for asked in user.asked] == [("a1", "Which colour?")]
    moved = [(event.doing, event.waits_for_user) for event in turn.of(AgentMoved)]
    assert ("asks: Which colour?", True) in moved
    assert ("its question was answered", False) in moved
    assert turn.end.answer == "Blue, it says."
