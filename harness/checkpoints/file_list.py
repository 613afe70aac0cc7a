"""Which files of the workspace are worth keeping: those that git, or .gitignore files alone, do not ignore."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.checkpoints.git import GitError, Stop, ask
from harness.checkpoints.manifest import IGNORED
from harness.tools.ignored_files import walk

_NESTED = "a git repository of its own"
_UNREADABLE = "cannot be read"


@dataclass(frozen=True, slots=True)
class Listing:
    """Names found in a workspace; whether each is a file, and can be read, is still to be seen."""

    paths: frozenset[str]
    """What may be kept, relative to the workspace, with surrogate escapes for bytes that are not UTF-8."""
    left_out: dict[str, str]
    """Path and reason; a folder ends in a slash."""


def listed_by_git(workspace: Path, time_s: float, stop: Stop) -> Listing | None:
    """What the repository around the workspace tracks or does not ignore; None where git has nothing to say.

    That is: no repository, a workspace that an outer repository ignores as a whole, or no git that works.
    Submodules and repositories inside of it are left out. git reads its index here and writes nothing.
    """
    others = ("ls-files", "-z", "--others", "--exclude-standard")
    try:
        if _ignored(workspace, ["."], time_s, stop):
            return None
        answer = ask(*others, "--cached", cwd=workspace, time_s=time_s, stop=stop)
        paths = _names(answer.printed)
        found = _names(ask(*others, "--ignored", "--directory", cwd=workspace, time_s=time_s, stop=stop).printed)
        # It also names folders that hold nothing but ignored files. A new file there is not ignored.
        ignored = _ignored(workspace, [name for name in found if name.endswith("/")], time_s, stop)
        left_out = dict.fromkeys(_unreadable(workspace, answer.complaint, time_s, stop), _UNREADABLE)
    except GitError:
        return None
    left_out |= dict.fromkeys([name for name in found if not name.endswith("/")] + ignored, IGNORED)
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
        if entry.is_dir(follow_symlinks=False):
            left_out[f"{path}/"] = IGNORED if ignored else _UNREADABLE
        elif ignored:
            left_out[path] = IGNORED
        else:
            paths.add(path)
    return Listing(frozenset(paths), left_out)


def _ignored(workspace: Path, names: Iterable[str], time_s: float, stop: Stop) -> list[str]:
    given = b"".join(os.fsencode(name) + b"\0" for name in names)
    arguments = ("check-ignore", "-z", "--stdin")
    return _names(ask(*arguments, cwd=workspace, time_s=time_s, stop=stop, given=given, fine=(0, 1)).printed)


def _unreadable(workspace: Path, complaint: bytes, time_s: float, stop: Stop) -> Iterator[str]:
    """The folders that git passed over with a warning, which names them from the top of the repository."""
    named = re.findall(rb"^warning: could not open directory '(.+?)/': ", complaint, re.MULTILINE | re.DOTALL)
    if named:
        prefix = ask("rev-parse", "--show-prefix", cwd=workspace, time_s=time_s, stop=stop).printed.removesuffix(b"\n")
        yield from (f"{os.fsdecode(name.removeprefix(prefix))}/" for name in named)


def _names(printed: bytes) -> list[str]:
    return [os.fsdecode(name) for name in printed.split(b"\0") if name]


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
