"""A folder to work in."""

from pathlib import Path

import pytest

from tests.ui.program import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder with one file, and no server."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.md").write_text("# Notes\n\n## First\n\n## Second\n")
    return Place(folder)
