"""How git is started."""

import subprocess
from pathlib import Path

from harness.checkpoints.git import start
from harness.processes import Processes
from harness.processes.outcome import MARK


def test_git_that_writes_bears_the_mark_of_the_owner_of_processes(tmp_path: Path) -> None:
    git = start(
        "show-environment",
        cwd=tmp_path,
        settings={"alias.show-environment": "!env"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        extra={"GIT_DIR": str(tmp_path)},
        marked=Processes().marked,
    )
    printed, _ = git.communicate(timeout=20)
    environment = dict(line.split("=", 1) for line in printed.decode().splitlines() if "=" in line)
    assert environment[MARK].endswith(".others")
    assert environment["GIT_DIR"] == str(tmp_path)
