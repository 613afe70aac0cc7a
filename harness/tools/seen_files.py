"""What an agent knows of the files it works on, so that it overwrites no content that it has not seen."""

import os
import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from harness.base.files import open_regular
from harness.events import Event, ToolEnded, ToolOutcome

COMPARED_BYTES = 20_000_000
"""Larger files are compared by size, time and number (inode); the whole of them would have to be read otherwise."""
SETTLED_NS = 2_000_000_000
"""A file that changed so recently could change again within one tick of the disk's clock, and is read again."""


def version_of(status: os.stat_result, data: bytes) -> str:
    """Tells one content of a file from another; `data` is at least its first `COMPARED_BYTES` + 1 bytes."""
    if len(data) > COMPARED_BYTES:
        return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"
    return sha256(data).hexdigest()


class SeenFiles:
    """The files that one agent has read or written, each with its version then.

    Every agent has its own: what a subagent, a background command or the user writes is new to it. What changes while
    one of its own calls runs counts as known, because the call may have done it (`current`, `adopt`).
    """

    def __init__(self, writes: dict[Path, tuple["SeenFiles", str]] | None = None) -> None:
        """`writes`: the last write of a file tool to each file, shared by the agents of a session."""
        self._writes = {} if writes is None else writes
        self._versions: dict[Path, str] = {}
        self._read: dict[Path, tuple[tuple[int, ...], str]] = {}
        """Versions that need not be worked out again while size, times and number of the file are the same."""

    def saw(self, path: Path, version: str) -> None:
        """The agent knows that the file at this resolved path has this version."""
        self._versions[path] = version

    def wrote(self, path: Path, version: str) -> None:
        """The agent gave the file this version."""
        self._writes[path] = self, version
        self.saw(path, version)

    def recall(self, root: Path, events: Iterable[Event]) -> None:
        """Fold what the journal says about an earlier run; a file that was read in parts has to be read again.

        `root`: the workspace, links resolved.
        """
        for event in events:
            if isinstance(event, ToolEnded) and event.revision and event.outcome is ToolOutcome.OK:
                path = root / event.revision.resource
                if event.tool != "edit_file" or path in self._versions:
                    self.saw(path, event.revision.digest)

    def knows(self, path: Path) -> bool:
        """Whether the agent has read or written the file."""
        return path in self._versions

    def has_seen(self, path: Path, version: str) -> bool:
        """Whether this version is what the agent saw last at `path`; at a new path, what it has seen anywhere."""
        return version == self._versions[path] if path in self._versions else version in self._versions.values()

    def current(self) -> frozenset[Path]:
        """The files that hold what the agent saw last. Reads those that may have changed."""
        return frozenset(path for path, version in list(self._versions.items()) if self._present(path) == version)

    def adopt(self, paths: Iterable[Path]) -> None:
        """What these files hold now counts as seen, unless it is known that another agent wrote it."""
        for path in paths:
            version = self._present(path)
            writer, written = self._writes.get(path, (self, version))
            if writer is self or written != version:
                self._versions[path] = version

    def _present(self, path: Path) -> str:
        """The version on the disk; empty for a missing or unreadable file."""
        try:
            with open_regular(path) as file:
                status = os.fstat(file.fileno())
                mark = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)
                known, version = self._read.get(path, ((), ""))
                if known == mark:
                    return version
                version = version_of(status, file.read(COMPARED_BYTES + 1))
        except OSError:
            return ""
        if status.st_ctime_ns < time.time_ns() - SETTLED_NS:
            self._read[path] = mark, version
        return version
