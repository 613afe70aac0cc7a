"""Finds the files of a workspace that hold keys or are obeyed, and its repositories; looks again only where something
changed.

A folder is read again when its ctime has changed, which no program can set: an entry that is made, renamed or removed
changes it. A folder that changed within the resolution of that clock is read again in any case.
"""

import hashlib
import json
import os
import posixpath
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.files import read_regular, real_path, replace_atomically
from harness.sandbox.git_index import index_of, tracked, with_tracked

_PACKAGES = frozenset({"node_modules", "site-packages", "dist-packages", ".venv", "venv", ".tox", "__pycache__"})
"""Folders of packages: their keys are examples that everyone has."""
_MOST_FOLDERS = 20_000
_TOO_MANY = "the workspace has so many folders that keys in it may be unknown"
_TOO_MANY_SETTINGS = "the settings of git here name too many files to guard each of them"
UNWRITABLE = "cannot be written"
_CLOCK_NS = 20_000_000
"""The coarse clock of file systems, in nanoseconds."""
_MOST_BYTES = 16_000_000
"""Of what is kept of a folder."""
_GONE = (0, 0)
"""The stamp of a missing file."""
Named = Callable[[Sequence[str]], tuple[Sequence[str], bool]]


@dataclass(frozen=True, slots=True)
class Marks:
    """What the names of files say."""

    is_key: Callable[[str], bool]
    """The file holds keys. The path is absolute."""
    is_obeyed: Callable[[str], bool]
    """Git, an agent, an editor, a shell or this program obeys it."""

    def holds_only_keys(self, folder: str) -> bool:
        """Whatever is in the folder is a key."""
        return self.is_key(f"{folder}/x") and self.is_key(f"{folder}/x.py")


@dataclass(slots=True)
class Marked:
    """The marked files below a folder."""

    keys: list[str] = field(default_factory=list)
    obeyed: list[str] = field(default_factory=list)
    of_git: set[str] = field(default_factory=set)
    """Those obeyed that git tracks, and folders among them in which it tracks something."""
    named: list[str] = field(default_factory=list)
    """Those obeyed because the settings of git name them, or are in them."""
    repositories: list[str] = field(default_factory=list)
    """The folders named .git."""
    cannot_hold: str = ""
    """Why not every key is known; empty: they are."""


@dataclass(frozen=True, slots=True)
class _Folder:
    stamp: tuple[int, int]
    folders: tuple[str, ...] = ()
    marked: tuple[tuple[str, str, bool], ...] = ()
    """The field of Marked, the path, and whether it is a link, which may lead elsewhere without a change here."""


class MarkedFiles:
    """The marked files of some folders.

    A command can tell git to track anything, with any content. So a key file is visible only if git tracked it when its
    folder was first searched, or has had it in the same words since then, which whoever cannot read it does not know.
    """

    def __init__(self, marks: Marks, memory: Path | None = None, most_folders: int = _MOST_FOLDERS) -> None:
        """`memory`: a folder that no command writes, for what later sessions have to know; None: there is none."""
        self._marks = marks
        self._memory = memory
        self._most = most_folders
        self._known: dict[str, _Folder] = {}
        self._shown: dict[str, set[str]] = {}
        """For each folder, the key files that are visible because git tracks them."""
        self._asked: dict[str, tuple[object, ...]] = {}
        """For each folder, the stamps of the indexes and the marked files that were compared last."""
        self._of_git: dict[str, set[str]] = {}
        self._hidden: dict[str, dict[tuple[int, int], str]] = {}
        """For each folder, the keys that were found last, by their stamps."""

    def find(self, top: str, around: Iterable[str] = (), named: Named = lambda _: ((), True)) -> Marked:
        """The marked files below `top`. Tracked files are not keys: git shows them anyway.

        Args:
            around: folders above that are repositories.
            named: the files with the settings of git for these folders and files named .git, and what they name; and
                whether that is all.
        """
        found, left, seen = Marked(), [top], 0
        while left:
            if (seen := seen + 1) > self._most:
                found.cannot_hold = _TOO_MANY
                break
            folder = self._look_into(left.pop())
            left += folder.folders
            for kind, path, is_link in folder.marked:
                if not is_link or posixpath.exists(path):
                    getattr(found, kind).append(real_path(path) if is_link else path)
        named_now, complete = named([*found.repositories, *(path for path in found.obeyed if path.endswith("/.git"))])
        found.named += named_now
        found.obeyed += (path for path in named_now if path not in found.obeyed)
        found.cannot_hold = found.cannot_hold or ("" if complete else _TOO_MANY_SETTINGS)
        self._compare_with_git(top, found, [f"{one}/.git" for one in around])
        self._keep_hidden(top, found)
        return found

    def _keep_hidden(self, top: str, found: Marked) -> None:
        """Add keys that are keys no longer by their path, because a command has moved or renamed a folder around them.
        The file itself is mounted over, so its stamp stays."""
        keys = set(found.keys)
        lost = {
            stamp: path
            for stamp, path in self._hidden.get(top, {}).items()
            if path not in keys | self._shown.get(top, set())
        }
        kept = {stamp: path for stamp, path in lost.items() if stamp_of(path) == stamp}
        if moved := lost.keys() - kept.keys():
            kept |= {stamp: path for stamp, path in _stamps_below(top, {inode for inode, _ in moved}) if stamp in moved}
        found.keys += sorted(set(kept.values()) - keys)
        self._hidden[top] = {stamp_of(path): path for path in found.keys}

    def _compare_with_git(self, top: str, found: Marked, around: Iterable[str]) -> None:
        """Take what git tracks from the keys. The index is read again when it or the marked files have changed."""
        named = [*around, *found.repositories, *(path for path in found.obeyed if path.endswith("/.git"))]
        asked = (*(stamp_of(index_of(one)) for one in named), *found.keys, 0, *found.obeyed)
        if self._asked.get(top) != asked:
            in_git = tracked(named, found.keys)
            known = self._remembered(top)
            before = self._first(top, in_git) if known is None else known
            shown = {path for path, same in in_git.items() if same or path in before}
            shown |= {path for path in before if not os.path.lexists(path)}  # another commit is checked out
            if shown != known and (why := self._remember(top, shown)):
                found.cannot_hold = why
                return
            self._shown[top], self._asked[top] = shown, asked
            self._of_git[top] = with_tracked(named, found.obeyed)
        found.of_git = self._of_git[top]
        found.keys = [path for path in found.keys if path not in self._shown[top]]

    def _file(self, top: str) -> Path | None:
        return self._memory and self._memory / f"{hashlib.sha256(os.fsencode(top)).hexdigest()[:32]}.json"

    def _remembered(self, top: str) -> set[str] | None:
        """The key files of a folder that were visible last, to any session; None: it was never searched before."""
        file = self._file(top)
        if file and posixpath.lexists(file):
            return _kept(file)[2]
        if top in self._shown:
            return self._shown[top]
        return set() if posixpath.isfile(f"{top}/.git") else None  # a working tree that git has just made

    def _first(self, top: str, in_git: Collection[str]) -> set[str]:
        """The key files that are visible in a folder that was never searched: what git tracks, and where a folder in
        it, around it or in its place was searched, only what was visible there."""
        inode, before = stamp_of(top)[0], []
        for other, number, shown in map(_kept, self._memory.glob("*.json") if self._memory else ()):
            if number == inode and stamp_of(other)[0] != inode:  # it has been moved
                before.append((top, {top + path[len(other) :] for path in shown}))
            elif other:
                before.append((other, shown))
        return {path for path in in_git if all(path in shown for one, shown in before if path.startswith(f"{one}/"))}

    def _remember(self, top: str, shown: set[str]) -> str:
        """Keep which key files of a folder are visible; returns why that is not possible."""
        file = self._file(top)
        try:
            if file:
                replace_atomically(file, json.dumps([top, stamp_of(top)[0], sorted(shown)]).encode(), private=True)
        except OSError as error:
            return f"{file} {UNWRITABLE} ({error.strerror})"
        return ""

    def _look_into(self, path: str) -> _Folder:
        stamp = stamp_of(path)
        if stamp == _GONE:
            return _Folder(_GONE)
        known = self._known.get(path)
        if known is None or known.stamp != stamp:
            recent = time.time_ns() - stamp[1] < _CLOCK_NS
            known = self._read(path, _GONE if recent else stamp)
            self._known[path] = known
        return known

    def _read(self, path: str, stamp: tuple[int, int]) -> _Folder:
        try:
            with os.scandir(path) as listed:
                entries = list(listed)
        except OSError:
            return _Folder(stamp)  # closed for us, so for the command, too
        folders: list[str] = []
        marked: list[tuple[str, str, bool]] = []
        for entry in entries:
            if entry.name in _PACKAGES:
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and entry.name != ".git" and not self._marks.holds_only_keys(entry.path):
                folders.append(entry.path)
            if kind := self._kind(entry.path, is_folder=is_folder):
                marked.append((kind, entry.path, entry.is_symlink()))
        return _Folder(stamp, tuple(folders), tuple(marked))

    def _kind(self, path: str, *, is_folder: bool) -> str:
        if path.endswith("/.git"):
            return "repositories" if is_folder else "obeyed"
        if self._marks.holds_only_keys(path) if is_folder else self._marks.is_key(path):
            return "keys"
        return "obeyed" if self._marks.is_obeyed(path) else ""


def _kept(file: Path) -> tuple[str, int, set[str]]:
    """A folder that was searched, its inode, and the key files that were visible; where that cannot be read, none are
    but those that git has in the same words."""
    try:
        top, inode, shown = json.loads(read_regular(file, _MOST_BYTES))
        return str(top), int(inode), set(map(str, shown))
    except (OSError, ValueError, TypeError, RecursionError):
        return "", 0, set()


def _stamps_below(top: str, inodes: Collection[int]) -> Iterator[tuple[tuple[int, int], str]]:
    """The entries with these inodes anywhere below a folder, also in packages."""
    left = [top]
    while left:
        with suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.inode() in inodes:
                    yield stamp_of(entry.path), entry.path
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)


def stamp_of(path: str) -> tuple[int, int]:
    """What changes with a file: its inode and the time of its last change, in nanoseconds."""
    try:
        status = os.lstat(path)
    except OSError:
        return _GONE
    return status.st_ino, status.st_ctime_ns
