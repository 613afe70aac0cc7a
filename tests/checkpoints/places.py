"""Workspaces for the tests, and a naive look at what they hold."""

import os
import stat
import subprocess
from pathlib import Path

from harness.checkpoints import CheckpointLimits, Checkpoints

State = dict[str, tuple[str, int, bytes]]
"""Kind, permission bits and content of everything below a folder that is no folder."""


def git(workspace: Path, *arguments: str) -> bytes:
    """What a person's git prints there."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {
        **own,
        **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "A Person"),
        **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "person@example.org"),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    command = ["git", *arguments]
    return subprocess.run(command, cwd=workspace, env=environment, check=True, capture_output=True).stdout


def repository(folder: Path) -> Path:
    """A new repository without commits."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def checkpoints(workspace: Path, folder: Path, limits: CheckpointLimits | None = None) -> Checkpoints:
    return Checkpoints(workspace, folder, limits=limits)


def stored(session: Path) -> dict[str, int]:
    """The files with contents in the folder of a session, and their sizes."""
    return {path.name: path.stat().st_size for path in session.glob("contents-*")}


def write(path: Path, content: str | bytes = "", mode: int | None = None) -> Path:
    """Put a file there, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if mode is not None:
        path.chmod(mode)
    return path


def state_of(workspace: Path) -> State:
    """Everything in it but folders and .git."""
    found: State = {}
    for folder, folders, files in os.walk(workspace):
        for name in [*files, *folders]:
            path = Path(folder, name)
            relative = str(path.relative_to(workspace))
            status = path.lstat()
            if ".git" in path.relative_to(workspace).parts or stat.S_ISDIR(status.st_mode):
                continue
            if stat.S_ISLNK(status.st_mode):
                found[relative] = "link", 0, os.fsencode(os.readlink(path))  # noqa: PTH115  as it is, not made tidy
            elif stat.S_ISREG(status.st_mode):
                found[relative] = "file", stat.S_IMODE(status.st_mode), path.read_bytes()
            else:
                found[relative] = "special", 0, b""
    return found
