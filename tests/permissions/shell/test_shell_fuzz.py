"""The fuzz of the reader: a few lines of it, and that it would notice a reader that is wrong."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.shell_fuzz import Case, executed, prepared
from harness.permissions.shell.resolution import resolved_commands
from tests.whole import WHOLE

pytestmark = pytest.mark.skipif(not (shutil.which("bash") and shutil.which("dash")), reason="needs bash and dash")


def test_a_few_random_lines_run_what_was_foreseen() -> None:
    command = [sys.executable, "-m", "benchmarks.shell_fuzz", "--lines", "3000" if WHOLE else "100", "--seed", "7"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "wrong 0" in ran.stdout


@pytest.mark.parametrize(
    ("line", "foreseen"), [("good a; bad", "good a"), ("good {a,b}", "good '{a,b}'"), ("x", "good")]
)
def test_a_program_that_was_not_foreseen_is_wrong(line: str, foreseen: str, tmp_path: Path) -> None:
    prepared(tmp_path)
    right = Case(line, "bash", str(tmp_path / "dash"), resolved_commands(line))
    wrong = Case(line, "bash", str(tmp_path / "dash"), resolved_commands(foreseen))
    noted, found = executed([right, wrong], tmp_path)
    assert noted >= 2
    assert len(found) == 1
