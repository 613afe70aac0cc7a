"""The contents of kept files: one compressed file for each, named by its id."""

import zlib
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from harness.checkpoints.manifest import content_id
from harness.tools.tree import FolderTree


class ContentStore:
    """A folder of contents by id. A content appears there whole: it is written beside its place and renamed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, id: str, data: bytes) -> None:
        """Store a content. Raises OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with FolderTree(self._folder) as tree:
            tree.write(_place(id), zlib.compress(data, 1), 0o600)

    def read(self, id: str) -> bytes | None:
        """The content; None if it is missing or damaged."""
        try:
            data = (self._folder / _place(id)).read_bytes()
            if content_id(data) != id:  # version 0.1.0 did not compress
                data = zlib.decompress(data)
        except (OSError, zlib.error):
            return None
        return data if content_id(data) == id else None

    def remove(self, ids: Collection[str]) -> None:
        """Remove these contents, as far as they are there."""
        for id in ids:
            with suppress(OSError):
                (self._folder / _place(id)).unlink()

    def retain(self, ids: Collection[str]) -> None:
        """Remove everything else, such as what a killed process left. Raises OSError."""
        for path in self._folder.glob("*/*"):
            if path.name not in ids:
                path.unlink()


def _place(id: str) -> str:
    return f"{id[:2]}/{id}"
