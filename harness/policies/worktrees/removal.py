"""The decision whether a worktree may be removed: `removal(state)` takes what a look at the disk found.

Whatever git holds is kept under a ref, so only files that git ignores can be lost, and only after a yes to their list.
What cannot be kept at all (an unfinished rebase, a repository inside, a process at work) forbids the removal.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_NAMED = 20
"""Files that a line names."""
LONGEST_NAME = 64
MISSING = "its folder is not there; if it was moved, `git worktree repair FOLDER` tells git where it is now"
_ONLY_HERE = "only this worktree remembers: amended or reset away, or under refs of its own"
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


def name_problem(name: str, taken: Iterable[str] = ()) -> str:
    """Why a worktree cannot have this name, as the end of a sentence; empty: it can.

    `taken`: names that others have, which must differ in more than small and capital letters.
    """
    segments = name.split("/")
    if len(name) > LONGEST_NAME:
        return f"it has {len(name)} characters; {LONGEST_NAME} are the most"
    if not all(_SEGMENT.fullmatch(one) for one in segments):
        return "use letters, digits, - _ . and /, and begin each part with a letter or a digit"
    if any(".." in one or one.endswith((".", ".lock")) or one.upper() == "HEAD" for one in segments):
        return "git has no branch with '..', '.lock' or HEAD in its name"
    folded = name.casefold()
    for other in map(str.casefold, taken):
        if f"{folded}/".startswith(f"{other}/") or f"{other}/".startswith(f"{folded}/"):
            return f"it is in use ({other})"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeState:
    """What a worktree holds now. Paths are relative to its top."""

    held_by: str = ""
    """Who works in it or has locked it; empty: nobody."""
    processes: tuple[str, ...] = ()
    """Programs whose current folder is inside."""
    unfinished: str = ""
    """"rebase", "merge", "cherry-pick", "revert", "bisect"; empty: nothing is."""
    odd: str = ""
    """Why git cannot look at it, or may not; empty: it can."""
    missing: bool = False
    """Its folder is not there."""
    submodules: tuple[str, ...] = ()
    """Those that are checked out."""
    nested: tuple[str, ...] = ()
    """Repositories inside that are no submodules, and what is in the place of a submodule that is not checked out."""
    changed: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    """Without caches and copies that are the same in the main tree."""
    commits: int = 0
    """Those of its HEAD that no other branch, tag or remote has."""
    branch: str = ""
    """Empty: HEAD is detached."""
    left_behind: int = 0
    """Commits that HEAD or its own branch was at, or refs of the tree alone are at, and that nothing else reaches."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What a removal would mean. Each line is a sentence part."""

    forbidden: tuple[str, ...]
    """Why it is not done."""
    lost: tuple[str, ...]
    """What is gone for good, so that the user has to see it first."""
    kept: tuple[str, ...]
    """What the repository keeps, although the folder goes."""

    @property
    def free(self) -> bool:
        """There is nothing in it that the user could miss."""
        return not (self.forbidden or self.lost or self.kept)

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it, the worst first."""
        return (
            *(f"cannot be removed: {line}" for line in self.forbidden),
            *(f"would be lost: {line}" for line in self.lost),
            *(f"stays in the repository: {line}" for line in self.kept),
        )


def removal(state: TreeState) -> Removal:
    """What it would mean to remove a worktree in this state."""
    forbidden = [
        *([state.odd] if state.odd else ()),
        *([f"{state.held_by} works in it"] if state.held_by else ()),
        *([f"processes are inside: {_named(state.processes)}"] if state.processes else ()),
        *([f"a {state.unfinished} is unfinished; finish or abort it"] if state.unfinished else ()),
        *([f"submodules are checked out: {_named(state.submodules)}"] if state.submodules else ()),
        *([f"repositories are inside: {_named(state.nested)}; move them out"] if state.nested else ()),
    ]
    lost = [f"{_files(state.ignored, 'ignored')}: {_named(state.ignored)}"] if state.ignored else []
    kept = [
        *([MISSING] if state.missing else ()),
        *([f"{_files(state.changed, 'changed')}: {_named(state.changed)}"] if state.changed else ()),
        *([f"{_files(state.untracked, 'untracked')}: {_named(state.untracked)}"] if state.untracked else ()),
        *([_commits(state)] if state.commits else ()),
        *([f"{_count(state.left_behind)} that {_ONLY_HERE}"] if state.left_behind else ()),
    ]
    return Removal(tuple(forbidden), tuple(lost), tuple(kept))


def _commits(state: TreeState) -> str:
    where = f"on {state.branch}, not merged" if state.branch else "of a detached HEAD, on no branch"
    return f"{_count(state.commits)} {where}"


def _count(commits: int) -> str:
    return "1 commit" if commits == 1 else f"{commits} commits"


def _files(names: Sequence[str], kind: str) -> str:
    return f"1 {kind} file" if len(names) == 1 else f"{len(names)} {kind} files"


def _named(names: Sequence[str]) -> str:
    more = f", … ({len(names) - MOST_NAMED} more)" if len(names) > MOST_NAMED else ""
    return ", ".join(map(_printable, names[:MOST_NAMED])) + more


def _printable(name: str) -> str:
    """A name as text on one line, with the bytes that are no UTF-8 as escapes."""
    return name.replace("\n", "\\n").encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
