"""A workspace with real files, and short limits so that real processes end soon."""

from pathlib import Path

import pytest

from harness.processes import ProcessLimits
from harness.tools.tool import ToolContext
from harness.tools.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder the agent works in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder.resolve()


@pytest.fixture
def context(root: Path, tmp_path: Path) -> ToolContext:
    """The context of a call in that folder, with its outputs elsewhere."""
    return ToolContext(Workspace(root), tmp_path / "outputs", "toolu_1")


@pytest.fixture
def limits() -> ProcessLimits:
    """Enough for a command that behaves, short for one that does not."""
    return ProcessLimits(time_s=20, term_grace_s=0.3, kill_grace_s=2, pipe_grace_s=0.1)
