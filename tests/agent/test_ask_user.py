"""Questions of the model and of its subagents, in whole turns."""

import asyncio
from pathlib import Path

import pytest

from harness import journal
from harness.engine.permissions.asker import NoAsker, UserAnswer
from harness.events import (
    AgentMoved,
    BreakerChanged,
    PermissionAsked,
    QuestionAnswered,
    QuestionAsked,
    SessionResumed,
    ToolEnded,
    ToolOutcome,
    TransitionCode,
)
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Opening, open_session
from tests.agent.stage import calls, check_requests, played, says, settings_of, stage
from tests.agent.test_agents import hired, on_stage, task
from tests.agent.test_resume import kept

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


async def test_a_user_may_think_for_longer_than_a_tool_may_take_and_no_breaker_counts_it(tmp_path: Path) -> None:
    user = User(think_s=0.5)
    script = calls(ASK) * 4 + says("Enough.")
    async with stage(tmp_path, script, asker=user, tool_timeout_s=0.05, failure_threshold=1) as here:
        turn = await here.turn()
    assert [ended.outcome for ended in turn.of(ToolEnded)] == [ToolOutcome.OK] * 4
    assert all(ended.failure is None for ended in turn.of(ToolEnded))
    assert not turn.of(BreakerChanged)


async def test_four_refusals_without_a_user_open_no_breaker(tmp_path: Path) -> None:
    script = calls(ASK) + calls(ASK.replace("Which", "What")) + calls(ASK.replace("colour", "day")) + says("Enough.")
    async with stage(tmp_path, script, failure_threshold=1, count_errors=True) as here:
        turn = await here.turn()
    assert [ended.outcome for ended in turn.of(ToolEnded)] == [ToolOutcome.DENIED] * 3
    assert not turn.of(BreakerChanged)


async def test_an_interrupted_question_is_closed_as_interrupted(tmp_path: Path) -> None:
    user = User(think_s=None)
    async with stage(tmp_path, calls(ASK) + says("Never mind."), asker=user) as here:

        def interrupt(event: object) -> None:
            if isinstance(event, QuestionAsked):
                here.agent.interrupt()

        first = await here.turn(on_event=interrupt)
        assert first.end.code is TransitionCode.ABORTED_TOOLS
        assert not first.of(QuestionAnswered)
        second = await here.turn("And now?")
    assert second.end.code is TransitionCode.COMPLETED
    assert [ended.outcome for ended in first.of(ToolEnded)] == [ToolOutcome.CANCELLED]


async def test_the_question_of_a_subagent_says_whose_it_is_and_the_parent_shows_that_it_waits(tmp_path: Path) -> None:
    user = User()
    script = calls(task()) + hired(calls(ASK)) + hired(says("Blue.")) + says("Blue, it says.")
    async with on_stage(tmp_path, script, asker=user) as here:
        turn = await here.turn()
    assert [(asked.agent, asked.question) for asked in user.asked] == [("a1", "Which colour?")]
    moved = [(event.doing, event.waits_for_user) for event in turn.of(AgentMoved)]
    assert ("asks: Which colour?", True) in moved
    assert ("its question was answered", False) in moved
    assert turn.end.answer == "Blue, it says."


async def test_a_session_that_was_killed_in_the_middle_of_a_question_goes_on_without_an_answer(tmp_path: Path) -> None:
    user = User(think_s=None)
    async with PracticeServer(script=Script.parse(f'after = "error"\n{calls(ASK)}{says("Then red.")}')) as server:
        loaded = settings_of(tmp_path, server.base_url)
        async with await open_session(loaded, user) as session:
            turn = asyncio.create_task(played(session.run("Paint it.")))
            await user.is_asked.wait()
            data = session.path.read_bytes()  # what a killed process leaves
            session.interrupt()
            await turn
        path = kept(loaded, data, "20260101-000000-killed")
        async with await open_session(loaded, user, Opening(resume=path.stem)) as resumed:
            again = await played(resumed.run("And now?"))
        check_requests(server.requests)
        sent = [str(request.body["messages"]) for request in server.requests]
    assert again.end.answer == "Then red."
    assert [asked.question for asked in user.asked] == ["Which colour?"]
    assert "No result was recorded for this call" in sent[-1]
    records = journal.read(path).records
    assert any(isinstance(record.event, SessionResumed) for record in records)
    assert not any(isinstance(record.event, QuestionAnswered) for record in records)
