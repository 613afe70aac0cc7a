"""Questions to git: their failures name the command and the reason."""

from pathlib import Path

import pytest

from harness.checkpoints.git import GitError, ask
from tests.checkpoints.places import repository


def test_an_answer_a_refusal_and_one_that_takes_too_long(tmp_path: Path) -> None:
    place = repository(tmp_path / "workspace")
    assert ask("rev-parse", "--is-inside-work-tree", cwd=place, time_s=20).printed == b"true\n"
    with pytest.raises(GitError, match="not-a-command"):
        ask("not-a-command", cwd=place, time_s=20)
    with pytest.raises(GitError, match="git check-ignore failed"):
        ask("check-ignore", "-q", "a", cwd=place, time_s=20)
    with pytest.raises(GitError, match="git ls-files took longer than 1e-06 s"):
        ask("ls-files", cwd=place, time_s=1e-6)
