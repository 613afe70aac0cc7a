"""A workspace of each kind."""

from pathlib import Path

import pytest

from harness.checkpoints import Checkpoints
from tests.checkpoints.places import checkpoints, repository


@pytest.fixture(params=[True, False], ids=["repository", "plain folder"])
def in_git(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def workspace(tmp_path: Path, in_git: bool) -> Path:
    """An empty workspace, with or without a repository."""
    place = tmp_path / "workspace"
    place.mkdir()
    return repository(place) if in_git else place


@pytest.fixture
def kept(workspace: Path, tmp_path: Path) -> Checkpoints:
    """The checkpoints of the workspace."""
    return checkpoints(workspace, tmp_path / "session")
