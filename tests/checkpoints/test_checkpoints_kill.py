"""kill -9 in the middle of a keep or a restore leaves every earlier checkpoint usable."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkpoints import restless_keeper
from tests.checkpoints.places import checkpoints

pytestmark = pytest.mark.anyio

KILLS = 6


@pytest.fixture(scope="module")
def nursery() -> "Iterator[subprocess.Popen[str]]":
    """A process that has loaded everything, and forks at once."""
    arguments = [sys.executable, "-m", restless_keeper.__name__]
    root = Path(restless_keeper.__file__).parents[2]
    with subprocess.Popen(arguments, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


@pytest.mark.stories
async def test_every_checkpoint_that_was_made_before_a_kill_can_be_restored(
    workspace: Path, tmp_path: Path, nursery: "subprocess.Popen[str]"
) -> None:
    dice = random.Random(5)
    made: dict[str, str] = {}
    for seed in range(KILLS):
        made |= killed_after(dice.uniform(0.02, 0.3), nursery, f"{workspace} {tmp_path / 'session'} {seed}")
    assert len(made) > KILLS / 2
    after = checkpoints(workspace, tmp_path / "session")
    for id, digest in dice.sample(sorted(made.items()), min(len(made), 6)):
        assert (await after.restore(id)).not_undone == ()
        assert restless_keeper.digest_of(workspace) == digest
    kept = await after.keep()
    assert await after.changes_since(kept.id) == ()


def killed_after(seconds: float, nursery: "subprocess.Popen[str]", line: str) -> dict[str, str]:
    """Start a process, kill it some time after its first checkpoint; return the checkpoints it printed."""
    assert nursery.stdin
    assert nursery.stdout
    print(line, file=nursery.stdin, flush=True)
    process = int(nursery.stdout.readline())
    told = [nursery.stdout.readline()] if seconds > 0.1 else []
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    while (heard := nursery.stdout.readline()) != "ended\n":
        told.append(heard)
    return dict(line.split() for line in told if line.endswith("\n"))
