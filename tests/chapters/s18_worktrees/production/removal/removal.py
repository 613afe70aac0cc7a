"""The interface of the exercise, with what the program looks up and decides."""

import asyncio
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.policies.worktrees.removal import TreeState, removal
from harness.processes import Processes
from harness.worktrees.git import Git
from harness.worktrees.look import Worktree
from harness.worktrees.look import look as looked


def git(tree: str, *words: str) -> str:
    return subprocess.run(["git", "-C", tree, *words], text=True, capture_output=True, check=True).stdout.strip()


def look(tree: str) -> TreeState:
    admin, common = git(tree, "rev-parse", "--absolute-git-dir", "--git-common-dir").splitlines()
    branch, head = git(tree, "branch", "--show-current"), git(tree, "rev-parse", "HEAD")
    found = Worktree("tree", Path(tree), Path(admin), branch, head, head)

    async def state() -> TreeState:
        processes = Processes()
        try:
            return await looked(Git(processes), found, Path(common).parent, "s")
        finally:
            await processes.aclose()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, state()).result()


def may_remove(state: TreeState) -> bool:
    return removal(state).free
