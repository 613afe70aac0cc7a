"""Names, kinds and limits out of the ordinary; and borders that no restore crosses."""

import asyncio
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.checkpoints import ChangeKind, CheckpointError, CheckpointLimits, Checkpoints
from tests.checkpoints.places import checkpoints, git, repository, state_of, stored, write

pytestmark = pytest.mark.anyio

NAMES = [
    b"new\nline",
    b"latin \xe9",
    b"tab\tand \"quotes\" and 'more'",
    b"back\\slash",
    b"\xc3\xa9 composed",
    b"e\xcc\x81 decomposed",
    b"-dash",
    b":colon",
    b"*star?",
    b" spaces ",
    b"CON",
    b"git~1",
    b".GIT",
    b".gitmodules",
    b"control \x01\x7f",
    b"x" * 255,
    b"deep/" * 40 + b"end",
]


async def test_every_name_that_a_file_can_have_comes_back(workspace: Path, kept: Checkpoints) -> None:
    for name in NAMES:
        write(workspace / os.fsdecode(name), name)
    before = state_of(workspace)
    first = await kept.keep()
    assert first.files == len(NAMES)
    for name in NAMES:
        (workspace / os.fsdecode(name)).unlink()
    changed = await kept.changes_since(first.id)
    assert len(changed) == len(NAMES)
    assert "latin \\xe9" in {change.path for change in changed}
    "".join(change.path for change in changed).encode()
    await kept.restore(first.id)
    assert state_of(workspace) == before


async def test_links_are_kept_as_links_wherever_they_lead(workspace: Path, kept: Checkpoints, tmp_path: Path) -> None:
    secret = write(tmp_path / "outside/secret", "not ours")
    for name, target in {
        "out": tmp_path / "outside",
        "file": secret,
        "broken": Path("no/where"),
        "own": Path("own"),
    }.items():
        (workspace / name).symlink_to(target)
    before = state_of(workspace)
    first = await kept.keep()
    for name in ("out", "file", "broken", "own"):
        (workspace / name).unlink()
    write(workspace / "out", "1")
    await kept.restore(first.id)
    assert state_of(workspace) == before
    assert secret.read_text() == "not ours"


async def test_a_restore_never_follows_a_link_out_of_the_workspace(
    workspace: Path, kept: Checkpoints, tmp_path: Path
) -> None:
    write(workspace / "folder/a", "1")
    write(workspace / "folder/deep/b", "1")
    before = state_of(workspace)
    first = await kept.keep()
    outside = tmp_path / "outside"
    write(outside / "a", "not ours")
    write(outside / "deep/b", "not ours")
    (workspace / "folder").rename(tmp_path / "moved away")
    (workspace / "folder").symlink_to(outside)
    assert {(change.path, change.kind) for change in await kept.changes_since(first.id)} == {
        ("folder", ChangeKind.ADDED),
        ("folder/a", ChangeKind.REMOVED),
        ("folder/deep/b", ChangeKind.REMOVED),
    }
    await kept.restore(first.id)
    assert state_of(workspace) == before
    assert (outside / "a").read_text() == (outside / "deep/b").read_text() == "not ours"


async def test_a_tracked_folder_that_became_a_link_is_not_read_through_it(tmp_path: Path) -> None:
    workspace = repository(tmp_path / "workspace")
    write(workspace / "folder/a", "1")
    git(workspace, "add", ".")
    write(tmp_path / "outside/a", "not ours")
    (workspace / "folder").rename(tmp_path / "moved away")
    (workspace / "folder").symlink_to(tmp_path / "outside")
    assert (await checkpoints(workspace, tmp_path / "session").keep()).files == 1


async def test_pipes_and_sockets_are_left_alone(workspace: Path, kept: Checkpoints) -> None:
    write(workspace / "was a file", "1")
    os.mkfifo(workspace / "pipe")
    server = socket.socket(socket.AF_UNIX)
    previous = Path.cwd()
    os.chdir(workspace)  # the whole path may be too long for a socket
    server.bind("socket")
    os.chdir(previous)
    first = await kept.keep()
    assert first.files == 1
    (workspace / "was a file").unlink()
    os.mkfifo(workspace / "was a file")
    assert await kept.changes_since(first.id) == ()
    restored = await kept.restore(first.id)
    server.close()
    assert "was a file: a named pipe; it stays as it is" in restored.not_undone
    assert {name: kind for name, (kind, _, _) in state_of(workspace).items()} == dict.fromkeys(
        ("was a file", "pipe", "socket"), "special"
    )


async def test_a_file_above_the_limit_is_left_out_and_never_touched(workspace: Path, tmp_path: Path) -> None:
    kept = checkpoints(workspace, tmp_path / "session", CheckpointLimits(file_bytes=1_000_000))
    write(workspace / "big", b"1" * 1_500_000)
    write(workspace / "grows", b"1")
    first = await kept.keep()
    assert first.left_out == ("big: 1.5 MB, more than the 1.0 MB kept of a file",)
    write(workspace / "big", b"now small")
    write(workspace / "grows", b"2" * 2_000_000)
    assert await kept.changes_since(first.id) == ()
    assert (await kept.restore(first.id)).not_undone == (
        "grows: 2.0 MB, more than the 1.0 MB kept of a file; it stays as it is",
        "big: 1.5 MB, more than the 1.0 MB kept of a file; never kept",
    )
    assert (workspace / "big").read_bytes() == b"now small"
    assert (workspace / "grows").stat().st_size == 2_000_000


@pytest.mark.parametrize("limits", [CheckpointLimits(files=3), CheckpointLimits(total_bytes=3)])
async def test_what_is_beyond_the_limit_of_the_whole_is_never_touched(
    workspace: Path, tmp_path: Path, limits: CheckpointLimits
) -> None:
    for name in "abcde":
        write(workspace / name, "1")
    kept = checkpoints(workspace, tmp_path / "session", limits)
    first = await kept.keep()
    assert first.files == 3
    assert first.left_out == ("d and all after it, by name: the workspace holds more than is kept",)
    for name in "ace":
        write(workspace / name, "2")
    write(workspace / "f", "2")
    (workspace / "b").unlink()
    (workspace / "d").unlink()
    restored = await kept.restore(first.id)
    assert restored.not_undone[-1] == "d and all after it, by name: never kept"
    assert {name: content for name, (_, _, content) in state_of(workspace).items()} == {
        "a": b"1",
        "b": b"1",
        "c": b"1",
        "e": b"2",
        "f": b"2",
    }


async def test_a_session_that_has_kept_too_much_keeps_nothing_more(workspace: Path, tmp_path: Path) -> None:
    kept = checkpoints(workspace, tmp_path / "session", CheckpointLimits(stored_bytes=2_000_000))
    write(workspace / "a", os.urandom(1_500_000))
    before = state_of(workspace)
    first = await kept.keep()
    size = stored(tmp_path / "session")
    write(workspace / "a", os.urandom(1_500_000))
    with pytest.raises(CheckpointError, match=r"hold 2 MB, and nothing more is kept\.$"):
        await kept.keep()
    assert stored(tmp_path / "session") == size
    with pytest.raises(CheckpointError, match="nothing more is kept"):
        await kept.restore(first.id)  # it could not be undone
    (workspace / "a").unlink()
    await kept.restore(first.id)
    assert state_of(workspace) == before


async def test_work_that_takes_too_long_is_given_up(workspace: Path, tmp_path: Path) -> None:
    write(workspace / "a", "1")
    with pytest.raises(CheckpointError, match="took longer than 1e-09 s"):
        await checkpoints(workspace, tmp_path / "session", CheckpointLimits(time_s=1e-9)).keep()


@pytest.mark.stories
async def test_files_that_come_and_go_while_they_are_read_do_no_harm(workspace: Path, kept: Checkpoints) -> None:
    write(workspace / "stays", "1")
    loop = "echo $i > a$((i%40)); rm -rf a$(((i+20)%40)); mkdir -p d; : > d/x; rm -rf d"
    script = f"i=0; while :; do i=$((i+1)); {loop}; done"
    busy = await asyncio.create_subprocess_exec("sh", "-c", script, cwd=workspace, start_new_session=True)
    kept_all = [await kept.keep() for step in range(15)]
    os.killpg(busy.pid, signal.SIGKILL)
    await busy.wait()
    await kept.keep()
    for one in kept_all:
        await kept.restore(one.id)
        assert await kept.changes_since(one.id) == ()


@pytest.fixture
def without_rights(in_git: bool) -> Iterator[Path]:
    """A workspace of another user than root; this process then acts as that user."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    workspace = folder / "workspace"
    workspace.mkdir()
    if in_git:
        repository(workspace)
    root = os.geteuid() == 0
    if root:
        for path in (folder, workspace, *workspace.rglob("*")):
            os.chown(path, 65534, 65534)
        os.setresuid(65534, 65534, 0)
    yield workspace
    for path in (*workspace.rglob("closed*"), *workspace.glob("sub/closed*")):
        path.chmod(0o755)
    if root:
        os.setresuid(0, 0, 0)
    shutil.rmtree(folder)


async def test_what_cannot_be_read_is_said_and_never_touched(without_rights: Path) -> None:
    workspace = without_rights
    write(workspace / "sub/closed folder/a", "1")
    write(workspace / "closed file", "1")
    write(workspace / "open", "1")
    (workspace / "sub/closed folder").chmod(0)
    (workspace / "closed file").chmod(0)
    kept = checkpoints(workspace, workspace.parent / "session")
    first = await kept.keep()
    assert first.files == 1
    assert first.left_out == (
        "closed file: cannot be read: Permission denied",
        "sub/closed folder/: cannot be read",
    )
    (workspace / "sub/closed folder").chmod(0o755)
    (workspace / "closed file").chmod(0o644)
    assert await kept.changes_since(first.id) == ()
    (workspace / "open").chmod(0)
    restored = await kept.restore(first.id)
    (workspace / "open").chmod(0o644)
    assert "open: cannot be read: Permission denied; it stays as it is" in restored.not_undone
    assert (workspace / "sub/closed folder/a").read_text() == "1"


async def test_a_folder_that_may_not_be_written_is_reported(without_rights: Path) -> None:
    workspace = without_rights
    write(workspace / "closed/a", "1")
    write(workspace / "open", "1")
    kept = checkpoints(workspace, workspace.parent / "session")
    first = await kept.keep()
    (workspace / "closed/a").write_text("2")
    write(workspace / "closed/b", "2")
    write(workspace / "open", "2")
    (workspace / "closed").chmod(0o555)
    restored = await kept.restore(first.id)
    assert restored.written == ("open",)
    assert restored.not_undone == tuple(f"closed/{name}: Permission denied; it stays as it is" for name in "ba")
