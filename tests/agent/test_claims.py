"""Idle members claim tasks of the board: once each, with evidence; what a fault, a stop or the end makes of a claim."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.engine.team.claims import Claims
from harness.engine.team.member import MemberDraft
from harness.events import (
    ArrivalKind,
    Arrived,
    ClaimEnd,
    ClaimEnded,
    GoalEnded,
    MemberClaimed,
    TaskState,
)
from harness.policies.tasks.decisions import TaskDraft
from harness.policies.tasks.task import Task
from tests.agent.stage import Stage, calls, says, stage
from tests.agent.test_permission_rules import bash
from tests.agent.test_task_board import call
from tests.agent.test_team import on_stage, team_of, told, until

pytestmark = pytest.mark.anyio


def when(entry: str, text: str) -> str:
    """An entry for a last message that has this text."""
    return entry.rstrip() + f'\nwhen = {{ text = "{text}", lacks = "agent" }}\n'


def done(number: int) -> str:
    return call("task_update", id=f"t{number}", status="completed", note="looked at it")


def does(number: int, subject: str, line: str = "") -> str:
    """Entries for a member that does task `number` with one command, which runs once."""
    ran = bash(f"echo t{number} >> ran.txt; echo did-{number}")
    return (
        when(calls(ran), f"You have claimed this task of the board:\\n\\nt{number}  {subject}")
        + when(calls(done(number)), f"did-{number}\\n")
        + when(says("Done."), f"t{number}  {subject}  [completed")
    )


@asynccontextmanager
async def claiming(folder: Path, script: str, *names: str, **more: Any) -> AsyncIterator[Stage]:
    """A stage with idle members and a board."""
    make = stage if "clock" in more else on_stage
    more |= {"team": True} if "clock" in more else {}
    async with make(folder, script, board="session", **more) as here:
        for name in names:
            await join(here, name)
        yield here


async def join(here: Stage, name: str, **more: Any) -> None:
    background = here.agent.parts.background
    assert background is not None
    await team_of(here).join(MemberDraft(name, background.subagents.tools_for("", None), **more))


def claims_of(here: Stage) -> Claims:
    claims = team_of(here).claims
    assert claims is not None
    return claims


async def put(here: Stage, *drafts: TaskDraft) -> None:
    assert here.agent.parts.board is not None
    await here.agent.parts.board.create(drafts)


async def tasks(here: Stage) -> dict[str, Task]:
    assert here.agent.parts.board is not None
    return {task.id: task for task in (await here.agent.parts.board.tasks()).values()}


async def ended(here: Stage, count: int = 1) -> GoalEnded:
    """The report at the end."""
    await until(here, lambda: len(told(here, GoalEnded)) >= count)
    found: GoalEnded = told(here, GoalEnded)[-1]
    return found


def claimed(here: Stage) -> list[tuple[str, str, int]]:
    return [(one.member.name, one.task, one.attempt) for one in told(here, MemberClaimed)]


async def test_idle_members_do_all_tasks_once_and_the_lead_reads_one_report(tmp_path: Path) -> None:
    script = "".join(does(n, f"task {n} of four") for n in range(1, 5))
    async with claiming(tmp_path, script, "ann", "ben") as here:
        await put(here, TaskDraft("task 1 of four"), TaskDraft("task 2 of four", needs=("t1",)))
        await put(here, TaskDraft("task 3 of four"), TaskDraft("task 4 of four", priority=0, needs=("t3",)))
        report = await ended(here)
        assert here.ran() == {"t1": 1, "t2": 1, "t3": 1, "t4": 1}
        assert {one.state for one in (await tasks(here)).values()} == {TaskState.COMPLETED}
        assert sorted(one[1:] for one in claimed(here)) == [(f"t{n}", 1) for n in range(1, 5)]
        assert {one.member.name for one in told(here, MemberClaimed)} == {"ann", "ben"}
        assert [one.end for one in told(here, ClaimEnded)] == [ClaimEnd.COMPLETED] * 4
        assert len(report.done) == 4
        assert report.done[0].startswith("t1 task 1 of four: looked at it (`echo t1 >> ran.txt; echo did-1`: exit 0)")
        assert report.tokens > 0
        arrived = told(here, Arrived)
        assert [one.kind for one in arrived] == [ArrivalKind.TASK_READY]
        assert arrived[0].text.startswith("The members have nothing left to claim: 4 done.")
        assert len(here.bodies) == 12
