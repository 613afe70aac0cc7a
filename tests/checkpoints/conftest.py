"""A workspace of each kind."""

from pathlib import Path

import pytest

from harness.checkpoints import Checkpoints
from tests.checkpoints.places import checkpoints, repository


@pytest.fixture(params=["git", "copies"])
def how(request: pytest.FixtureRequest) -> str:
    """With a repository, or without."""
    return str(request.param)


@pytest.fixture
def workspace(tmp_path: Path, how: str) -> Path:
    """An empty workspace, with or without a repository."""
    place = tmp_path / "workspace"
    place.mkdir()
    return repository(place) if how == "git" else place


@pytest.fixture
def kept(workspace: Path, tmp_path: Path) -> Checkpoints:
    """The checkpoints of the workspace."""
    return checkpoints(workspace, tmp_path / "session")
