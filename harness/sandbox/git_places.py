"""The folders that git needs outside a workspace, and what it obeys in them.

A file that names a folder of git (a worktree, a submodule) can be written by anyone who writes the workspace. It is
believed only where the named folder names the workspace in turn; folders of objects that it borrows never are.
https://git-scm.com/docs/gitrepository-layout
"""

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.files import read_regular, real_path

_MOST_BYTES = 64_000_000
_WORKTREE = re.compile(r"^\s*worktree\s*=\s*(.+?)\s*$", re.MULTILINE)
_CREATED = re.compile(r"0+ \w+ [^\n]*\tbranch: Created from (?:refs/remotes/)?([^\n]+)")
_OBEYED = (
    *("config", "config.worktree", "info/attributes", "objects/info/alternates", "commondir", "gitdir"),
    "rebase-merge/git-rebase-todo",
)


@dataclass(frozen=True, slots=True)
class GitPlaces:
    """Paths are absolute with links resolved."""

    tops: tuple[str, ...] = ()
    """The repositories around the workspace, where it is a folder of one: git takes what it cannot see for removed."""
    folders: tuple[str, ...] = ()
    """Folders of git outside the workspace, which it writes."""
    apart: tuple[str, ...] = ()
    """What git keeps of other working trees, in those folders."""
    pinned: tuple[str, ...] = ()
    """Folders of git in the workspace, and those around what its settings name: nothing else can take their place."""
    hooks: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    """Files that git obeys."""

    def with_repositories(self, repositories: Iterable[str]) -> "GitPlaces":
        """With what git obeys in these folders named .git, and in the own ones."""
        pinned = tuple(repositories)
        every = dict.fromkeys(each for one in (*pinned, *self.folders) for each in with_inner(one))
        hooks = [f"{one}/hooks" for one in every if posixpath.isdir(f"{one}/hooks")]
        mine = [one for one in every if posixpath.dirname(one) not in self.apart or one in self.folders]
        settings = [f"{one}/{name}" for one in mine for name in _OBEYED if posixpath.isfile(f"{one}/{name}")]
        settings += self.apart
        return replace(self, pinned=pinned, hooks=tuple(hooks), settings=tuple(settings))


def git_places(roots: Sequence[str], too_wide: Callable[[str], bool]) -> GitPlaces:
    """What git needs for these folders.

    Args:
        too_wide: says of a folder around the workspace that it is no repository to be shown, as the home.
    """
    tops, folders = [], []
    for root in roots:
        top = root
        while not os.path.lexists(f"{top}/.git") and top != "/":
            top = posixpath.dirname(top)
        if top == "/" or (top != root and too_wide(top)):
            continue
        tops += [top] if top != root else []
        folders += _folders_of(top)
    outside = [one for one in folders if not any(f"{one}/".startswith(f"{root}/") for root in roots)]
    linked = [one for one in outside if posixpath.dirname(one) in {f"{shared}/worktrees" for shared in outside}]
    shared = {posixpath.dirname(posixpath.dirname(one)) for one in linked}
    apart = [f"{one}/{name}" for one in shared for name in ("worktrees", "HEAD", "index")]
    return GitPlaces(
        tuple(dict.fromkeys(tops)), tuple(dict.fromkeys(outside)), apart=tuple(filter(posixpath.exists, apart))
    )


def main_tree(folder: Path) -> Path | None:
    """The folder in the main working tree for one in a linked worktree; None: it is in none.

    The repository must name the worktree in turn, so nobody can make a folder a part of another one's repository.
    """
    top, shared = _linked(folder)
    return Path(posixpath.dirname(shared), posixpath.relpath(real_path(str(folder)), top)) if shared else None


def other_trees(folder: Path) -> tuple[str, ...]:
    """For a folder in a linked worktree: the main working tree, and the other linked ones."""
    top, shared = _linked(folder)
    linked = linked_trees(shared) if shared else {}
    tops = (posixpath.dirname(one) for one in (shared, *linked) if one)
    return tuple(one for one in map(real_path, tops) if one != top)


def linked_trees(shared: str) -> dict[str, str]:
    """For the file .git of each linked worktree of a repository, as git has written it down, the folder with its HEAD
    and index."""
    return {_text(str(one)): str(one.parent) for one in Path(shared, "worktrees").glob("*/gitdir")}


def _linked(folder: Path) -> tuple[str, str]:
    """The top of a linked worktree, and the folder .git of its repository; twice empty: it is none."""
    real = Path(real_path(str(folder)))
    top = next((str(one) for one in (real, *real.parents) if os.path.lexists(one / ".git")), "")
    shared = _folders_of(top) if posixpath.isfile(f"{top}/.git") else []
    return (top, shared[0]) if shared and posixpath.basename(shared[0]) == ".git" else ("", "")


def _folders_of(top: str) -> list[str]:
    """The folder of git of a checkout; in a linked worktree the one that it shares with others first."""
    named = f"{top}/.git"
    if posixpath.isdir(named):
        real = real_path(named)
        return [real] if real == named else []  # anyone could have put the link there
    folder = folder_of(named)
    if (back := _text(f"{folder}/gitdir")) and real_path(posixpath.join(folder, back)) == named:
        shared = real_path(posixpath.join(folder, _text(f"{folder}/commondir")))
        linked = posixpath.isfile(f"{shared}/HEAD") and folder.startswith(f"{shared}/worktrees/")
        return [shared, folder] if linked else []
    places = _WORKTREE.findall(_text(f"{folder}/config"))
    return [folder] if places and real_path(posixpath.join(folder, places[-1].strip('"'))) == top else []


def folder_of(named: str) -> str:
    """The folder of git that a path named .git is or leads to; whoever writes there decides where."""
    text = "" if posixpath.isdir(named) else _text(named)
    leads = text.startswith("gitdir:")
    return real_path(posixpath.join(posixpath.dirname(named), text[7:].strip())) if leads else named


def branches_of(folder: str) -> set[str]:
    """The branches of a folder of git, as far as it keeps their history: https://git-scm.com/docs/git-reflog"""
    heads = f"{folder}/logs/refs/heads"
    return {posixpath.relpath(f"{path}/{name}", heads) for path, _, names in os.walk(heads) for name in names}


def made_from(folder: str, branch: str) -> str:
    """The branch of a remote that a branch was made from, such as "origin/topic"; empty: it was made otherwise."""
    made = _CREATED.match(_text(f"{folder}/logs/refs/heads/{branch}"))
    remote = f"refs/remotes/{made[1]}" if made else ""
    known = posixpath.exists(f"{folder}/{remote}") or f" {remote}\n" in f"{_text(f'{folder}/packed-refs')}\n"
    return made[1] if made and known else ""


def with_inner(folder: str) -> Iterator[str]:
    """A folder of git, those of its submodules, and what it keeps of its worktrees."""
    yield folder
    for kind in ("modules", "worktrees"):
        for path, folders, files in os.walk(f"{folder}/{kind}"):
            if "HEAD" in files:
                folders[:] = ["modules"] if "modules" in folders else []
                yield path


def _text(path: str) -> str:
    with suppress(OSError):
        return read_regular(Path(path), _MOST_BYTES).decode(errors="surrogateescape").strip("\n")
    return ""
