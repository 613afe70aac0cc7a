"""Keep, compare, restore, undo, forget: with a repository and without one."""

import asyncio
import os
import re
from pathlib import Path

import pytest

from harness.checkpoints import ChangeKind, CheckpointError, CheckpointLimits, Checkpoints, FileChange
from tests.checkpoints.places import checkpoints, state_of, write

pytestmark = pytest.mark.anyio


async def test_a_restore_brings_back_what_was_changed_and_takes_away_what_was_added(
    workspace: Path, kept: Checkpoints
) -> None:
    write(workspace / "edited", "old")
    write(workspace / "deep/down/deleted", "gone soon")
    write(workspace / "run.sh", "#!/bin/sh\n", 0o755)
    (workspace / "link").symlink_to("edited")
    before = state_of(workspace)
    first = await kept.keep()
    assert (first.files, first.left_out) == (4, ())

    write(workspace / "edited", "new")
    (workspace / "deep/down/deleted").unlink()
    (workspace / "deep/down").rmdir()
    (workspace / "run.sh").chmod(0o644)
    (workspace / "link").unlink()
    write(workspace / "link", "a file now")
    write(workspace / "new/folder/added")
    after = state_of(workspace)
    assert await kept.changes_since(first.id) == (
        FileChange("deep/down/deleted", ChangeKind.REMOVED),
        FileChange("edited", ChangeKind.CHANGED),
        FileChange("link", ChangeKind.CHANGED),
        FileChange("new/folder/added", ChangeKind.ADDED),
        FileChange("run.sh", ChangeKind.CHANGED),
    )

    restored = await kept.restore(first.id)
    assert state_of(workspace) == before
    assert set(restored.written) == {"deep/down/deleted", "edited", "link", "run.sh"}
    assert restored.removed == ("new/folder/added",)
    assert restored.not_undone == ()
    assert not (workspace / "new").exists()
    assert await kept.changes_since(first.id) == ()

    await kept.restore(restored.undo)
    assert state_of(workspace) == after


async def test_the_same_state_has_the_same_id(workspace: Path, kept: Checkpoints) -> None:
    write(workspace / "a", "1")
    first = await kept.keep()
    assert await kept.keep() == first
    write(workspace / "a", "2")
    second = await kept.keep()
    assert second.id != first.id
    write(workspace / "a", "1")
    assert await kept.keep() == first


async def test_another_process_of_the_session_finds_the_checkpoints(workspace: Path, tmp_path: Path) -> None:
    write(workspace / "a", "1")
    first = await checkpoints(workspace, tmp_path / "session").keep()
    write(workspace / "a", "2")
    resumed = checkpoints(workspace, tmp_path / "session")
    await resumed.keep()
    await resumed.restore(first.id)
    assert (workspace / "a").read_text() == "1"


async def test_forgetting_removes_everything_and_leaves_the_workspace(
    workspace: Path, kept: Checkpoints, tmp_path: Path
) -> None:
    write(workspace / "a", "1")
    first = await kept.keep()
    await kept.forget()
    assert not (tmp_path / "session").exists()
    with pytest.raises(CheckpointError, match=f"no checkpoint {first.id}"):
        await kept.restore(first.id)
    await kept.forget()
    assert await kept.keep() == first
    assert state_of(workspace) == {"a": ("file", 0o644, b"1")}


@pytest.mark.parametrize("id", ["", "0123456789abcdef", "../../secret"])
async def test_an_unknown_id_is_refused_in_one_sentence(kept: Checkpoints, id: str) -> None:
    with pytest.raises(CheckpointError, match="There is no checkpoint"):
        await kept.changes_since(id)


async def test_what_is_ignored_is_said_and_never_touched(workspace: Path, kept: Checkpoints) -> None:
    write(workspace / ".gitignore", "*.log\nbuild/\n")
    write(workspace / "a.log", "1")
    write(workspace / "build/out", "1")
    write(workspace / "src/a", "1")
    first = await kept.keep()
    assert first.files == 2
    assert first.left_out == ("ignored by git: a.log, build/",)

    (workspace / ".gitignore").unlink()  # now everything looks as if it had been added
    write(workspace / "a.log", "2")
    write(workspace / "build/more", "2")
    assert await kept.changes_since(first.id) == (FileChange(".gitignore", ChangeKind.REMOVED),)
    await kept.restore(first.id)
    assert (workspace / "a.log").read_text() == "2"
    assert (workspace / "build/more").read_text() == "2"


async def test_a_file_that_is_ignored_only_since_is_restored_all_the_same(workspace: Path, kept: Checkpoints) -> None:
    write(workspace / "notes.txt", "1")
    first = await kept.keep()
    write(workspace / "notes.txt", "2")
    write(workspace / "other.txt", "2")
    write(workspace / ".gitignore", "*.txt\n")
    restored = await kept.restore(first.id)
    assert (workspace / "notes.txt").read_text() == "1"
    assert restored.not_undone == ("other.txt: ignored by git; it stays as it is",)
    await kept.restore(restored.undo)
    assert (workspace / "notes.txt").read_text() == "2"


async def test_files_that_a_program_left_and_git_ignores_are_named_in_one_line(
    workspace: Path, kept: Checkpoints
) -> None:
    first = await kept.keep()
    write(workspace / ".cache/.gitignore", "*\n")
    write(workspace / ".cache/a/b", "2")
    write(workspace / ".cache/c", "2")
    (line,) = (await kept.restore(first.id)).not_undone
    assert re.fullmatch(r"\.cache/(: .*; it stays as it is|\.gitignore and 2 more: .*; they stay as they are)", line)
    write(workspace / "logs/.gitignore", "*\n")
    (line,) = (await kept.restore(first.id)).not_undone
    assert re.fullmatch(r"\.cache/( and 1|\.gitignore and 3) more: ignored by git; they stay as they are", line)


async def test_a_file_that_came_back_into_a_folder_that_is_ignored_since_goes_again_when_that_is_undone(
    workspace: Path, kept: Checkpoints
) -> None:
    write(workspace / "d/old", "1")
    first = await kept.keep()
    (workspace / "d/old").rename(workspace / "d/new")
    write(workspace / ".gitignore", "d/\n")
    before = state_of(workspace)
    restored = await kept.restore(first.id)
    assert (workspace / "d/old").read_text() == "1"
    write(workspace / "d/mine", "of the user")
    assert (await kept.restore(restored.undo)).removed == ("d/old",)
    (workspace / "d/mine").unlink()
    assert state_of(workspace) == before


async def test_a_file_in_place_of_a_folder_and_a_folder_in_place_of_a_file(workspace: Path, kept: Checkpoints) -> None:
    write(workspace / "was folder/a", "1")
    write(workspace / "was file", "1")
    before = state_of(workspace)
    first = await kept.keep()
    (workspace / "was folder/a").unlink()
    (workspace / "was folder").rmdir()
    write(workspace / "was folder", "2")
    (workspace / "was file").unlink()
    write(workspace / "was file/b/c", "2")
    (workspace / "was file/empty").mkdir()
    restored = await kept.restore(first.id)
    assert restored.not_undone == ("was file: Directory not empty; it stays as it is",)
    (workspace / "was file/empty").rmdir()
    await kept.restore(first.id)
    assert state_of(workspace) == before


async def test_the_loop_continues_while_files_are_kept(workspace: Path, kept: Checkpoints) -> None:
    for number in range(300):
        write(workspace / f"{number}", os.urandom(5_000))
    turns = 0
    keeping = asyncio.ensure_future(kept.keep())
    while not keeping.done():
        turns += 1
        await asyncio.sleep(0.001)
    assert turns > 5


async def test_a_cancelled_keep_ends_and_the_next_one_works(workspace: Path, kept: Checkpoints) -> None:
    for number in range(500):
        write(workspace / f"{number}", os.urandom(5_000))
    keeping = asyncio.ensure_future(kept.keep())
    await asyncio.sleep(0.02)
    keeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await keeping
    first = await kept.keep()
    before = state_of(workspace)
    write(workspace / "7", "other")
    await kept.restore(first.id)
    assert state_of(workspace) == before


async def test_calls_at_the_same_time_wait_for_each_other(workspace: Path, kept: Checkpoints) -> None:
    write(workspace / "a", "1")
    first, second, third = await asyncio.gather(*(kept.keep() for _ in range(3)))
    assert first == second == third


async def test_a_workspace_that_is_gone_is_an_error_in_one_sentence(workspace: Path, tmp_path: Path) -> None:
    missing = checkpoints(workspace / "missing", tmp_path / "session")
    with pytest.raises(CheckpointError, match=r"^The files cannot be kept or restored:.*No such file or directory\.$"):
        await missing.keep()


async def test_the_folder_of_the_session_may_lie_in_the_workspace(workspace: Path) -> None:
    write(workspace / "a", "1")
    inside = checkpoints(workspace, workspace / "state/session")
    first = await inside.keep()
    assert first.files == 1
    assert await inside.changes_since(first.id) == ()
    write(workspace / "a", "2")
    assert (await inside.restore(first.id)).removed == ()


async def test_the_names_of_one_file_stay_together(workspace: Path, kept: Checkpoints) -> None:
    write(workspace / "a", "1")
    (workspace / "b").hardlink_to(workspace / "a")
    before = state_of(workspace)
    first = await kept.keep()
    write(workspace / "a", "2")
    assert (workspace / "b").read_text() == "2"
    result = await kept.restore(first.id)
    assert (result.written, result.not_undone) == (("a", "b"), ())
    assert state_of(workspace) == before
    assert (workspace / "a").samefile(workspace / "b")


async def test_files_that_were_linked_since_become_two_again(workspace: Path, kept: Checkpoints) -> None:
    write(workspace / "a", "1")
    write(workspace / "b", "2")
    first = await kept.keep()
    before = state_of(workspace)
    (workspace / "b").unlink()
    (workspace / "b").hardlink_to(workspace / "a")
    write(workspace / "a", "3")
    assert (await kept.restore(first.id)).not_undone == ()
    assert state_of(workspace) == before


async def test_a_checkpoint_of_version_0_1_0_is_refused_in_one_sentence_and_the_session_continues(
    workspace: Path, kept: Checkpoints, tmp_path: Path
) -> None:
    write(workspace / "a", "1")
    former = '{"how": "git", "beyond": null, "left_out": {}, "entries": {}}'
    write(tmp_path / "session/manifests/0123456789abcdef.json", former)
    first = await kept.keep()
    with pytest.raises(CheckpointError, match=r"0123456789abcdef was kept by version 0\.1\.0"):
        await kept.restore("0123456789abcdef")
    write(workspace / "a", "2")
    await kept.restore(first.id)
    assert (workspace / "a").read_text() == "1"


async def test_limits_are_above_zero() -> None:
    with pytest.raises(ValueError, match="above 0"):
        CheckpointLimits(files=0)
