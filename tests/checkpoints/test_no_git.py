"""Where git is missing, too old, broken or too slow, there are plain copies."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.checkpoints import CheckpointLimits
from tests.checkpoints.places import checkpoints, repository, state_of, write

pytestmark = pytest.mark.anyio


UNLESS = '#!/bin/sh\nfor word in "$@"; do case $word in {word}) exit 129;; esac; done\nexec {git} "$@"\n'

SCRIPTS = {
    "missing": "",
    "broken": "#!/bin/sh\nkill -9 $$\n",
    "too slow": "#!/bin/sh\nexec /bin/sleep 60\n",
    "too old": UNLESS.replace("{word}", "--object-format*"),
    "failing to store": UNLESS.replace("{word}", "fast-import"),
}


@pytest.fixture(params=SCRIPTS)
def workspace(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A repository, where nothing but an odd git is found among the programs."""
    place = repository(tmp_path / "workspace")
    script = SCRIPTS[request.param].replace("{git}", shutil.which("git") or "")
    programs = tmp_path / "programs"
    programs.mkdir()
    if script:
        write(programs / "git", script, 0o755)
    before = os.environ["PATH"]
    os.environ["PATH"] = str(programs)
    yield place
    os.environ["PATH"] = before


async def test_plain_copies_do_without_git(workspace: Path, tmp_path: Path) -> None:
    write(workspace / "a/b", "1")
    before = state_of(workspace)
    kept = checkpoints(workspace, tmp_path / "session", CheckpointLimits(listing_s=0.3))
    first = await kept.keep(1, 1)
    assert (first.how, first.files) == ("copies", 1)
    write(workspace / "a/b", "2")
    await kept.restore(first.id)
    assert state_of(workspace) == before


async def test_checkpoints_of_both_ways_stand_side_by_side(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    write(workspace / "a", "1")
    kept = checkpoints(workspace, tmp_path / "session")
    first = await kept.keep(1, 1)
    repository(workspace)
    write(workspace / "a", "2")
    second = await kept.keep(1, 2)
    assert (first.how, second.how) == ("copies", "git")
    write(workspace / "a", "3")
    await kept.restore(first.id)
    assert (workspace / "a").read_text() == "1"
    await kept.restore(second.id)
    assert (workspace / "a").read_text() == "2"
