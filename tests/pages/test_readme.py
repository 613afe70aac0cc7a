"""What only the READMEs have: the command that CI runs."""

import pytest

from tests.pages.blocks import READMES, ROOT, block


@pytest.mark.parametrize("readme", READMES)
def test_ci_runs_exactly_the_test_command_of_the_readme(readme: str) -> None:
    command = block(readme, "test").strip()
    assert command.startswith("python3 -m venv .venv && ")
    assert command.count("\n") == 0
    assert "README.md" in (ROOT / ".ci/run").read_text(encoding="utf-8")
