"""The end of a turn: which ends give the tasks of the agent back."""

from pathlib import Path

import pytest

from harness.events import TaskState, TransitionCode
from tests.agent.stage import calls, fails, played, says, sessions
from tests.agent.test_task_board import call, states

pytestmark = pytest.mark.anyio

CLAIMED = calls(call("task_create", tasks=[{"subject": "read the notes"}])) + calls(call("task_claim"))


@pytest.mark.parametrize(
    ("ending", "settings", "code", "state"),
    [
        (fails(400, message='"no such thing"'), {}, TransitionCode.API_ERROR, TaskState.PENDING),
        ("", {"max_turns": 2}, TransitionCode.MAX_TURNS, TaskState.PENDING),
        ("", {"max_budget_usd": 0.000001}, TransitionCode.BUDGET_EXHAUSTED, TaskState.PENDING),
        (says("The rest tomorrow."), {}, TransitionCode.COMPLETED, TaskState.IN_PROGRESS),
    ],
    ids=lambda value: str(value) if isinstance(value, TransitionCode) else "",
)
async def test_tasks_are_given_back_when_the_agent_cannot_go_on(
    tmp_path: Path, ending: str, settings: dict[str, object], code: TransitionCode, state: TaskState
) -> None:
    script = CLAIMED + ending
    async with sessions(tmp_path, script, board="session", **settings) as here, await here.open() as session:
        turn = await played(session.run("Begin."))
        assert turn.end.code is code
        assert await states(session) == {"t1": state}
