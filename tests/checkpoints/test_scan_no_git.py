"""Where git is missing, broken or too slow, files are kept by the names in .gitignore files."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.checkpoints import CheckpointLimits
from tests.checkpoints.places import checkpoints, repository, state_of, write

pytestmark = pytest.mark.anyio


SCRIPTS = {"missing": "", "broken": "#!/bin/sh\nkill -9 $$\n", "too slow": "#!/bin/sh\nexec /bin/sleep 60\n"}


@pytest.fixture(params=SCRIPTS)
def workspace(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A repository, where nothing but an odd git is found among the programs."""
    place = repository(tmp_path / "workspace")
    script = SCRIPTS[request.param]
    programs = tmp_path / "programs"
    programs.mkdir()
    if script:
        write(programs / "git", script, 0o755)
    before = os.environ["PATH"]
    os.environ["PATH"] = str(programs)
    yield place
    os.environ["PATH"] = before


async def test_files_are_kept_and_restored_without_git(workspace: Path, tmp_path: Path) -> None:
    write(workspace / "a/b", "1")
    before = state_of(workspace)
    kept = checkpoints(workspace, tmp_path / "session", CheckpointLimits(listing_s=0.3))
    first = await kept.keep()
    write(workspace / "a/b", "2")
    await kept.restore(first.id)
    assert state_of(workspace) == before
