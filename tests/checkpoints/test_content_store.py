"""The contents of kept files on disk: whole, once, compressed, and none of a checkpoint that failed."""

import asyncio
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from harness.checkpoints import Checkpoints
from harness.checkpoints.content_store import ContentStore
from harness.checkpoints.manifest import content_id
from tests.checkpoints.places import checkpoints, stored, write

pytestmark = pytest.mark.anyio


def add(store: ContentStore, *contents: bytes) -> list[str]:
    with store.adding() as adds:
        for data in contents:
            adds(content_id(data), data)
    return [content_id(data) for data in contents]


def test_a_content_is_given_back_by_this_process_and_the_next(tmp_path: Path) -> None:
    store, random = ContentStore(tmp_path), os.urandom(9_000)
    assert (store.size, "0" * 64 in store, store.read("0" * 64)) == (0, False, None)
    ids = add(store, b"", b"1" * 5_000, random)
    ids += add(store, b"another")
    for found in (store, ContentStore(tmp_path)):
        assert [found.read(id) for id in ids] == [b"", b"1" * 5_000, random, b"another"]
        assert all(id in found for id in ids)
        assert found.size == 5_000 + 9_000 + 7
    assert list(stored(tmp_path)) == ["contents-1"]


def test_what_was_added_before_a_failure_is_removed_and_the_rest_stays(tmp_path: Path) -> None:
    store = ContentStore(tmp_path)
    (id,) = add(store, b"stays")
    before = stored(tmp_path)
    with suppress(KeyError), store.adding() as adds:
        adds(content_id(b"goes"), b"goes" * 50_000)
        raise KeyError
    assert (stored(tmp_path), content_id(b"goes") in store, store.size) == (before, False, 5)
    assert (store.read(id), store.read(add(store, b"next")[0])) == (b"stays", b"next")


@pytest.mark.parametrize("torn", [b"half a header", b"x" * 60])
async def test_what_a_killed_process_left_half_written_is_passed_over(
    workspace: Path, kept: Checkpoints, tmp_path: Path, torn: bytes
) -> None:
    ids = []
    for number in range(3):
        write(workspace / "a", str(number))
        ids.append((await checkpoints(workspace, tmp_path / "session").keep()).id)
        with (tmp_path / "session/contents-1").open("ab") as file:
            file.write(torn if number == 0 else b"")
    assert list(stored(tmp_path / "session")) == ["contents-1", "contents-2"]
    for number, id in enumerate(ids):
        await kept.restore(id)
        assert (workspace / "a").read_text() == str(number)


async def test_what_is_kept_once_takes_room_once_and_is_compressed(
    workspace: Path, kept: Checkpoints, tmp_path: Path
) -> None:
    for name in "abc":
        write(workspace / name, "1" * 10_000)
    await kept.keep()
    (workspace / "a").rename(workspace / "d")
    await checkpoints(workspace, tmp_path / "session").keep()
    assert sum(stored(tmp_path / "session").values()) < 500


async def test_what_cannot_be_read_back_is_reported_and_the_rest_restored(
    workspace: Path, kept: Checkpoints, tmp_path: Path
) -> None:
    write(workspace / "a", "1")
    first = await kept.keep()
    path = tmp_path / "session/contents-1"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    write(workspace / "a", "1", 0o600)
    write(workspace / "b", "1")
    restored = await kept.restore(first.id)
    assert restored.removed == ("b",)
    assert restored.written == ("a",), "the content is still there, so only the permissions had to be put back"
    (workspace / "a").unlink()
    (line,) = (await kept.restore(first.id)).not_undone
    assert line.startswith("a: what it held ")


async def test_what_the_user_removed_while_the_session_runs_is_kept_again(
    workspace: Path, kept: Checkpoints, tmp_path: Path
) -> None:
    write(workspace / "a", "1")
    await kept.keep()
    shutil.rmtree(tmp_path / "session")
    again = await kept.keep()
    write(workspace / "a", "2")
    assert (await kept.restore(again.id)).written == ("a",)
    assert (workspace / "a").read_text() == "1"


async def test_a_damaged_size_is_no_reason_to_keep_nothing_more(
    workspace: Path, kept: Checkpoints, tmp_path: Path
) -> None:
    write(workspace / "a", "first")
    first = await kept.keep()
    file = tmp_path / "session/contents-1"
    data = bytearray(file.read_bytes())
    data[33] ^= 0x40
    file.write_bytes(data)
    write(workspace / "b", "second")
    again = checkpoints(workspace, tmp_path / "session")
    second = await again.keep()
    assert second.id != first.id
    write(workspace / "a", "changed")
    assert (await again.restore(second.id)).written == ("a",)
    assert (workspace / "a").read_text() == "first"


async def test_a_pipe_in_the_place_of_a_file_of_contents_is_passed_over(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "session").mkdir()
    os.mkfifo(tmp_path / "session/contents-1")
    write(workspace / "a", "first")
    async with asyncio.timeout(60):
        await checkpoints(workspace, tmp_path / "session").keep()
    assert (tmp_path / "session/contents-2").exists()


def test_a_pipe_where_contents_are_added_is_an_error_and_no_wait(tmp_path: Path) -> None:
    store = ContentStore(tmp_path)
    assert store.size == 0
    os.mkfifo(tmp_path / "contents-1")
    with pytest.raises(OSError, match="contents-1"):
        add(store, b"any")
