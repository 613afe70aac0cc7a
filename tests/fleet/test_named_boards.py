"""Members that claim from a board with a name in Postgres, which two sessions share."""

from pathlib import Path

import pytest

from harness.events import ClaimEnd, ClaimEnded, GoalEnded, MailKind, MailSent
from harness.policies.tasks.decisions import TaskDraft
from tests.agent.stage import Stage, says
from tests.agent.test_claims import claimed, does, ended, join, put, tasks
from tests.agent.test_team import on_stage, team_of, told, until
from tests.fleet.postgres import needs_postgres, shared_server

pytestmark = [needs_postgres, pytest.mark.anyio]


async def test_members_of_two_sessions_claim_each_task_of_a_named_board_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_FLEET_URL", shared_server().url)
    script = "".join(does(n, f"task {n}") for n in range(1, 7)) + says("Seen.", times='"forever"')
    name = tmp_path.parent.name[-20:]  # a board is one of the project, and this one belongs to this test
    async with (
        on_stage(tmp_path / "one", script, board=name) as one,
        on_stage(tmp_path / "one", script, board=name) as two,
    ):
        assert one.agent.parts.board is not None
        assert one.agent.parts.board.board.place == two.agent.parts.board.board.place  # type: ignore[union-attr]
        await put(one, *(TaskDraft(f"task {n}") for n in range(1, 7)))
        await join(one, "ann")
        await join(two, "ann")
        await ended_somewhere(one, two)
        assert {task.state.value for task in (await tasks(one)).values()} == {"completed"}
        both = [*claimed(one), *claimed(two)]
        assert sorted((task, attempt) for _, task, attempt in both) == [(f"t{n}", 1) for n in range(1, 7)]
        ends = [event.end for here in (one, two) for event in told(here, ClaimEnded)]
        assert ends == [ClaimEnd.COMPLETED] * 6
        assert claimed(one)
        assert claimed(two)


async def ended_somewhere(*stages: Stage) -> None:
    """Wait until the members of every session have nothing left to claim."""
    for here in stages:
        await until(here, lambda here=here: bool(told(here, GoalEnded)) or not claimed(here))  # type: ignore[misc]
        await ended(here)


async def test_mail_and_claims_of_one_session_are_in_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_FLEET_URL", shared_server().url)
    async with on_stage(tmp_path, does(1, "look") + says("Hm.", times='"forever"'), board="session") as here:
        await join(here, "ann")
        await put(here, TaskDraft("look"))
        await ended(here)
        await team_of(here).say(["ann"], "Well done.")
        await until(here, lambda: any(one.kind is MailKind.USER for one in told(here, MailSent)))
        assert [line.partition(":")[0] for line in told(here, GoalEnded)[0].done] == ["t1 look"]
        assert not list((tmp_path / "state").rglob("*.sqlite"))
