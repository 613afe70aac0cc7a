"""Where the contents of kept files lie, each once: here as plain copies."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from harness.checkpoints.manifest import Manifest, content_id
from harness.tools.tree import Tree


class ContentsError(Exception):
    """The contents cannot be stored or read this way, and why."""


class Writing(Protocol):
    """Contents on their way into the store; they count from `commit` on."""

    def add(self, id: str, data: bytes) -> None:
        """Store a content. Raises ContentsError."""

    def commit(self, manifest: Manifest, note: str) -> None:
        """All that the manifest names has been added, now or earlier. Raises ContentsError."""


class Contents(Protocol):
    """A store of contents by id."""

    def writing(self) -> AbstractContextManager[Writing]:
        """For one checkpoint. What is in the store is certain when this has been left without an error."""

    def reading(self, ids: Sequence[str]) -> Iterator[bytes | None]:
        """The contents in this order; None for one that is missing or damaged. Raises ContentsError."""


class Copies:
    """One file for each content, named by its id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def writing(self) -> Iterator["_Copying"]:
        """See `Contents`."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with Tree(self._folder) as tree:
            yield _Copying(tree)

    def reading(self, ids: Sequence[str]) -> Iterator[bytes | None]:
        """See `Contents`."""
        for id in ids:
            try:
                data = (self._folder / _place(id)).read_bytes()
            except OSError:
                yield None
                continue
            yield data if content_id(data) == id else None


class _Copying:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def add(self, id: str, data: bytes) -> None:
        try:
            self._tree.write(_place(id), data, 0o600)
        except OSError as error:
            raise ContentsError(f"a copy cannot be written: {error.strerror or error}") from error

    def commit(self, manifest: Manifest, note: str) -> None:
        """Nothing is left to do: every copy stands under its name since `add`."""


def _place(id: str) -> str:
    return f"{id[:2]}/{id}"
