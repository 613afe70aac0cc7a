"""Which files of a workspace are kept, and reading them."""

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.checkpoints.git import GitCancellation, GitError, ask
from harness.checkpoints.manifest import IGNORED, CheckpointLimits, Manifest, ManifestEntry, content_id
from harness.tools.ignored_files import walk
from harness.tools.tree import FolderTree
from harness.tools.workspace import kind

_NESTED = "a git repository of its own"
_UNREADABLE = "cannot be read"


@dataclass(frozen=True, slots=True)
class WorkspaceListing:
    """Names found in a workspace; they may turn out unreadable or not to be files."""

    paths: frozenset[str]
    """Candidates, relative to the workspace, with surrogate escapes for bytes that are not UTF-8."""
    left_out: dict[str, str]
    """Path and reason; a folder ends in a slash."""


def listed_by_git(workspace: Path, time_s: float, stop: GitCancellation) -> WorkspaceListing | None:
    """The files that the surrounding repository tracks or does not ignore; None if git cannot tell.

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
    folders = {path for path in paths if path.endswith("/") or _is_folder(workspace / path)}
    begun = {path for path in folders if any(other.startswith(f"{path}/") for other in paths)}
    """Were files when git last looked; what is in them is listed."""
    left_out |= {path.rstrip("/") + "/": _NESTED for path in folders - begun}
    return WorkspaceListing(frozenset(paths) - folders, left_out)


def listed_by_walking(workspace: Path, proceed: Callable[[], None]) -> WorkspaceListing:
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
    return WorkspaceListing(frozenset(paths), left_out)


def _ignored(workspace: Path, names: Iterable[str], time_s: float, stop: GitCancellation) -> list[str]:
    given = b"".join(os.fsencode(name) + b"\0" for name in names)
    arguments = ("check-ignore", "-z", "--stdin")
    return _names(ask(*arguments, cwd=workspace, time_s=time_s, stop=stop, given=given, fine=(0, 1)).printed)


def _unreadable(workspace: Path, complaint: bytes, time_s: float, stop: GitCancellation) -> Iterator[str]:
    """The folders that git passed over with a warning, which names them from the top of the repository."""
    named = re.findall(rb"^warning: could not open directory '(.+?)/': ", complaint, re.MULTILINE | re.DOTALL)
    if named:
        prefix = ask("rev-parse", "--show-prefix", cwd=workspace, time_s=time_s, stop=stop).printed.removesuffix(b"\n")
        yield from (f"{os.fsdecode(name.removeprefix(prefix))}/" for name in named)


def _names(printed: bytes) -> list[str]:
    return [os.fsdecode(name) for name in printed.split(b"\0") if name]


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


Signature = tuple[int, ...]

SETTLED_NS = 2_000_000_000
"""A file that changed so recently could change again within one tick of the disk's clock, and is read again."""


def signature(status: os.stat_result) -> Signature:
    """Changes when a file is written, replaced or given other permissions.

    Not the time of the last change of status (ctime): that also moves when another name of the same file goes.
    """
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev


@dataclass(frozen=True, slots=True)
class WorkspaceScan:
    """The scanned state of a workspace."""

    manifest: Manifest
    seen: dict[str, Signature]
    """Of every kept path, as it was when its content was read."""


_NEVER_READ: tuple[Signature, int, ManifestEntry] = ((), 0, ManifestEntry("file", 0, 0, ""))


@dataclass(slots=True)
class WorkspaceScanner:
    """Remembers what it has read, so unchanged files are not read again."""

    limits: CheckpointLimits
    settled_ns: int = SETTLED_NS
    _known: dict[str, tuple[Signature, int, ManifestEntry]] = field(default_factory=dict)
    """Entry of a path with its signature and its ctime, which cannot be set back, at the time of reading."""

    def scan(
        self,
        tree: FolderTree,
        paths: Iterable[str],
        left_out: dict[str, str],
        *,
        stored: Callable[[str], bool] = lambda _: True,
        store: Callable[[str, bytes], None] = lambda *_: None,
        proceed: Callable[[], None] = lambda: None,
    ) -> WorkspaceScan:
        """The state of `paths`; those that name no file or link now count as absent.

        Args:
            tree: the workspace.
            paths: the paths to keep.
            left_out: skipped paths with reasons; more are found here.
            stored: whether a content need not be read again for `store`.
            store: gets every content that is not stored, with its id.
            proceed: called between two files; what it raises ends the scan.
        """
        entries: dict[str, ManifestEntry] = {}
        seen: dict[str, Signature] = {}
        missing: set[str] = set()
        left_out, beyond, total = dict(left_out), None, 0
        settled_before = time.time_ns() - self.settled_ns
        fresh: dict[str, tuple[Signature, int, ManifestEntry]] = {}
        for path in sorted(paths):
            proceed()
            try:
                status = tree.status(path)
                if status is None or stat.S_ISDIR(status.st_mode):
                    missing.add(path)
                    continue
                if reason := self._refusal(status):
                    left_out[path] = reason
                    continue
                if len(entries) == self.limits.files or total + status.st_size > self.limits.total_bytes:
                    beyond = path
                    break
                status, entry = self._entry(tree, path, status, stored, store)
            except FileNotFoundError:
                missing.add(path)  # gone while we looked
                continue
            except OSError as error:
                left_out[path] = f"cannot be read: {error.strerror or error}"
                continue
            total += entry.size
            entries[path], seen[path] = entry, signature(status)
            left_out.pop(path, None)
            if status.st_ctime_ns < settled_before:
                fresh[path] = seen[path], status.st_ctime_ns, entry
        self._known = fresh
        manifest = Manifest(entries, left_out, beyond)
        return WorkspaceScan(replace(manifest, absent=frozenset(filter(manifest.leaves_out, missing))), seen)

    def _refusal(self, status: os.stat_result) -> str:
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(status.st_mode):
            return kind(status.st_mode)
        if status.st_size > self.limits.file_bytes:
            return (
                f"{status.st_size / 1e6:,.1f} MB, more than the {self.limits.file_bytes / 1e6:,.1f} MB kept of a file"
            )
        return ""

    def _entry(
        self,
        tree: FolderTree,
        path: str,
        status: os.stat_result,
        stored: Callable[[str], bool],
        store: Callable[[str, bytes], None],
    ) -> tuple[os.stat_result, ManifestEntry]:
        mark, changed_at, entry = self._known.get(path, _NEVER_READ)
        if mark == signature(status) and changed_at == status.st_ctime_ns and stored(entry.content):
            return status, entry
        if stat.S_ISLNK(status.st_mode):
            data = tree.target(path)
        else:
            status, data = tree.read(path, self.limits.file_bytes + 1)
            if len(data) > self.limits.file_bytes:
                raise OSError("it grows while it is read")
        id = content_id(data)
        if not stored(id):
            store(id, data)
        if stat.S_ISLNK(status.st_mode):
            return status, ManifestEntry("link", 0, len(data), id)
        return status, ManifestEntry("file", stat.S_IMODE(status.st_mode) & 0o777, len(data), id)
