"""Idle members claim tasks of the board: once each, with evidence; what a fault, a stop or the end makes of a claim."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.base.concurrency import in_thread
from harness.engine.team.claims import Claims
from harness.engine.team.member import MemberDraft
from harness.engine.team.requests import LEAD_BOX
from harness.events import (
    ArrivalKind,
    Arrived,
    ClaimEnd,
    ClaimEnded,
    ClaimsSwitched,
    GoalEnded,
    MailKind,
    MemberChanged,
    MemberClaimed,
    MemberState,
    RespawnDecided,
    TaskState,
)
from harness.policies.tasks.decisions import Changes, TaskDraft
from harness.policies.tasks.task import Actor, Task, TaskAction
from harness.policies.team.mail import MailDraft
from harness.slots.store import ProcessOwner
from harness.tasks.board import TaskBoard
from tests.agent.stage import Stage, calls, says, stage
from tests.agent.test_permission_rules import bash
from tests.agent.test_task_board import call
from tests.agent.test_team import on_stage, team_of, told, until
from tests.engine.hand_clock import HandClock, quiet

pytestmark = pytest.mark.anyio


def when(entry: str, text: str) -> str:
    """An entry for a last message that has this text."""
    return entry.rstrip() + f'\nwhen = {{ text = "{text}", lacks = "agent" }}\n'


def done(number: int) -> str:
    return call("task_update", id=f"t{number}", status="completed", note="looked at it")


def does(number: int, subject: str, prompt: str = "") -> str:
    """Entries for a member that does task `number` with one command, once its prompt has this text."""
    ran = bash(f"echo t{number} >> ran.txt; echo did-{number}")
    return (
        when(calls(ran), prompt or f"You have claimed this task of the board:\\n\\nt{number}  {subject}")
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


async def test_done_takes_evidence(tmp_path: Path) -> None:
    script = when(calls(done(1)), "You have claimed this task")
    script += when(calls(bash("exit 3")), "no command was run and no file was changed")
    script += when(calls(done(1)), "[exit 3]")
    script += when(calls(bash("echo fine")), "`exit 3`, ended with exit 3")
    script += when(calls(done(1)), "fine\\n") + when(says("Done."), "t1  look  [completed")
    async with claiming(tmp_path, script, "ann") as here:
        await put(here, TaskDraft("look"))
        report = await ended(here)
        assert report.done == ("t1 look: looked at it (`echo fine`: exit 0)",)


END = '\nwhen = { lacks = "agent" }\n'


@pytest.mark.parametrize(
    ("script", "why", "more"),
    [
        (calls(call("glob", pattern="nothing-*"), times='"forever"'), "stopped in a loop", {}),
        (calls(bash("echo $RANDOM$RANDOM"), times='"forever"'), "max_turns", {"subagent_steps": 3}),
        (calls(bash("exec kill -9 $$"), times='"forever"'), "failure_budget_paused", {}),
        ("[[reply]]\nstatus = 413\n", "api_error", {}),
        (says("I do not know how."), "ended its turn, and not the task: I do not know how.", {}),
    ],
)
async def test_ends_without_a_result_give_the_task_back_and_the_next_attempt_is_told_why(
    tmp_path: Path, script: str, why: str, more: dict[str, Any]
) -> None:
    entries = does(1, "look", "Attempts without a result: 1") + f"{script.rstrip()}{END}"
    async with claiming(tmp_path, entries, "ann", **more) as here:
        await put(here, TaskDraft("look", "All of it is here."))
        report = await ended(here)
        assert claimed(here) == [("ann", "t1", 1), ("ann", "t1", 2)]
        (back, completed) = told(here, ClaimEnded)
        assert (back.end, completed.end) == (ClaimEnd.GIVEN_BACK, ClaimEnd.COMPLETED)
        assert why in back.why
        prompt = next(str(one["messages"]) for one in here.bodies[::-1] if "Attempts without a result: 1" in str(one))
        assert "All of it is here." in prompt
        assert len(report.done) == 1


async def test_after_three_attempts_a_task_is_set_aside_and_what_needs_it_is_deferred(tmp_path: Path) -> None:
    async with claiming(tmp_path, says("Hm.", times="3") + END, "ann", "ben") as here:
        await put(here, TaskDraft("first", name="a"), TaskDraft("second", needs=("a",)))
        report = await ended(here)
        assert [attempt for _, _, attempt in claimed(here)] == [1, 2, 3]
        assert report.set_aside[0].startswith("t1 first: set aside after 3 attempts; the last one: ")
        assert report.deferred == ("t2 second: waits for t1",)


async def test_a_fault_of_the_model_keeps_the_task_and_the_wait_grows(tmp_path: Path) -> None:
    outage = "[[reply]]\nstatus = 529\ntimes = 4"
    clock = HandClock()
    clock.move(1.0)
    script = outage + END + does(1, "look", "Go on with your task")
    async with claiming(tmp_path, script, "ann", clock=clock, max_retries=0) as here:
        await put(here, TaskDraft("look"))
        for number in range(1, 5):
            await until(here, lambda number=number: paused(here) == number)  # type: ignore[misc]
            await quiet()
            clock.move(told(here, RespawnDecided)[-1].after_s - 0.5)
            await quiet()
            assert len(here.bodies) == number
            clock.move(0.5)
        report = await ended(here)
        assert claimed(here) == [("ann", "t1", 1)]
        assert [one.end for one in told(here, ClaimEnded)] == [ClaimEnd.COMPLETED]
        assert [(one.what, one.after_s) for one in told(here, RespawnDecided)] == [
            ("go on", 15.0),
            ("go on", 30.0),
            ("go on", 60.0),
            ("go on", 120.0),
        ]
        assert (await tasks(here))["t1"].attempts == 0
        assert report.done


def paused(here: Stage) -> int:
    return sum(one.state is MemberState.PAUSED for one in told(here, MemberChanged))


async def test_a_refused_key_keeps_the_task_until_the_user_says_go_on(tmp_path: Path) -> None:
    refused = "[[reply]]\nstatus = 401\n"
    script = refused.rstrip() + END + does(1, "look", "Go on with your task") + says("I see.")
    async with claiming(tmp_path, script, "ann") as here:
        await put(here, TaskDraft("look"), TaskDraft("other", assignee="eve"))
        report = await ended(here)
        (switched,) = told(here, ClaimsSwitched)
        assert "the model cannot be used" in switched.why
        assert [line.split(":")[0] for line in report.left] == ["t1 look", "t2 other"]
        await here._taken(here.agent.deliver())
        claims_of(here).switch(on=True, why="the user said so")
        report = await ended(here, 2)
        assert len(report.done) == 1
        assert report.left == ("t2 other: assigned to eve, who is not there",)
        assert claimed(here) == [("ann", "t1", 1)]


async def test_a_member_that_always_fails_is_started_again_three_times_and_not_more(tmp_path: Path) -> None:
    loops = calls(call("glob", pattern="nothing-*"), times='"forever"') + END
    async with claiming(tmp_path, loops, "ann") as here:
        await put(here, TaskDraft("one"), TaskDraft("two"))
        report = await ended(here)
        assert [one.what for one in told(here, RespawnDecided)] == ["respawn"] * 3 + ["stop"]
        assert [str(row.address) for row in team_of(here).rows] == ["ann", "ann (2)", "ann (3)", "ann (4)"]
        assert team_of(here).live == ()
        assert "members were" not in told(here, RespawnDecided)[-1].why
        assert len(report.set_aside) == 1
        assert len(report.left) == 1


async def test_a_task_whose_turn_the_user_stops_is_set_aside(tmp_path: Path) -> None:
    waits = calls(bash("sleep 60")) + END
    async with claiming(tmp_path, waits, "ann") as here:
        await put(here, TaskDraft("look"))
        await until(here, lambda: "bash" in str([row.reason for row in team_of(here).rows]))
        background = here.agent.parts.background
        assert background is not None
        assert await background.stop("a1") == "Agent a1 is being stopped."
        report = await ended(here)
        assert report.set_aside == ("t1 look: ann: the user stopped it",)
        assert told(here, RespawnDecided) == []
        assert claims_of(here).on


async def test_names_roles_and_kinds_decide_who_may_claim(tmp_path: Path) -> None:
    async with claiming(tmp_path, does(1, "test it") + does(2, "write it")) as here:
        await join(here, "ann", role="tester")
        await join(here, "ben", role="writer")
        await put(here, TaskDraft("test it", assignee="tester"), TaskDraft("write it", assignee="ben"))
        await ended(here)
        assert sorted(claimed(here)) == [("ann", "t1", 1), ("ben", "t2", 1)]


async def test_an_idle_team_with_a_board_costs_nothing_in_ten_hours(tmp_path: Path) -> None:
    clock = HandClock()
    clock.move(1.0)
    async with claiming(tmp_path, says("Never."), "ann", "ben", clock=clock) as here:
        await put(here, TaskDraft("for somebody else", assignee="eve"))
        await until_looked(here)
        descriptors = psutil.Process().num_fds()
        for _ in range(10):
            clock.move(3_600)
            await asyncio.sleep(0)
        assert here.bodies == []
        assert clock.sleepers == []
        assert not claims_of(here).busy
        assert psutil.Process().num_fds() == descriptors


async def until_looked(here: Stage) -> None:
    """Wait until the claims have looked at the board."""
    await until(here, lambda: not claims_of(here).busy)


async def test_nothing_is_claimed_after_claims_are_switched_off(tmp_path: Path) -> None:
    async with claiming(tmp_path, says("Never."), "ann") as here:
        claims_of(here).switch(on=False, why="the user said so")
        await put(here, TaskDraft("look"))
        await until_looked(here)
        assert claimed(here) == []
        assert (await tasks(here))["t1"].state is TaskState.PENDING


async def test_a_member_whose_money_is_spent_gives_its_task_back_and_ends(tmp_path: Path) -> None:
    runs = calls(bash("true")) + END
    async with claiming(tmp_path, runs, "ann", team_budget_usd=0.001) as here:
        await put(here, TaskDraft("look"))
        await until(here, lambda: not team_of(here).live)
        assert [(one.what, one.why) for one in told(here, RespawnDecided)] == [("stop", "its money is spent")]
        assert [one.end for one in told(here, ClaimEnded)] == [ClaimEnd.GIVEN_BACK]
        assert (await tasks(here))["t1"].state is TaskState.PENDING


async def test_the_end_of_a_session_gives_the_tasks_of_its_members_back(tmp_path: Path) -> None:
    async with claiming(tmp_path, calls(bash("sleep 60")) + END, "ann") as here:
        await put(here, TaskDraft("look"))
        await until(here, lambda: "bash" in str([row.reason for row in team_of(here).rows]))
        await here.agent.aclose()
    assert [(one.end, one.why) for one in told(here, ClaimEnded)] == [(ClaimEnd.GIVEN_BACK, "the session was closed")]


def elsewhere(here: Stage, clock: HandClock) -> TaskBoard:
    """The board of this session in a program of another machine, whose clock is ahead."""
    assert here.agent.parts.board is not None
    return TaskBoard(here.agent.parts.board.board.place, ProcessOwner("s9", "another machine", 1, ""), clock=clock)


async def test_a_member_whose_claim_ended_meanwhile_records_nothing_and_claims_again(tmp_path: Path) -> None:
    os.mkfifo(gate := tmp_path / "gate")
    ran = bash(f"cat {gate}")
    script = when(calls(ran), "You have claimed this task of the board:\\n\\nt1") + when(calls(done(1)), "go on")
    script += when(says("Somebody else has it."), "t1") + does(2, "second")
    async with claiming(tmp_path, script, "ann", sandbox="off") as here:
        await put(here, TaskDraft("first"), TaskDraft("second", needs=("t1",)))
        await until(here, lambda: "bash" in str([row.reason for row in team_of(here).rows]))
        clock = HandClock()
        clock.move(time.time())
        other = elsewhere(here, clock)
        for _ in range(3):
            clock.move(29.0)
            other.tasks()
        eve = Actor("s9/a1")
        taken = other.claim(eve, "t1")
        assert isinstance(taken, Changes)
        assert taken.tasks[0].claim is not None
        await in_thread(lambda: gate.write_text("go on"))
        await until(here, lambda: bool(told(here, ClaimEnded)))
        (lost,) = told(here, ClaimEnded)
        assert (lost.end, lost.why) == (ClaimEnd.GIVEN_BACK, "its claim was not renewed in time")
        assert team_of(here).rows[0].claimed == 1
        fence = taken.tasks[0].claim.fence
        assert isinstance(other.act("t1", TaskAction.COMPLETE, eve, text="by eve", fence=fence), Changes)
        other.close()
        report = await ended(here)
        assert [line.partition(":")[0] for line in report.done] == ["t1 first", "t2 second"]
        assert "by eve" in report.done[0]


async def test_a_member_ends_after_as_many_tasks_as_one_may_claim(tmp_path: Path) -> None:
    script = "".join(does(n, f"task {n}") for n in (1, 2))
    async with claiming(tmp_path, script, "ann", team_member_tasks=2) as here:
        await put(here, *(TaskDraft(f"task {n}") for n in (1, 2, 3)))
        report = await ended(here)
        assert [len(lines) for lines in (report.done, report.left)] == [2, 1]
        (row,) = team_of(here).rows
        assert (row.state, row.why, row.claimed) == (
            MemberState.ENDED,
            "it has claimed 2 tasks (team_member_tasks)",
            2,
        )


async def test_an_idle_member_ends_after_its_idle_time_and_one_that_waits_does_not(tmp_path: Path) -> None:
    clock = HandClock()
    clock.move(1.0)
    asks = calls(call("request", kind="question", to="lead", text="Which one?"))
    script = when(asks, "You have claimed this task") + when(says("I wait."), "r1")
    async with claiming(tmp_path, script, "ann", "ben", clock=clock, team_idle_s=3_600) as here:
        await put(here, TaskDraft("look"))
        await until(here, lambda: "waits for lead (r1)" in team_of(here).listed())
        (working, idle) = sorted(team_of(here).live, key=lambda one: not claims_of(here).work_of(one).claims)
        clock.move(3_599)
        await quiet()
        assert len(team_of(here).live) == 2
        clock.move(1)
        await until(here, lambda: len(team_of(here).live) == 1)
        assert team_of(here).live == (working,)
        assert (idle.ending, team_of(here).row(idle).state) == ("idle for 60 min (team_idle_s)", MemberState.ENDED)
        clock.move(7_200)
        await quiet()
        assert team_of(here).live == (working,)


async def test_a_note_does_not_prolong_the_idle_time_and_work_begins_it_again(tmp_path: Path) -> None:
    clock = HandClock()
    clock.move(1.0)
    script = does(1, "look")
    async with claiming(tmp_path, script, "ann", clock=clock, team_idle_s=3_600) as here:
        clock.move(1_800)
        await put(here, TaskDraft("look"))
        await ended(here)
        clock.move(3_599)
        await quiet()
        assert team_of(here).live
        await team_of(here).send(MailDraft(LEAD_BOX, ("ann",), "Just so you know.", MailKind.NOTE))
        clock.move(1)
        await until(here, lambda: not team_of(here).live)
