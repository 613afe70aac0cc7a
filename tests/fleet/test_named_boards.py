"""Members that claim from a board with a name in Postgres, which two sessions share."""

import asyncio
from pathlib import Path

import pytest

from harness.engine.team.member import MemberDraft
from harness.events import ClaimEnd, ClaimEnded, Event, MemberClaimed, TaskState
from harness.policies.tasks.decisions import TaskDraft
from tests.agent.stage import says, sessions
from tests.agent.test_claims import does
from tests.agent.test_team import wait_for
from tests.fleet.postgres import needs_postgres, shared_server

pytestmark = [needs_postgres, pytest.mark.anyio]


@pytest.fixture(autouse=True)
def in_the_fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_FLEET_URL", shared_server().url)


async def test_members_of_two_sessions_claim_each_task_of_a_named_board_once(tmp_path: Path) -> None:
    script = "".join(does(n, f"task {n}") for n in range(1, 7)) + says("Seen.", times='"forever"')
    told: list[Event] = []

    def done() -> bool:
        return sum(isinstance(event, ClaimEnded) for event in told) == 6

    async with sessions(tmp_path, script, team=True, board=f"b-{tmp_path.parent.name[-12:]}") as stage:
        observer = lambda event, at: told.append(event)  # noqa: E731
        async with await stage.open(observer=observer) as one, await stage.open(observer=observer) as two:
            assert one.tasks is not None
            await one.tasks.create([TaskDraft(f"task {n}") for n in range(1, 7)])
            for session in (one, two):
                tools = session.background.subagents.tools_for("", None)
                await session.background.team.join(MemberDraft("ann", tools))
            waits = [asyncio.create_task(wait_for(session._parts, done)) for session in (one, two)]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()
            assert {task.state for task in (await one.tasks.tasks()).values()} == {TaskState.COMPLETED}
        both = [(event.task, event.attempt) for event in told if isinstance(event, MemberClaimed)]
        assert sorted(both) == [(f"t{n}", 1) for n in range(1, 7)]
        assert [event.end for event in told if isinstance(event, ClaimEnded)] == [ClaimEnd.COMPLETED] * 6
        assert not list((tmp_path / "state").rglob("boards/*.sqlite"))
