"""/worktree and `harness worktree`: list, diff, merge, keep, remove."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import Event, MergeDecided, Notice, PermissionAsked, WorktreeLeft
from harness.journal import read
from harness.permissions import PermissionAnswer
from harness.session import Session, open_session
from harness.ui.commands.commands import run_command
from harness.ui.commands.results import PlayEvents, ShowDiff, StartTask
from harness.ui.markdown_page import markdown
from harness.ui.transcript.fold import Transcript
from harness.worktrees.look import KEPT
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import sessions
from tests.worktrees.repositories import committed, git, repository, written

pytestmark = pytest.mark.anyio


async def text_of(line: str, session: Session) -> str:
    match run_command(line, session):
        case StartTask(work):
            return await work
        case ShowDiff(work):
            return "\n".join(await work)
        case result:
            raise AssertionError(result)


async def events_of(line: str, session: Session) -> list[Event]:
    result = run_command(line, session)
    assert isinstance(result, PlayEvents)
    events: AsyncGenerator[Event, None] = result.events
    return [event async for event in events]


async def tree_with(session: Session, name: str, *, ignored: bool = False) -> Path:
    tree = await session.worktrees.enter(name)
    committed(tree.path, f"of-{name}", f"{name}\n")
    if ignored:
        written(tree.path / "a.key", "secret\n")
    await session.worktrees.leave(name)
    return tree.path


async def test_trees_are_listed_compared_merged_kept_and_removed(tmp_path: Path) -> None:
    user = AnsweringUser(PermissionAnswer("no"), PermissionAnswer("once"))
    async with sessions(tmp_path, "", check_command="test -f of-one && echo checked") as here:
        main = here.loaded.settings.workspace
        main.rmdir()
        repository(main)
        async with await open_session(here.loaded, user) as session:
            assert "There is no worktree" in await text_of("/worktree", session)
            one = await tree_with(session, "one", ignored=True)
            two = await tree_with(session, "two")
            listed = await text_of("/worktree list", session)
            assert "one  harness/one  (nobody works in it)" in listed
            assert "1 commit on harness/one, not merged; 1 ignored file: a.key" in listed
            assert "+one" in await text_of("/worktree diff one", session)
            assert "stays until" in await text_of("/worktree keep two", session)
            said = [
                (one.branch, one.what)
                for one in await events_of("/worktree merge one", session)
                if isinstance(one, MergeDecided)
            ]
            assert said == [("harness/one", "merged"), ("", "green"), ("", "landed")]
            assert (main / "of-one").read_text() == "one\n"
            events = await events_of("/worktree remove one", session)
            assert isinstance(events[-1], Notice)
            assert "stays" in events[-1].text
            assert one.exists()
            assert user.requests[0].dangers == ("1 ignored file: a.key",)
            (asked,) = [one for one in events if isinstance(one, PermissionAsked)]
            assert asked.detail == ("would be lost: 1 ignored file: a.key",)
            records = read(session.path).records
            assert "would be lost: 1 ignored file: a.key" in markdown(records)
            transcript = Transcript()
            for record in records:
                transcript.on_event(record.event, record.at)
            assert any("would be lost: 1 ignored file: a.key" in str(entry) for entry in transcript.entries)
            (left,) = [one for one in await events_of("/worktree remove one", session) if isinstance(one, WorktreeLeft)]
            assert (left.removed, left.kept, one.exists()) == (True, f"{KEPT}one", False)
            for line, why in (
                ("/worktree remove one", "There is no worktree 'one'; there are two"),
                ("/worktree merge one", "There is no worktree 'one'"),
            ):
                with pytest.raises(HarnessError, match=why):
                    await events_of(line, session)
            with pytest.raises(HarnessError, match="/worktree takes list, diff NAME"):
                run_command("/worktree remove", session)
            assert two.exists()


def harness(main: Path, state: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    environment = {"HARNESS_STATE_DIR": str(state), "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(main.parent)}
    command = [sys.executable, "-m", "harness", "worktree", *arguments, "--cwd", str(main)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, env=environment | variables
    )


@pytest.mark.stories
async def test_the_subcommand_does_the_same(tmp_path: Path) -> None:
    async with sessions(tmp_path, "") as here:
        main, state = here.loaded.settings.workspace, tmp_path / "state"
        main.rmdir()
        repository(main)
        async with await open_session(here.loaded, AnsweringUser()) as session:
            path = await tree_with(session, "one", ignored=True)
            red = await tree_with(session, "red")
    assert "1 commit on harness/one" in harness(main, state, "list").stdout
    assert "+one" in harness(main, state, "diff", "one").stdout
    git(main, "config", "user.name", "a"), git(main, "config", "user.email", "a@b")
    merged = harness(main, state, "merge", HARNESS_CHECK_COMMAND="! test -f of-red")
    assert merged.returncode == 1
    assert "harness/red given back: red" in merged.stdout
    assert "landed: main is at" in merged.stdout
    assert (main / "of-one").exists()
    refused = harness(main, state, "remove", "one")
    assert refused.returncode == 1
    assert "would be lost: 1 ignored file: a.key" in refused.stdout
    assert "--yes removes it without a question" in refused.stderr
    assert harness(main, state, "keep", "red").returncode == 0
    assert harness(main, state, "remove", "one", "--yes").returncode == 0
    assert not path.exists()
    assert red.exists()
    assert "There is no worktree 'one'" in harness(main, state, "diff", "one").stderr
