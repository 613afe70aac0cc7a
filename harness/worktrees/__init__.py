"""Working trees of a repository for sessions and members, from which nothing is lost (docs/worktrees.md).

`git` runs git through the owner of all processes, `look` finds out what a tree holds, `Worktrees` makes, locks, keeps
and removes trees, `MergeQueue` brings finished branches together. What a removal means and how the queue goes on is
decided by `harness.policies.worktrees`.
"""

from harness.worktrees.git import WorktreeError
from harness.worktrees.look import Worktree
from harness.worktrees.worktrees import Worktrees

__all__ = ["Worktree", "WorktreeError", "Worktrees"]
