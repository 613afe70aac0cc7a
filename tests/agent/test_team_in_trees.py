"""Members with a worktree each: what they write is theirs, and an ended one leaves its work where it is."""

import asyncio
import os
from contextlib import aclosing
from pathlib import Path

import pytest

from harness.base.concurrency import in_thread
from harness.engine.team.trees import OTHER_QUEUE_S, Merged
from harness.engine.worktrees import worktrees_for
from harness.events import (
    ClaimEnd,
    ClaimEnded,
    MailKind,
    MailSent,
    MemberStarted,
    MergeDecided,
    Notice,
    RespawnDecided,
    WorktreeLeft,
)
from harness.model.notices import member_prompt
from harness.policies.tasks.decisions import TaskDraft
from harness.worktrees.merge_queue import MergeQueue
from tests.agent.stage import calls, says
from tests.agent.test_claims import claiming, claims_of, done, ended, join, put, when
from tests.agent.test_permission_rules import bash
from tests.agent.test_team import at_rest, of_member, on_stage, start, team_of, told, until
from tests.engine.hand_clock import HandClock, quiet
from tests.worktrees.repositories import committed, git

pytestmark = pytest.mark.anyio


def repository(folder: Path) -> Path:
    """A workspace with one commit."""
    workspace = folder / "workspace"
    workspace.mkdir()
    git(workspace, "init", "-q")
    committed(workspace, "README.md", "# Demo\n")
    return workspace


def in_tree(name: str, task: str) -> str:
    """A call of team_start."""
    return start(name, task).replace("input = {", "input = { worktree = true,")


async def test_each_writes_in_its_own_tree_and_only_an_unchanged_one_goes_away(tmp_path: Path) -> None:
    workspace = repository(tmp_path)
    writes = '{ name = "write_file", input = { path = "new.txt", content = "mine" } }'
    script = calls(in_tree("ann", "Write."), in_tree("ben", "Only look.")) + says("Started.")
    script += (
        of_member(calls(writes), "Write.") + of_member(says("Looked."), "Only look.") + of_member(says("Written."))
    )
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        await at_rest(here)
        team, (ann, ben) = team_of(here), [event.worktree for event in told(here, MemberStarted)]
        tree = next((tmp_path / "state").rglob(ann))
        assert (tree / "new.txt").read_text() == "mine"
        assert not (workspace / "new.txt").exists()
        assert f"worktree {ann}" in team.listed()
        await team.end_all("over")
        left = {event.name: event for event in told(here, WorktreeLeft)}
        assert left[ben].removed
        assert not left[ann].removed
        assert "new.txt" in str(left[ann].why)
        assert (tree / "new.txt").exists()


async def test_without_git_there_is_no_member_and_its_name_stays_free(tmp_path: Path) -> None:
    script = calls(in_tree("ann", "Write.")) + calls(start("ann")) + says("So.") + of_member(says("Done."), "Look.")
    async with on_stage(tmp_path, script) as here:
        turn = await here.turn()
        assert turn.results[0]["is_error"]
        assert turn.results[0]["content"].startswith("Not started. ")
        assert "ann (a1) has its task" in turn.results[1]["content"]
        await at_rest(here)


async def test_members_on_one_file_do_not_meet_before_the_merge(tmp_path: Path) -> None:
    workspace = repository(tmp_path)
    script = calls(in_tree("ann", "Work ann."), in_tree("ben", "Work ben.")) + says("Started.")
    for name in ("ann", "ben"):
        line = f"echo {name} > shared; git add . && git -c user.name=a -c user.email=a@b commit -qm {name}"
        script += of_member(calls(bash(line)), f"Work {name}.") + of_member(says(f"{name} is done."), "exit 0")
    async with on_stage(tmp_path, script + says("Good.", times='"forever"')) as here:
        for setting in ("name", "email"):
            git(workspace, "config", f"user.{setting}", "a@b")
        await here.turn("Go.")
        await at_rest(here)
        assert not (workspace / "shared").exists()
        systems = [str(one.body["system"]) for one in here.server.requests]
        assert sum(member_prompt("x", "", own_tree=True)[-40:] in one for one in systems) >= 2
        core = here.agent.core
        worktrees = worktrees_for(core.settings, core.shared.processes, core.session)
        result = await MergeQueue(worktrees, None, lambda event: None).run()
        ann, ben = (f"harness/{event.worktree}" for event in told(here, MemberStarted))
        assert result.accepted == (ann,)
        assert [(one.branch, one.why) for one in result.given_back] == [(ben, "conflict")]
        assert (workspace / "shared").read_text() == "ann\n"


async def test_the_author_of_a_red_branch_gets_the_output_as_mail_of_the_program(tmp_path: Path) -> None:
    workspace = repository(tmp_path)
    commit = "git add . && git -c user.name=a -c user.email=a@b commit -qm"
    script = calls(in_tree("ann", "Break."), in_tree("ben", "Build.")) + says("Started.")
    script += of_member(calls(bash(f"touch broken; {commit} ann")), "Break.") + of_member(says("Done."), "exit 0")
    script += of_member(calls(bash(f"touch built; {commit} ben")), "Build.") + of_member(says("Done."), "exit 0")
    script += of_member(says("I mend it."), "given_back")
    check = "! test -f broken || { echo tests are red; exit 3; }"
    async with on_stage(tmp_path, script + says("Good.", times='"forever"'), check_command=check) as here:
        for setting in ("name", "email"):
            git(workspace, "config", f"user.{setting}", "a@b")
        await here.turn("Go.")
        await at_rest(here)
        core, commands = here.agent.core, here.agent.parts.user_commands
        worktrees = worktrees_for(core.settings, core.shared.processes, core.session)
        async with aclosing(commands.merge_worktrees(worktrees, (), team_of(here).given_back)) as events:
            assert [event.what async for event in events if isinstance(event, MergeDecided)][-1] == "landed"
        await at_rest(here)
        assert (workspace / "built").exists()
        (sent,) = [event for event in told(here, MailSent) if event.kind is MailKind.GIVEN_BACK]
        assert (sent.sender.name, sent.recipient.name) == ("program", "ann")
        read = next(str(one.body) for one in here.server.requests if "given_back" in str(one.body))
        assert "tests are red" in read
        assert "exit code 3" in read


def line_in(name: str, words: str) -> str:
    """A command that writes a file of a worktree and commits it."""
    commit = f"git add . && git -c user.name=a -c user.email=a@b commit -qm {name}"
    return f"echo {words} > {name}; {commit}; echo wrote-{name}"


async def test_a_finished_branch_is_merged_before_its_task_is_completed_and_a_red_one_goes_back(tmp_path: Path) -> None:
    workspace = repository(tmp_path)
    for setting in ("name", "email"):
        git(workspace, "config", f"user.{setting}", "a@b")
    script = when(calls(bash(line_in("bad", "red"))), "You have claimed this task of the board:\\n\\nt1")
    script += when(calls(done(1)), "wrote-bad\\n") + when(says("Ready."), "t1 is finished. End your turn")
    script += when(calls(bash("git rm -q bad; " + line_in("good", "green"))), "Your branch was not merged")
    script += when(calls(done(1)), "wrote-good\\n") + when(says("Ready."), "t1 is finished. End your turn")
    script += when(calls(bash("test -e good && echo there")), "You have claimed this task of the board:\\n\\nt2")
    script += when(calls(done(2)), "there\\n") + when(says("Done."), "t2  second  [completed")
    check = "test ! -e bad"
    async with claiming(tmp_path, script, check_command=check) as here:
        await join(here, "ann", worktree=True)
        await put(here, TaskDraft("first", name="a"), TaskDraft("second", needs=("a",)))
        report = await ended(here)
        assert [line.partition(":")[0] for line in report.done] == ["t1 first", "t2 second"]
        assert "exit 0; 2 commits)" in report.done[0]
        assert (workspace / "good").read_text() == "green\n"
        assert not (workspace / "bad").exists()
        assert [(one.task, one.end) for one in told(here, ClaimEnded)] == [
            ("t1", ClaimEnd.COMPLETED),
            ("t2", ClaimEnd.COMPLETED),
        ]
        what = [one.what for one in told(here, MergeDecided)]
        assert what == ["merged", "red", "given back", "merged", "green", "landed"]
        red = next(str(body["messages"][-1]) for body in here.bodies if "not merged" in str(body["messages"][-1]))
        assert "test ! -e bad: exit code 1" in red


async def test_commits_that_were_only_merged_from_the_user_are_no_commits_of_the_member(tmp_path: Path) -> None:
    workspace = repository(tmp_path)
    git(workspace, "branch", "-M", "main")
    async with claiming(tmp_path, says("Never.")) as here:
        await join(here, "ann", worktree=True)
        (member,) = team_of(here).live
        trees, name = team_of(here).trees, team_of(here).row(member).worktree
        claimed_at = await trees.caught_up(name)
        committed(workspace, "of-user", "x\n")
        assert member.workspace is not None
        git(member.workspace, "merge", "-q", "main")
        assert await trees.since(name, claimed_at) == (0, 0)
        committed(member.workspace, "own", "x\n")
        assert await trees.since(name, claimed_at) == (1, 0)


async def test_a_fault_behind_a_finished_task_delays_nothing(tmp_path: Path) -> None:
    repository(tmp_path)
    script = when(calls(bash(line_in("new", "words"))), "You have claimed this task of the board:\\n\\nt1")
    script += when(calls(done(1)), "wrote-new\\n") + when("[[reply]]\nstatus = 529\n", "t1 is finished")
    async with claiming(tmp_path, script, max_retries=0) as here:
        for setting in ("name", "email"):
            git(tmp_path / "workspace", "config", f"user.{setting}", "a@b")
        await join(here, "ann", worktree=True)
        await put(here, TaskDraft("write"))
        report = await ended(here)
        assert len(report.done) == 1
        assert team_of(here).live[0].goes_on == 0.0


def finishes(subject: str, words: str) -> str:
    """Entries for a member that commits a file for the task t1, and says that it is done."""
    script = when(calls(bash(line_in("new", words))), "You have claimed this task of the board:\\n\\nt1")
    script += when(calls(done(1)), "wrote-new\\n") + when(says("Ready."), "t1 is finished. End your turn")
    return script


def twice(entry: str, text: str) -> str:
    return f"{when(entry, text)}times = 2\n"


def named_user(workspace: Path) -> None:
    for setting in ("name", "email"):
        git(workspace, "config", f"user.{setting}", "a@b")


async def test_after_three_reds_the_task_is_given_up_with_the_output_and_the_next_one_begins_without_that_branch(
    tmp_path: Path,
) -> None:
    named_user(workspace := repository(tmp_path))
    script = finishes("first", "red") + twice(calls(done(1)), "so your task is not completed")
    script += twice(says("Ready."), "t1 is finished. End your turn")
    script += when(calls(bash(line_in("good", "green"))), "You have claimed this task of the board:\\n\\nt2")
    script += when(calls(done(2)), "wrote-good\\n") + when(says("Ready."), "t2 is finished. End your turn")
    check = "test ! -e new || { echo the tests are red; exit 3; }"
    async with claiming(tmp_path, script, check_command=check) as here:
        await join(here, "ann", worktree=True)
        await put(here, TaskDraft("first"), TaskDraft("second"))
        report = await ended(here)
        assert [line.partition(":")[0] for line in report.done] == ["t2 second"]
        assert [line.partition(":")[0] for line in report.set_aside] == ["t1 first"]
        assert "given back 3 times" in report.set_aside[0]
        assert "the tests are red" in report.set_aside[0]
        assert [one.end for one in told(here, ClaimEnded)] == [ClaimEnd.DEFERRED, ClaimEnd.COMPLETED]
        mails = [one for one in told(here, MailSent) if one.kind is MailKind.GIVEN_BACK]
        assert [(one.sender.name, one.recipient.name) for one in mails] == [("program", "ann")] * 2
        assert [(one.what, one.why) for one in told(here, RespawnDecided)] == [
            ("respawn", "its branch was given back 3 times")
        ]
        kept, _ = told(here, MemberStarted)
        assert git(workspace, "show", f"harness/{kept.worktree}:new") == "red"
        assert not (workspace / "new").exists()
        assert (workspace / "good").exists()


async def test_a_branch_that_cannot_be_brought_to_the_users_tree_sets_its_task_aside_and_is_kept(
    tmp_path: Path,
) -> None:
    named_user(workspace := repository(tmp_path))
    (workspace / "new").write_text("of the user, not committed\n")
    async with claiming(tmp_path, finishes("first", "mine")) as here:
        await join(here, "ann", worktree=True)
        await put(here, TaskDraft("first", name="a"), TaskDraft("second", needs=("a",)))
        report = await ended(here)
        assert report.done == ()
        assert report.set_aside[0].startswith("t1 first: its branch is ready and was not merged: ")
        assert report.deferred == ("t2 second: waits for t1",)
        assert (workspace / "new").read_text() == "of the user, not committed\n"
        (ann,) = told(here, MemberStarted)
        assert git(workspace, "show", f"harness/{ann.worktree}:new") == "mine"


async def test_a_member_that_cannot_be_told_about_its_red_branch_gives_the_task_back(tmp_path: Path) -> None:
    named_user(repository(tmp_path))
    os.mkfifo(gate := tmp_path / "gate")
    async with claiming(tmp_path, finishes("first", "red"), check_command=f"cat {gate}; false", sandbox="off") as here:
        await join(here, "ann", worktree=True)
        await put(here, TaskDraft("first"))
        await until(here, lambda: any(one.what == "merged" for one in told(here, MergeDecided)))
        (mails,) = (tmp_path / "state").rglob("teams/*.sqlite")
        mails.write_bytes(b"no database" * 1000)
        await in_thread(lambda: gate.write_text("go on"))
        await until(here, lambda: bool(told(here, ClaimEnded)))
        (back,) = told(here, ClaimEnded)
        assert back.end is ClaimEnd.GIVEN_BACK
        assert back.why.startswith("ann was not told about its red branch: ")
        assert any(one.text == back.why for one in told(here, Notice))
        claims_of(here).switch(on=False, why="the test ends here")


async def test_a_member_on_another_branch_is_told_and_its_task_is_not_done_before_it_is_back(tmp_path: Path) -> None:
    named_user(workspace := repository(tmp_path))
    script = when(calls(bash("git switch -qc mine; " + line_in("new", "words"))), "You have claimed this task")
    script += when(calls(done(1)), "wrote-new\\n") + when(says("Ready."), "t1 is finished. End your turn")
    script += when(calls(bash("git switch -q - && git merge -q mine && echo back")), "is on the branch mine")
    script += when(calls(done(1)), "back\\n") + when(says("Ready."), "t1 is finished. End your turn")
    async with claiming(tmp_path, script, check_command="true") as here:
        await join(here, "ann", worktree=True)
        await put(here, TaskDraft("first"))
        assert len((await ended(here)).done) == 1
        assert (workspace / "new").read_text() == "words\n"
        assert [one.kind for one in told(here, MailSent)] == [MailKind.GIVEN_BACK]
        assert [one.what for one in told(here, MergeDecided)] == ["merged", "green", "landed"]


async def test_a_commit_of_the_user_during_the_check_only_repeats_the_merge(tmp_path: Path) -> None:
    named_user(workspace := repository(tmp_path))
    moves = f"test -e {tmp_path}/moved || (touch {tmp_path}/moved; git -C {workspace} commit -q --allow-empty -m user)"
    async with claiming(tmp_path, finishes("first", "mine"), check_command=moves, sandbox="off") as here:
        await join(here, "ann", worktree=True)
        await put(here, TaskDraft("first"))
        assert len((await ended(here)).done) == 1
        assert [one.what for one in told(here, MergeDecided) if one.branch == ""] == [
            "green",
            "ready",
            "green",
            "landed",
        ]
        assert (workspace / "new").exists()


async def test_a_branch_that_cannot_be_merged_keeps_no_other_from_it(tmp_path: Path) -> None:
    named_user(workspace := repository(tmp_path))
    async with claiming(tmp_path, says("Never.")) as here:
        await join(here, "ann", worktree=True)
        await join(here, "ben", worktree=True)
        trees, (ann, ben) = team_of(here).trees, (one.worktree for one in told(here, MemberStarted))
        for name in (ann, ben):
            committed(next((tmp_path / "state").rglob(name)), name, "x\n")
        git(workspace, "worktree", "remove", "--force", "--force", str(next((tmp_path / "state").rglob(ann))))
        merged = await trees.merged([ann, ben])
        assert merged[ann].problem.startswith("its branch could not be merged: ")
        assert merged[ben] == Merged()
        assert (workspace / ben).exists()
        committed(next((tmp_path / "state").rglob(ben)), "again", "x\n")
        git(workspace, "switch", "-q", "--detach")
        assert f"; to take it: git -C {workspace} merge harness/{ben}" in (await trees.merged([ben]))[ben].problem


async def test_the_queue_of_another_session_is_waited_for(tmp_path: Path) -> None:
    named_user(workspace := repository(tmp_path))
    clock = HandClock()
    clock.move(1.0)
    async with claiming(tmp_path, says("Never."), clock=clock) as here:
        await join(here, "ann", worktree=True)
        (ann,), core = told(here, MemberStarted), here.agent.core
        committed(next((tmp_path / "state").rglob(ann.worktree)), "new", "x\n")
        other = worktrees_for(core.settings, core.shared.processes, "other")
        await other.enter("merge-queue", queue=True)
        merging = asyncio.create_task(team_of(here).trees.merged([ann.worktree]))
        await until(here, lambda: any("A merge waits." in one.text for one in told(here, Notice)))
        await quiet()
        await other.leave("merge-queue")
        clock.move(OTHER_QUEUE_S)
        assert await merging == {ann.worktree: Merged()}
        assert (workspace / "new").exists()
