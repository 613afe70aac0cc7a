"""Checkpoints of a workspace: keep, compare and restore."""

import asyncio
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TypeVar

from harness.base.concurrency import in_thread
from harness.checkpoints.content_store import ContentStore
from harness.checkpoints.git import GitCancellation
from harness.checkpoints.manifest import (
    CheckpointError,
    CheckpointLimits,
    CheckpointRecord,
    FileChange,
    RestoreResult,
    read_manifest,
    write_manifest,
)
from harness.checkpoints.restore import changes, restore
from harness.checkpoints.scan import WorkspaceListing, WorkspaceScan, WorkspaceScanner, listed_by_git, listed_by_walking
from harness.tools.tree import FolderTree

T = TypeVar("T")
Proceed = Callable[[], None]
"""Raises CheckpointError when the work has to stop."""
GRACE_S = 2.0
"""Seconds that a cancelled call waits for a disk that does not answer."""
RESTORE_GRACE_S = 30.0
"""The same where files are being written back, which is not left half done."""


class Checkpoints:
    """The checkpoints of one session.

    All work is done in a thread and one after the other; a cancelled call returns when its thread has ended, or, where
    the disk does not answer, without it: nothing more is kept then until it has. A
    process that is killed in the middle leaves every earlier checkpoint usable. Kept are contents, links and
    permission bits; not owners, times, extended attributes, hard links, and folders that are empty.
    """

    def __init__(self, workspace: Path, folder: Path, *, limits: CheckpointLimits | None = None) -> None:
        """
        Args:
            workspace: the folder whose files are kept.
            folder: the session's own, made when needed. Nothing is written elsewhere, but for what a restore does.
            limits: how much is kept.
        """
        self._workspace = workspace.resolve()
        self._folder = folder.resolve()
        self._limits = limits or CheckpointLimits()
        self._scanner = WorkspaceScanner(self._limits)
        self._stop = GitCancellation()
        self._contents = ContentStore(self._folder)
        self._one_at_a_time = asyncio.Lock()
        self._working = threading.Lock()
        """Held by the thread that works, also by one that was given up."""

    async def keep(self) -> CheckpointRecord:
        """Keep the present contents of the workspace. Cheap if little has changed.

        Raises CheckpointError; then nothing has been kept.
        """
        return await self._in_thread(lambda proceed: self._keep((), proceed)[0])

    async def changes_since(self, id: str) -> tuple[FileChange, ...]:
        """The paths that differ now, sorted: what a restore would undo. Raises CheckpointError."""

        def compare(proceed: Proceed) -> tuple[FileChange, ...]:
            target = read_manifest(id, self._manifests)
            listing = self._listed(proceed)
            with FolderTree(self._workspace) as tree:
                now = self._scanner.scan(tree, {*listing.paths, *target.entries}, listing.left_out, proceed=proceed)
            return tuple(changes(target, now.manifest))

        return await self._in_thread(compare)

    async def changed_between(self, first: str, second: str) -> frozenset[str]:
        """The paths that differ between two checkpoints. Raises CheckpointError."""

        def compare(_: Proceed) -> frozenset[str]:
            before, after = (read_manifest(id, self._manifests) for id in (first, second))
            return frozenset(change.path for change in changes(before, after))

        return await self._in_thread(compare)

    async def restore(self, id: str, leave: Collection[str] = ()) -> RestoreResult:
        """Undo what `changes_since` shows, but for the paths in `leave`, and report what cannot be undone. The present
        state is kept first.

        Raises CheckpointError before anything has been changed.
        """

        def work(proceed: Proceed) -> RestoreResult:
            target = read_manifest(id, self._manifests)
            undo, now = self._keep(target.entries, proceed)
            with FolderTree(self._workspace) as tree:
                outcome = restore(target, now, self._contents, tree, leave)
            return RestoreResult(undo.id, tuple(outcome.written), tuple(outcome.removed), tuple(outcome.not_undone))

        return await self._in_thread(work, RESTORE_GRACE_S)

    def holds(self, id: str) -> bool:
        """Whether that checkpoint is one of this session's."""
        return (self._manifests / f"{id}.json").is_file()

    async def forget(self) -> None:
        """Remove every checkpoint of this session. Raises CheckpointError."""

        def work(_: Proceed) -> None:
            self._contents = ContentStore(self._folder)
            if self._folder.exists():
                shutil.rmtree(self._folder)

        await self._in_thread(work)

    @property
    def _manifests(self) -> Path:
        return self._folder / "manifests"

    async def _in_thread(self, work: Callable[[Proceed], T], grace_s: float = GRACE_S) -> T:
        async with self._one_at_a_time:
            deadline = time.monotonic() + self._limits.time_s

            def proceed() -> None:
                if self._stop.is_set() or time.monotonic() > deadline:
                    raise CheckpointError(f"Looking through the files took longer than {self._limits.time_s:g} s.")

            def alone() -> T:
                try:
                    return work(proceed)
                finally:
                    self._working.release()

            if not self._working.acquire(blocking=False):
                raise CheckpointError("The disk has not answered an earlier look through the files yet.")
            self._stop.clear()
            try:
                return await in_thread(alone, on_cancel=self._stop.set, grace_s=grace_s)
            except OSError as error:
                where = f" {error.filename}:" if error.filename else ""
                raise CheckpointError(f"The files cannot be kept or restored:{where} {error.strerror}.") from error

    def _keep(self, also: Iterable[str], proceed: Proceed) -> tuple[CheckpointRecord, WorkspaceScan]:
        listing = self._listed(proceed)
        paths = {*listing.paths, *also}
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        contents, room = self._contents, self._limits.stored_bytes - self._contents.size
        if room < 0:  # more than is ever kept: a record is damaged
            room = self._limits.stored_bytes - contents.recount()
        with FolderTree(self._workspace) as tree, contents.adding() as add:

            def store(id: str, data: bytes) -> None:
                nonlocal room
                room -= len(data)
                if room < 0:
                    raise CheckpointError(
                        f"The checkpoints of this session hold {self._limits.stored_bytes / 1e6:,.0f} MB, "
                        "and nothing more is kept."
                    )
                add(id, data)

            stored = contents.__contains__
            scan = self._scanner.scan(tree, paths, listing.left_out, stored=stored, store=store, proceed=proceed)
        id = write_manifest(scan.manifest, self._manifests)
        return CheckpointRecord(id, len(scan.manifest.entries), scan.manifest.left_out_lines()), scan

    def _listed(self, proceed: Proceed) -> WorkspaceListing:
        """What to look at; never our own folder, should it lie in the workspace."""
        listing = listed_by_git(self._workspace, self._limits.listing_s, self._stop)
        listing = listing or listed_by_walking(self._workspace, proceed)
        if not self._folder.is_relative_to(self._workspace):
            return listing
        ours = f"{self._folder.relative_to(self._workspace)}/"
        paths = frozenset(path for path in listing.paths if not path.startswith(ours))
        return WorkspaceListing(paths, {**listing.left_out, ours: "the checkpoints themselves"})
