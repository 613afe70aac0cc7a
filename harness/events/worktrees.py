"""Events of worktrees: a session works in one, finished branches are merged."""

from dataclasses import dataclass
from typing import Literal

from harness.events.catalogue import Event

__all__ = ["MergeDecided", "WorktreeEntered", "WorktreeLeft"]


@dataclass(frozen=True, slots=True)
class WorktreeEntered(Event):
    """From now on the session works in this worktree."""

    name: str
    path: str
    branch: str
    """Empty: HEAD is detached."""
    base: str
    """The commit that it began with."""
    uncommitted: int = 0
    """Files of the user's own tree that differ from its commit."""
    carried: bool = False
    """They are in this one, too."""


@dataclass(frozen=True, slots=True)
class WorktreeLeft(Event):
    """A worktree that the session used was left, or removed."""

    name: str
    path: str
    removed: bool
    why: tuple[str, ...] = ()
    """Why it stays, one line each; of a removed one what it held."""
    kept: str = ""
    """The ref that keeps what git had of a removed one; empty: nothing was in it."""


@dataclass(frozen=True, slots=True)
class MergeDecided(Event):
    """A step of the merge queue."""

    branch: str
    """Of a branch; empty: the step is about all of them."""
    what: Literal["merged", "conflict", "green", "red", "given back", "landed", "ready"]
    """"landed": the user's branch has it; "ready": it waits on the trial branch for the user's yes."""
    detail: str = ""
    """The conflict, the output of the check, or the commit."""
