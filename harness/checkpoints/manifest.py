"""What one checkpoint holds, by path: written as one JSON file, whole or not at all."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

from harness.checkpoints.results import CheckpointError, How
from harness.tools.files import replace_atomically
from harness.tools.workspace import sendable

IGNORED = "ignored by git"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, or a link, whose content is the path it points to."""

    kind: Literal["file", "link"]
    mode: int
    """Permission bits; 0 for a link."""
    size: int
    """Bytes."""
    content: str
    """Id of the content: what git calls a blob with these bytes, under SHA-256."""


def content_id(data: bytes) -> str:
    """The id of a content, by which it is stored once; the same in a git repository and among plain copies."""
    return sha256(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a workspace held at one moment. Paths are relative, with surrogate escapes for bytes that are not UTF-8."""

    entries: Mapping[str, Entry]
    left_out: Mapping[str, str]
    """Path and reason of what was there and is not kept. A folder ends in a slash and stands for all below it."""
    beyond: str | None = None
    """The first path, in the order of sorting, that a limit cut off. Nothing is known of the paths from here on."""
    absent: frozenset[str] = frozenset()
    """Paths in folders that are left out of which it is known that there was no file: they were looked at, because an
    earlier checkpoint has them."""

    def leaves_out(self, path: str) -> bool:
        """Whether something at `path` may have stood there without being kept, so that nobody may remove it."""
        if path in self.entries or path in self.absent:
            return False
        return bool(self.reason(path)) or any(f"{parent}/" in self.left_out for parent in PurePosixPath(path).parents)

    def reason(self, path: str) -> str:
        """Why this very path is not kept; empty where it is, or where nothing stood."""
        if path in self.entries:
            return ""
        if self.beyond is not None and path >= self.beyond:
            return "the workspace holds more than is kept"
        return self.left_out.get(path, "")

    def id(self, how: How) -> str:
        """16 hex digits that are the same for the same state kept the same way."""
        return sha256(self.to_json(how).encode()).hexdigest()[:16]

    def to_json(self, how: How) -> str:
        """Canonical: the same manifest gives the same text."""
        entries = {
            path: [entry.kind, entry.mode, entry.size, entry.content] for path, entry in sorted(self.entries.items())
        }
        left_out = dict(sorted(self.left_out.items()))
        absent = {"absent": sorted(self.absent)} if self.absent else {}
        return json.dumps({"how": how, "beyond": self.beyond, "left_out": left_out, "entries": entries, **absent})

    def left_out_lines(self, most: int = 10) -> tuple[str, ...]:
        """What is not kept and why; what git ignores in one line, and at most `most` lines in all."""
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


def written(manifest: Manifest, how: How, folder: Path) -> str:
    """Write a manifest into `folder`, unless it is there, and return its id. Raises OSError."""
    id = manifest.id(how)
    path = folder / f"{id}.json"
    if not path.exists():
        replace_atomically(path, manifest.to_json(how).encode(), private=True)
    return id


def read_manifest(id: str, folder: Path) -> tuple[Manifest, How]:
    """The manifest of that id, and where its contents lie. Raises CheckpointError."""
    if not re.fullmatch("[0-9a-f]{16}", id):
        raise CheckpointError(f"There is no checkpoint {id!r}: its id would be 16 hex digits.")
    try:
        values = json.loads((folder / f"{id}.json").read_bytes())
        entries = {path: Entry(*entry) for path, entry in values["entries"].items()}
        absent = frozenset(values.get("absent", ()))
        return Manifest(entries, values["left_out"], values["beyond"], absent), values["how"]
    except FileNotFoundError as error:
        raise CheckpointError(f"There is no checkpoint {id} in this session.") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"The checkpoint {id} cannot be read: {error}.") from error
