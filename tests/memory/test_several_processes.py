"""Sessions side by side lose nothing of each other, and one that is killed leaves whole files."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.memory import MemoryOwner
from harness.memory.store import FORGOTTEN
from tests.memory.shelves import draft, folders, store

ROOT = Path(__file__).parents[2]


def writer(folder: Path, who: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.memory.writer", str(folder), who, str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": "."})


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Ends the processes that it started."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def test_sessions_side_by_side_lose_nothing(tmp_path: Path, started: list[subprocess.Popen[str]]) -> None:
    started += [writer(tmp_path, who, 8) for who in ("ann", "bob")]
    assert [process.wait(60) for process in started] == [0, 0]
    found = store(tmp_path).find()
    assert found.problems == ()
    assert {memory.name for memory in found.memories} == {
        "shared",
        *(f"{who}-{number}" for who in ("ann", "bob") for number in range(8)),
    }
    kept = sorted((folders(tmp_path)[MemoryOwner.PROJECT] / FORGOTTEN).iterdir())
    assert [file.name for file in kept] == [f"{number:06}-shared.md" for number in range(1, 16)]
    said = {file.read_text().splitlines()[-1].split(" y")[0] for file in kept}
    assert len(said) == 15


@pytest.mark.stories
def test_one_that_is_killed_leaves_whole_files_and_the_next_one_continues(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    for number in range(3):
        process = writer(tmp_path, f"w{number}", 1_000)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        until = time.monotonic() + 0.05 * number
        while time.monotonic() < until and process.poll() is None:
            pass
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        one = store(tmp_path)
        assert one.find().problems == ()
        folder = folders(tmp_path)[MemoryOwner.PROJECT]
        for file in (*folder.glob("*.md"), *(folder / FORGOTTEN).glob("*.md")):
            assert file.read_text().rstrip().endswith(("xxx", "yyy", "Tabs."))
        one.keep(draft(f"after {number}"), MemoryOwner.PROJECT)
        assert not list(folder.rglob(".*.tmp"))
    assert {f"after-{number}" for number in range(3)} <= {memory.name for memory in store(tmp_path).find().memories}
