"""Look at every listed file and link: what it is, and what it holds."""

import os
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from harness.checkpoints.manifest import Entry, Manifest, content_id
from harness.checkpoints.results import CheckpointLimits
from harness.tools.tree import Tree
from harness.tools.workspace import kind

Signature = tuple[int, ...]

SETTLED_NS = 2_000_000_000
"""A file that changed so recently could change again within one tick of the disk's clock, and is read again."""


def signature(status: os.stat_result) -> Signature:
    """Changes when a file is written, replaced or given other permissions.

    Not the time of the last change of status (ctime): that also moves when another name of the same file goes.
    """
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev


@dataclass(frozen=True, slots=True)
class Scan:
    """The state of a workspace as it was found."""

    manifest: Manifest
    seen: dict[str, Signature]
    """Of every kept path, as it was when its content was read."""


_NEVER_READ: tuple[Signature, int, Entry] = ((), 0, Entry("file", 0, 0, ""))


@dataclass(slots=True)
class Scanner:
    """Remembers what it has read, so that a file that nobody touched is not read again."""

    limits: CheckpointLimits
    settled_ns: int = SETTLED_NS
    _known: dict[str, tuple[Signature, int, Entry]] = field(default_factory=dict)
    """Entry of a path, its signature and its ctime, which nobody can put back, when it was read."""

    def scan(
        self,
        tree: Tree,
        paths: Iterable[str],
        left_out: dict[str, str],
        *,
        stored: Callable[[str], bool] = lambda _: True,
        store: Callable[[str, bytes], None] = lambda *_: None,
        proceed: Callable[[], None] = lambda: None,
    ) -> Scan:
        """The state of `paths`, of which those that name no file or link now count as not there.

        Args:
            tree: the workspace.
            paths: what is to be kept.
            left_out: what is not, with reasons; more is found here.
            stored: whether a content need not be read again for `store`.
            store: gets every content that is not stored, with its id.
            proceed: called between two files; what it raises ends the scan.
        """
        entries: dict[str, Entry] = {}
        seen: dict[str, Signature] = {}
        missing: set[str] = set()
        left_out, beyond, total = dict(left_out), None, 0
        settled_before = time.time_ns() - self.settled_ns
        fresh: dict[str, tuple[Signature, int, Entry]] = {}
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
        return Scan(replace(manifest, absent=frozenset(filter(manifest.leaves_out, missing))), seen)

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
        tree: Tree,
        path: str,
        status: os.stat_result,
        stored: Callable[[str], bool],
        store: Callable[[str, bytes], None],
    ) -> tuple[os.stat_result, Entry]:
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
            return status, Entry("link", 0, len(data), id)
        return status, Entry("file", stat.S_IMODE(status.st_mode) & 0o777, len(data), id)
