"""The files that `@` completes, read beside the event loop."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from harness.ui.app.candidates import KNOWN_FOR_S, WorkspaceFiles

pytestmark = pytest.mark.anyio


class Disk:
    """Counts reads, and notes the thread of each."""

    def __init__(self) -> None:
        self.files: Sequence[str] = ["src/a.py"]
        self.threads: list[str] = []

    def read(self) -> Sequence[str]:
        self.threads.append(threading.current_thread().name)
        return self.files


async def test_the_first_call_knows_nothing_and_the_changes_come_by_themselves() -> None:
    disk, changed = Disk(), asyncio.Event()
    files = WorkspaceFiles(disk.read, changed.set)
    assert files() == files() == ()
    await changed.wait()
    assert files() == ("src/", "src/a.py")
    assert len(disk.threads) == 1
    assert disk.threads[0] != threading.current_thread().name


async def test_files_are_read_again_when_they_are_old_and_asked_for() -> None:
    now, disk, changed = [0.0], Disk(), asyncio.Event()
    files = WorkspaceFiles(disk.read, changed.set, clock=lambda: now[0])
    files()
    await changed.wait()
    changed.clear()
    disk.files = ["b.py"]
    now[0] += KNOWN_FOR_S - 0.1
    assert files() == ("src/", "src/a.py")
    assert len(disk.threads) == 1
    now[0] += 0.1
    assert files() == ("src/", "src/a.py")
    await changed.wait()
    assert files() == ("b.py",)


async def test_how_many_files_were_read_is_reported_each_time() -> None:
    disk, changed, counts = Disk(), asyncio.Event(), list[int]()
    WorkspaceFiles(disk.read, changed.set, counts.append)()
    await changed.wait()
    assert counts == [1]
