"""Nothing of the user's repository is written, started or followed."""

import asyncio
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkpoints.places import checkpoints, git, repository, state_of, write

pytestmark = pytest.mark.anyio

Inside = dict[str, tuple[int, int, str]]


def inside(folder: Path) -> Inside:
    """Every file and folder below `folder`: its mode, its time of change and a digest of what it holds."""
    found: Inside = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = status.st_mode, status.st_mtime_ns, digest
    return found


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository with two commits, something staged, something stashed and something untracked."""
    place = repository(tmp_path / "workspace")
    write(place / "a", "1\n")
    write(place / "sub/b", "1\n")
    git(place, "add", ".")
    git(place, "commit", "--quiet", "-m", "first")
    write(place / "a", "stashed\n")
    git(place, "stash")
    write(place / "a", "2\n")
    git(place, "commit", "--quiet", "-am", "second")
    write(place / "staged", "3\n")
    git(place, "add", "staged")
    write(place / "sub/b", "not staged\n")
    write(place / "untracked", "4\n")
    return place


async def test_index_refs_stash_reflogs_objects_and_configuration_stay_as_they_are_byte_for_byte(
    workspace: Path, tmp_path: Path
) -> None:
    status = git(workspace, "status", "--porcelain=v2", "--branch", "--show-stash")
    before, files = inside(workspace / ".git"), state_of(workspace)
    kept = checkpoints(workspace, tmp_path / "session")
    first = await kept.keep()
    write(workspace / "sub/b", "worse\n")
    write(workspace / "more")
    await kept.changes_since(first.id)
    await kept.restore(first.id)
    await kept.forget()
    assert inside(workspace / ".git") == before
    assert state_of(workspace) == files
    assert git(workspace, "status", "--porcelain=v2", "--branch", "--show-stash") == status


async def test_the_user_may_stage_and_commit_meanwhile(workspace: Path, tmp_path: Path) -> None:
    kept = checkpoints(workspace, tmp_path / "session")
    await kept.keep()

    async def stage() -> None:
        for number in range(10):
            write(workspace / f"new{number}", str(number))
            await asyncio.to_thread(git, workspace, "add", f"new{number}")
        await asyncio.to_thread(git, workspace, "commit", "--quiet", "-m", "third")

    staging = asyncio.ensure_future(stage())
    while not staging.done():
        await kept.keep()
    await staging
    assert len(git(workspace, "ls-files").splitlines()) == 13
    assert git(workspace, "fsck", "--strict") == b""


async def test_a_locked_index_does_not_matter(workspace: Path, tmp_path: Path) -> None:
    write(workspace / ".git/index.lock")
    write(workspace / ".git/info/exclude", "untracked\n")
    assert (await checkpoints(workspace, tmp_path / "session").keep()).files == 3


async def test_no_hook_filter_or_monitor_of_the_repository_is_started(workspace: Path, tmp_path: Path) -> None:
    alarm = tmp_path / "alarm"
    for name in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        write(workspace / ".git/hooks" / name, f"#!/bin/sh\necho {name} >> {alarm}\n", 0o755)
    git(workspace, "config", "core.fsmonitor", str(workspace / ".git/hooks/fsmonitor-watchman"))
    for side in ("clean", "smudge", "process"):
        git(workspace, "config", f"filter.loud.{side}", f"echo {side} >> {alarm}; cat")
    write(workspace / ".gitattributes", "* filter=loud\n")
    kept = checkpoints(workspace, tmp_path / "session")
    first = await kept.keep()
    write(workspace / "a", "worse")
    await kept.restore(first.id)
    assert not alarm.exists()


@pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
async def test_line_endings_and_attributes_change_no_byte(workspace: Path, tmp_path: Path, autocrlf: str) -> None:
    git(workspace, "config", "core.autocrlf", autocrlf)
    git(workspace, "config", "core.safecrlf", "true")
    write(
        workspace / ".gitattributes",
        "*.txt text eol=crlf\n*.ident ident\n*.utf16 working-tree-encoding=UTF-16\n*.big filter=lfs diff=lfs\n",
    )
    write(workspace / "mixed.txt", b"a\r\nb\nc\r")
    write(workspace / "plain", b"a\r\nb\n\0")
    write(workspace / "x.ident", b"$Id$ $Id: 12 $")
    write(workspace / "x.utf16", "text".encode("utf-16"))
    write(workspace / "x.big", b"version https://git-lfs.github.com/spec/v1\n")
    before = state_of(workspace)
    kept = checkpoints(workspace, tmp_path / "session")
    first = await kept.keep()
    for path in workspace.glob("[mpx]*"):
        path.write_bytes(b"")
    await kept.restore(first.id)
    assert state_of(workspace) == before


@pytest.fixture
def misleading(tmp_path: Path) -> Iterator[Path]:
    """Variables of git that lead to another repository, as inside of a hook."""
    other = repository(tmp_path / "other")
    values = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / "index"),
        "GIT_OBJECT_DIRECTORY": str(other / "objects"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_TRACE": str(other / "trace"),
    }
    before = dict(os.environ)
    os.environ.update(values)
    yield other
    os.environ.clear()
    os.environ.update(before)


async def test_variables_of_git_lead_nowhere_else(workspace: Path, tmp_path: Path, misleading: Path) -> None:
    before = inside(misleading)
    kept = checkpoints(workspace, tmp_path / "session")
    first = await kept.keep()
    assert first.files == 4
    write(workspace / "a", "worse")
    await kept.restore(first.id)
    assert (workspace / "a").read_text() == "2\n"
    assert inside(misleading) == before


async def test_a_checkpoint_outlives_the_repository(workspace: Path, tmp_path: Path) -> None:
    files = state_of(workspace)
    kept = checkpoints(workspace, tmp_path / "session")
    first = await kept.keep()
    (workspace / ".git").rename(tmp_path / "gone")
    for path in ("a", "staged", "untracked"):
        (workspace / path).unlink()
    restored = await kept.restore(first.id)
    assert state_of(workspace) == files
    assert restored.not_undone == ()
    assert len(await kept.changes_since(restored.undo)) == 3


async def test_what_is_tracked_is_kept_although_it_is_ignored(workspace: Path, tmp_path: Path) -> None:
    write(workspace / ".gitignore", "*\n")
    kept = checkpoints(workspace, tmp_path / "session")
    first = await kept.keep()
    assert first.files == 3
    assert first.left_out == ("ignored by git: .gitignore, untracked",)


async def test_a_rule_of_the_repository_alone_counts_too(workspace: Path, tmp_path: Path) -> None:
    write(workspace / ".git/info/exclude", "untracked\n")
    assert (await checkpoints(workspace, tmp_path / "session").keep()).files == 3


async def test_a_workspace_below_the_top_of_the_repository(workspace: Path, tmp_path: Path) -> None:
    kept = checkpoints(workspace / "sub", tmp_path / "session")
    first = await kept.keep()
    assert first.files == 1
    write(workspace / "sub/b", "worse")
    write(workspace / "a", "not ours")
    await kept.restore(first.id)
    assert (workspace / "sub/b").read_text() == "not staged\n"
    assert (workspace / "a").read_text() == "not ours"


async def test_a_workspace_that_the_repository_ignores_is_kept_all_the_same(workspace: Path, tmp_path: Path) -> None:
    write(workspace / ".gitignore", "play/\n")
    write(workspace / "play/a", "1")
    first = await checkpoints(workspace / "play", tmp_path / "session").keep()
    assert first.files == 1


async def test_a_worktree_of_a_repository(workspace: Path, tmp_path: Path) -> None:
    git(workspace, "worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "other")
    before = inside(workspace / ".git")
    kept = checkpoints(tmp_path / "tree", tmp_path / "session")
    first = await kept.keep()
    assert first.files == 2
    write(tmp_path / "tree/a", "worse")
    await kept.restore(first.id)
    assert (tmp_path / "tree/a").read_text() == "2\n"
    assert inside(workspace / ".git") == before


async def test_submodules_and_nested_repositories_are_left_out_and_never_touched(
    workspace: Path, tmp_path: Path
) -> None:
    other = repository(tmp_path / "other")
    write(other / "c", "1")
    git(other, "add", ".")
    git(other, "commit", "--quiet", "-m", "first")
    git(workspace, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "module")
    write(repository(workspace / "nested") / "d", "1")
    kept = checkpoints(workspace, tmp_path / "session")
    first = await kept.keep()
    lines = ("module/: a git repository of its own", "nested/: a git repository of its own")
    assert first.left_out == lines
    write(workspace / "module/c", "2")
    write(workspace / "nested/d", "2")
    assert await kept.changes_since(first.id) == ()
    assert (await kept.restore(first.id)).not_undone == tuple(f"{line}; never kept" for line in lines)
    assert (workspace / "module/c").read_text() == (workspace / "nested/d").read_text() == "2"


async def test_a_folder_in_the_place_of_a_tracked_file_is_no_repository(workspace: Path, tmp_path: Path) -> None:
    (workspace / "a").unlink()
    write(workspace / "a/inside", "1")
    kept = checkpoints(workspace, tmp_path / "session")
    first = await kept.keep()
    assert first.left_out == ()
    write(workspace / "a/inside", "2")
    assert (await kept.restore(first.id)).not_undone == ()
    assert (workspace / "a/inside").read_text() == "1"


async def test_a_merge_with_conflicts_is_kept_like_any_other_state(workspace: Path, tmp_path: Path) -> None:
    git(workspace, "stash", "--include-untracked")
    git(workspace, "checkout", "--quiet", "-b", "side", "HEAD~")
    write(workspace / "a", "other\n")
    git(workspace, "commit", "--quiet", "-am", "side")
    with pytest.raises(Exception, match="merge"):
        git(workspace, "merge", "main")
    before = state_of(workspace)
    kept = checkpoints(workspace, tmp_path / "session")
    first = await kept.keep()
    write(workspace / "a", "solved badly")
    await kept.restore(first.id)
    assert state_of(workspace) == before
