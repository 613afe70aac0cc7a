"""Which files of the workspace are worth keeping: those that git, or .gitignore files alone, do not ignore."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.checkpoints.git import GitError, answer
from harness.checkpoints.manifest import IGNORED
from harness.tools.ignoring import walk

_NESTED = "a git repository of its own"


@dataclass(frozen=True, slots=True)
class Listing:
    """Names found in a workspace; whether each is a file, and can be read, is still to be seen."""

    paths: frozenset[str]
    """What may be kept, relative to the workspace, with surrogate escapes for bytes that are not UTF-8."""
    left_out: dict[str, str]
    """Path and reason; a folder ends in a slash."""


def listed_by_git(workspace: Path, time_s: float) -> Listing | None:
    """What the repository around the workspace tracks or does not ignore; None where git has nothing to say.

    That is: no repository, a workspace that an outer repository ignores as a whole, or no git that works.
    Submodules and repositories inside of it are left out. git reads its index here and writes nothing.
    """
    others = ("ls-files", "-z", "--others", "--exclude-standard")
    try:
        if answer("check-ignore", "-z", "--stdin", cwd=workspace, time_s=time_s, given=b".\0", fine=(0, 1)):
            return None
        paths = _names(answer(*others, "--cached", cwd=workspace, time_s=time_s))
        found = _names(answer(*others, "--ignored", "--directory", cwd=workspace, time_s=time_s))
        # It also names folders that hold nothing but ignored files. A new file there is not ignored.
        folders = b"".join(os.fsencode(name) + b"\0" for name in found if name.endswith("/"))
        ignored = answer("check-ignore", "-z", "--stdin", cwd=workspace, time_s=time_s, given=folders, fine=(0, 1))
    except GitError:
        return None
    left_out = dict.fromkeys([name for name in found if not name.endswith("/")] + _names(ignored), IGNORED)
    nested = {path for path in paths if path.endswith("/") or _is_folder(workspace / path)}
    left_out |= {path.rstrip("/") + "/": _NESTED for path in nested}
    return Listing(frozenset(paths) - nested, left_out)


def listed_by_walking(workspace: Path, proceed: Callable[[], None]) -> Listing:
    """The same without a repository: everything that no .gitignore file names, and no folder called .git.

    `proceed` is called between two files; what it raises ends the walk.
    """
    start = len(str(workspace).rstrip("/")) + 1
    paths, left_out = set(), {}
    for entry, ignored in walk(workspace, workspace):
        proceed()
        path = entry.path[start:]
        if entry.name == ".git":
            continue
        if ignored:
            left_out[path + "/" * entry.is_dir(follow_symlinks=False)] = IGNORED
        else:
            paths.add(path)
    return Listing(frozenset(paths), left_out)


def _names(printed: bytes) -> list[str]:
    return [os.fsdecode(name) for name in printed.split(b"\0") if name]


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
