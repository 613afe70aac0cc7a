"""A session in a worktree: where it works, what it leaves, and that a resumed one is there again."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import Notice, WorktreeEntered, WorktreeLeft
from harness.journal import read, session_folder
from harness.session import Opening, Session
from harness.ui.lines.events import line_of
from harness.worktrees import WorktreeError
from tests.agent.stage import Sessions, calls, played, says, sessions
from tests.agent.test_permission_rules import bash
from tests.session.test_opening import out_of_order
from tests.worktrees.repositories import committed, git, written

pytestmark = pytest.mark.anyio


def repository_of(here: Sessions) -> Path:
    main = here.loaded.settings.workspace
    git(main, "init", "-q")
    written(main / ".gitignore", "*.key\n")
    committed(main, "f", "one\n")
    written(main / "mine", "not committed\n")
    return main


async def closed(session: Session) -> list[WorktreeLeft]:
    await session.aclose()
    return session.left


async def test_a_session_works_in_its_tree_and_an_unchanged_one_goes_away(tmp_path: Path) -> None:
    async with sessions(tmp_path, calls(bash("pwd; cat f; ls mine")) + says("Done."), permission_mode="yolo") as here:
        main = repository_of(here)
        session = await here.open(Opening(worktree="fix"))
        turn = await played(session.run("Go."))
        path = session.settings.workspace
        assert str(turn.results[0]["content"]).startswith(f"{path}\none\n")
        assert "cannot access 'mine'" in str(turn.results[0]["content"])
        (entered,) = [one.event for one in read(session.path).records if isinstance(one.event, WorktreeEntered)]
        assert (entered.name, entered.branch, entered.uncommitted) == ("fix", "harness/fix", 1)
        assert entered.base == git(main, "rev-parse", "HEAD")
        assert session.path.parent == session_folder(main, here.loaded.settings.state_dir)
        with pytest.raises(WorktreeError, match=f"in use by session {session.id}"):
            await here.open(Opening(worktree="fix"))
        (left,) = await closed(session)
        assert left.removed
        assert not path.exists()
        assert [one.event for one in read(session.path).records if isinstance(one.event, WorktreeLeft)] == [left]


async def test_changes_that_are_carried_and_the_number_of_the_tree_are_there_for_its_commands(tmp_path: Path) -> None:
    script = calls(bash("cat mine; echo $HARNESS_WORKTREE has $HARNESS_WORKTREE_NUMBER")) + says("Done.")
    async with sessions(tmp_path, script, permission_mode="yolo") as here:
        repository_of(here)
        async with await here.open(Opening(worktree="fix", carry=True)) as session:
            turn = await played(session.run("Go."))
            assert str(turn.results[0]["content"]).startswith("not committed\nfix has 1\n")
            (entered,) = [one for one in session.begun if isinstance(one, WorktreeEntered)]
            assert str(line_of(entered)).endswith("; with your 1 uncommitted file")
            assert "without your 1 uncommitted file (--carry-changes" in str(line_of(replace(entered, carried=False)))


async def test_a_resumed_session_is_in_its_tree_again_and_others_hear_of_it(tmp_path: Path) -> None:
    script = calls(bash("echo new > made.key; echo two > f")) + says("Done.") + calls(bash("cat made.key f; pwd"))
    async with sessions(tmp_path, script + says("Again."), permission_mode="yolo") as here:
        main = repository_of(here)
        session = await here.open(Opening(worktree=""))
        await played(session.run("Go."))
        path = session.settings.workspace
        assert path.name == "t1"
        (left,) = await closed(session)
        assert not left.removed
        assert left.why == (
            "1 changed file: f",
            "1 ignored file: made.key",
        )
        async with await here.open() as other:
            assert other.settings.workspace == main
            said = [one.text for one in other.begun if isinstance(one, Notice)]
            assert said == ["worktree t1 is left: 1 changed file; 1 ignored file; /worktree"]
        again = await here.open(Opening(session.id))
        turn = await played(again.run("Go on."))
        assert str(turn.results[0]["content"]).split()[:3] == ["new", "two", str(path)]
        await again.aclose()
        assert (main / "f").read_text() == "one\n"


async def test_where_no_worktree_can_be_made_the_session_does_not_begin(tmp_path: Path) -> None:
    async with sessions(tmp_path, "") as here:
        with pytest.raises(WorktreeError, match="is in no git repository"):
            await here.open(Opening(worktree="fix"))
        main = repository_of(here)
        with pytest.raises(WorktreeError, match="cannot be called"):
            await here.open(Opening(worktree="a..b"))
        assert [path.name for path in (main / ".git" / "refs" / "heads").iterdir()] == ["main"]


async def test_a_session_that_cannot_be_continued_leaves_its_tree(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.")) as here:
        repository_of(here)
        async with await here.open() as session:
            await played(session.run("first"))
        out_of_order(session.path)
        with pytest.raises(HarnessError, match="out of order"):
            await here.open(Opening(session.id, worktree="fix"))
        async with await here.open(Opening(worktree="fix")) as other:
            assert other.settings.workspace.name == "fix"


async def test_checkpoints_are_those_of_their_tree(tmp_path: Path) -> None:
    write = calls('{ name = "write_file", input = { path = "f", content = "changed" } }') + says("Done.")
    async with sessions(tmp_path, write, permission_mode="yolo", checkpoints=True) as here:
        repository_of(here)
        session = await here.open(Opening(worktree="one"))
        await played(session.run("Go."))
        assert (await session.rewind.files_since(1)) is not None
        await session.aclose()
        async with await here.open(Opening(session.id, worktree="two")) as other:
            with pytest.raises(HarnessError, match=r"checkpoint|kept"):
                await other.rewind.files_since(1)
            assert (other.settings.workspace / "f").read_text() == "one\n"
        async with await here.open(Opening(session.id, worktree="one")) as again:
            await again.rewind.restore_files(1)
            assert (again.settings.workspace / "f").read_text() == "one\n"
