"""May a worktree be removed? The functions have mistakes; TASK.md has the rules."""

import subprocess
from dataclasses import dataclass


@dataclass
class State:
    """What a worktree holds."""

    files: list[str]
    """Changed, deleted and untracked files."""
    ignored: list[str]
    """Files that git ignores."""
    commits: int
    """Commits that would be lost with the worktree and its branch."""


def git(tree: str, *words: str) -> str:
    """What git prints; empty where it fails."""
    command = ["git", "-C", tree, *words]
    return subprocess.run(command, text=True, capture_output=True, check=False).stdout.strip()


def look(tree: str) -> State:
    """The state of the worktree in this folder."""
    # ── your part begins ─────────────────────────────────────────────
    files = git(tree, "status", "--porcelain").splitlines()
    unpushed = git(tree, "log", "--oneline", "@{push}..").splitlines()
    return State(files, [], len(unpushed))
    # ── your part ends ───────────────────────────────────────────────


def may_remove(state: State) -> bool:
    """Whether nothing would be lost."""
    # ── your part begins ─────────────────────────────────────────────
    return not state.files and not state.commits
    # ── your part ends ───────────────────────────────────────────────
