"""Restore a workspace to a manifest and report what could not be restored."""

import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from harness.checkpoints.content_store import ContentStore
from harness.checkpoints.manifest import IGNORED, ChangeKind, FileChange, Manifest
from harness.checkpoints.scan import Signature, WorkspaceScan, signature
from harness.tools.tree import FolderTree
from harness.tools.workspace import sendable


class _NotDoneError(Exception):
    """Why a path stays as it is."""


@dataclass(slots=True)
class RestoreOutcome:
    """Restored paths, and the others with a reason in one line each."""

    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    not_undone: list[str] = field(default_factory=list)

    def leave(self, path: str, why: str) -> None:
        """Note that a path stays as it is."""
        self.not_undone.append(f"{sendable(path)}: {why}; it stays as it is")


def changes(target: Manifest, now: Manifest) -> Iterator[FileChange]:
    """What a restore of `target` would undo, by path."""
    for path, kind in _differences(target, now):
        if not now.reason(path):
            yield FileChange(sendable(path), kind)


def restore(
    target: Manifest, now: WorkspaceScan, contents: ContentStore, tree: FolderTree, leave: Collection[str] = ()
) -> RestoreOutcome:
    """Undo the changes between `target` and `now` as far as possible; the outcome lists the rest.

    `leave`: paths of the user's own changes.

    Paths skipped in either are not touched: they are unknown, or could not be restored again. Nor are paths that change
    while this runs.
    """
    outcome = RestoreOutcome()
    wanted: list[str] = []
    for path, kind in _differences(target, now.manifest):
        if sendable(path) in leave:
            outcome.leave(path, "changed after the turn")
        elif reason := now.manifest.reason(path):
            outcome.leave(path, reason)
        elif kind is ChangeKind.ADDED:
            _remove(path, now, tree, outcome)
        else:
            wanted.append(path)
    _write(wanted, target, now, contents, tree, outcome)
    outcome.not_undone += _never_kept(target, now.manifest)
    return outcome


def _differences(target: Manifest, now: Manifest) -> Iterator[tuple[str, ChangeKind]]:
    for path in sorted({*target.entries, *now.entries}):
        before, after = target.entries.get(path), now.entries.get(path)
        if before is None:
            if not target.leaves_out(path):
                yield path, ChangeKind.ADDED
        elif before != after:
            yield path, ChangeKind.REMOVED if after is None else ChangeKind.CHANGED


def _remove(path: str, now: WorkspaceScan, tree: FolderTree, outcome: RestoreOutcome) -> None:
    try:
        _require_untouched(path, now, tree)
        tree.remove(path)
        outcome.removed.append(sendable(path))
    except (_NotDoneError, OSError) as error:
        outcome.leave(path, _why(error))


def _write(
    paths: Sequence[str],
    target: Manifest,
    now: WorkspaceScan,
    contents: ContentStore,
    tree: FolderTree,
    outcome: RestoreOutcome,
) -> None:
    same = {path for path in paths if _only_the_mode_differs(path, target, now.manifest)}
    for path in sorted(same):
        _put(path, None, target, now, tree, outcome)
    others = [path for path in paths if path not in same]
    names = _names(target, now)
    done: set[Signature] = set()
    for path in others:
        data = contents.read(target.entries[path].content)
        if data is None:
            outcome.leave(path, "what it held is damaged or gone")
            continue
        file = now.seen.get(path, ())[3:]
        if file in done:
            outcome.written.append(sendable(path))  # another name of a file that is restored
            continue
        apart = len(names.get(file, ())) > 1
        if _put(path, data, target, now, tree, outcome, apart=apart) and file in names and not apart:
            done.add(file)


def _names(target: Manifest, now: WorkspaceScan) -> dict[Signature, set[str]]:
    """What the names (hard links) of each file with several of them held, by number of the file."""
    names: dict[Signature, list[str]] = {}
    for path, seen in now.seen.items():
        if path in target.entries and target.entries[path].kind == "file":
            names.setdefault(seen[3:], []).append(target.entries[path].content)
    return {file: set(contents) for file, contents in names.items() if len(contents) > 1}


def _put(
    path: str,
    data: bytes | None,
    target: Manifest,
    now: WorkspaceScan,
    tree: FolderTree,
    outcome: RestoreOutcome,
    *,
    apart: bool = False,
) -> bool:
    entry = target.entries[path]
    try:
        _require_untouched(path, now, tree)
        if data is None:
            tree.set_mode(path, entry.mode)
        elif entry.kind == "link":
            tree.write_link(path, data)
        else:
            tree.write(path, data, entry.mode, apart=apart)
        outcome.written.append(sendable(path))
    except (_NotDoneError, OSError) as error:
        outcome.leave(path, _why(error))
        return False
    return True


def _only_the_mode_differs(path: str, target: Manifest, now: Manifest) -> bool:
    before, after = target.entries[path], now.entries.get(path)
    return after is not None and (before.kind, before.content) == (after.kind, after.content)


def _require_untouched(path: str, now: WorkspaceScan, tree: FolderTree) -> None:
    status = tree.status(path)
    if status is not None and stat.S_ISDIR(status.st_mode):
        status = None  # as the scan counts it; a folder makes way only when it is empty
    if now.seen.get(path) != (None if status is None else signature(status)):
        raise _NotDoneError("it was changed while this ran")


def _why(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def _never_kept(target: Manifest, now: Manifest) -> Iterator[str]:
    if target.beyond is not None:
        yield f"{sendable(target.beyond)} and all after it, by name: never kept"
    for path, reason in sorted(target.left_out.items()):
        if reason != IGNORED:
            yield f"{sendable(path)}: {reason}; never kept"
    ignored: list[str] = []
    for path, reason in sorted(now.left_out.items()):
        inside = bool(ignored) and ignored[-1].endswith("/") and path.startswith(ignored[-1])
        if reason == IGNORED and not inside and path not in target.left_out and not target.leaves_out(path.rstrip("/")):
            ignored.append(path)
    if ignored:
        more = f" and {len(ignored) - 1:,} more" if len(ignored) > 1 else ""
        stays = "they stay as they are" if more else "it stays as it is"
        yield f"{sendable(ignored[0])}{more}: {IGNORED}; {stays}"
