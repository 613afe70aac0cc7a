"""Checkpoints on disk: records, limits, errors and the manifest of each checkpoint."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

from harness.base.errors import HarnessError
from harness.base.files import replace_atomically
from harness.tools.workspace import sendable


class CheckpointError(HarnessError):
    """The files could not be kept, compared or restored. The text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class CheckpointLimits:
    """How much is kept; files beyond a limit are skipped and reported."""

    file_bytes: int = 10_000_000
    """Of one file."""
    total_bytes: int = 200_000_000
    """Of all files of one checkpoint."""
    files: int = 20_000
    """Files and links of one checkpoint."""
    stored_bytes: int = 1_000_000_000
    """Of all different contents that a session keeps, before compression. When reached, nothing more is kept."""
    time_s: float = 30.0
    """For one keep or comparison; a restore that has begun to write is not cut off."""
    listing_s: float = 5.0
    """For each git query of the user's repository; after that the workspace is treated as having none."""

    def __post_init__(self) -> None:
        if min(self.file_bytes, self.total_bytes, self.files, self.stored_bytes, self.time_s, self.listing_s) <= 0:
            raise ValueError("Every limit of the checkpoints has to be above 0.")


@dataclass(frozen=True, slots=True)
class CheckpointRecord:
    """A checkpoint."""

    id: str
    """Derived from kept and skipped files: the same state has the same id."""
    files: int
    left_out: tuple[str, ...] = ()
    """Skipped files and reasons, in a few lines."""


class ChangeKind(Enum):
    """How a file changed since a checkpoint."""

    ADDED = "added"
    CHANGED = "changed"
    """Another content, other permissions, or a link in place of a file."""
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A path whose state differs from a checkpoint. A restore takes an added file away and writes back the others."""

    path: str
    """From the workspace, with forward slashes; bytes that are not UTF-8 as backslash escapes."""
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The result of a restore."""

    undo: str
    """Id of the state before it: restoring that undoes the restore."""
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    not_undone: tuple[str, ...] = ()
    """Paths that stay different or were never kept, and why, one line each."""


IGNORED = "ignored by git"


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A file, or a link, whose content is the path it points to."""

    kind: Literal["file", "link"]
    mode: int
    """Permission bits; 0 for a link."""
    size: int
    """Bytes."""
    content: str
    """Id of the content."""


def content_id(data: bytes) -> str:
    """The id of a content: that of a blob with these bytes in a git repository under SHA-256."""
    return sha256(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a workspace at one moment. Paths are relative, with surrogate escapes for bytes that are not
    UTF-8."""

    entries: Mapping[str, ManifestEntry]
    left_out: Mapping[str, str]
    """Paths that existed but are not kept, with reasons. A folder ends in a slash and covers everything below it."""
    beyond: str | None = None
    """The first path, in sorted order, beyond a limit. Paths from here on are unknown."""
    absent: frozenset[str] = frozenset()
    """Paths in skipped folders that did not exist; they were checked because an earlier checkpoint has them."""

    def leaves_out(self, path: str) -> bool:
        """Whether something may have existed at `path` without being kept, so it must not be removed."""
        if path in self.entries or path in self.absent:
            return False
        return bool(self.reason(path)) or any(f"{parent}/" in self.left_out for parent in PurePosixPath(path).parents)

    def reason(self, path: str) -> str:
        """Why this path is not kept; empty if it is, or if nothing existed."""
        if path in self.entries:
            return ""
        if self.beyond is not None and path >= self.beyond:
            return "the workspace holds more than is kept"
        return self.left_out.get(path, "")

    def id(self) -> str:
        """16 hex digits that are the same for the same state."""
        return sha256(self.to_json().encode()).hexdigest()[:16]

    def to_json(self) -> str:
        """Canonical: the same manifest gives the same text."""
        entries = {
            path: [entry.kind, entry.mode, entry.size, entry.content] for path, entry in sorted(self.entries.items())
        }
        left_out = dict(sorted(self.left_out.items()))
        absent = {"absent": sorted(self.absent)} if self.absent else {}
        return json.dumps({"beyond": self.beyond, "left_out": left_out, "entries": entries, **absent})

    def left_out_lines(self, most: int = 10) -> tuple[str, ...]:
        """Skipped files and reasons: ignored ones in one line, at most `most` lines in all."""
        ignored = [path for path, reason in self.left_out.items() if reason == IGNORED]
        lines = [f"{sendable(path)}: {reason}" for path, reason in sorted(self.left_out.items()) if reason != IGNORED]
        if self.beyond is not None:
            lines.insert(0, f"{sendable(self.beyond)} and all after it, by name: the workspace holds more than is kept")
        if len(lines) >= most:
            lines = [*lines[: most - 2], f"{len(lines) - most + 2:,} more that could not be kept"]
        if ignored:
            shown = ", ".join(map(sendable, sorted(ignored)[:5])) + (
                f" and {len(ignored) - 5:,} more" if len(ignored) > 5 else ""
            )
            lines.append(f"{IGNORED}: {shown}")
        return tuple(lines)


def write_manifest(manifest: Manifest, folder: Path) -> str:
    """Write a manifest into `folder`, unless it is there whole, and return its id. Raises OSError."""
    id, text = manifest.id(), manifest.to_json().encode()
    path = folder / f"{id}.json"
    if not path.exists() or path.stat().st_size != len(text):
        replace_atomically(path, text, private=True)
    return id


def read_manifest(id: str, folder: Path) -> Manifest:
    """The manifest of that id. Raises CheckpointError."""
    if not re.fullmatch("[0-9a-f]{16}", id):
        raise CheckpointError(f"There is no checkpoint {id!r}: its id would be 16 hex digits.")
    try:
        values = json.loads((folder / f"{id}.json").read_bytes())
        entries = {path: ManifestEntry(*entry) for path, entry in values["entries"].items()}
        absent = frozenset(values.get("absent", ()))
        manifest = Manifest(entries, values["left_out"], values["beyond"], absent)
    except FileNotFoundError as error:
        raise CheckpointError(f"There is no checkpoint {id} in this session.") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"The checkpoint {id} cannot be read: {error}.") from error
    if "how" in values:
        raise CheckpointError(f"The checkpoint {id} was kept by version 0.1.0; its form can no longer be restored.")
    return manifest
