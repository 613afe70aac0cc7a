"""Which files git tracks, read from its index without running git."""

import hashlib
import os
import posixpath
import struct
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from harness.base.files import read_regular
from harness.sandbox.git_places import folder_of

_HEADER, _FIXED, _EXTENDED, _LENGTH = 12, 62, 0x4000, 0xFFF
_MOST_BYTES = 256_000_000
"""Of an index, and of a file with keys: whoever writes there could let this program read for ever."""
_NAME_BEGINS = (62, 64)
"""Where the path of an entry begins, in bytes from its start; later where it has further flags."""


def index_of(repository: str) -> str:
    """The index of a checkout, from the path of its folder or file named .git."""
    return f"{folder_of(repository)}/index"


def tracked(repositories: Iterable[str], paths: Collection[str]) -> dict[str, bool]:
    """Those of `paths` that a repository tracks, each with whether git has it in the same words.

    Args:
        repositories: folders and files named .git.
        paths: absolute, of files. One that is empty in git and not here does not count: what a command adds that sees
            it empty.
    """
    found: dict[str, bool] = {}
    for index, below in _indexes(repositories, paths):
        blobs = {path: _blob(index, name) for path, name in below.items()}
        same = {path: blob == _blob_of_file(path) for path, blob in blobs.items()}
        found |= {path: same[path] for path, blob in blobs.items() if same[path] or blob not in _NOTHING}
    return found


def with_tracked(repositories: Iterable[str], paths: Collection[str]) -> set[str]:
    """Those of `paths` that a repository tracks, and folders in which it tracks something."""
    indexes = _indexes(repositories, paths)
    return {
        path for index, below in indexes for path, name in below.items() if _blob(index, name) or name + b"/" in index
    }


def _indexes(repositories: Iterable[str], paths: Collection[str]) -> Iterator[tuple[bytes, dict[str, bytes]]]:
    """The index of each repository, and the names that it has for those of `paths` below it."""
    for repository in repositories:
        top = posixpath.dirname(repository)
        below = {path: os.fsencode(path[len(top) + 1 :]) for path in paths if path.startswith(f"{top}/")}
        with suppress(OSError):
            yield _in_full(read_regular(Path(index_of(repository)), _MOST_BYTES)) if below else b"", below


def _blob(index: bytes, name: bytes) -> bytes:
    """The id of the blob of a file; empty: it has none. https://git-scm.com/docs/index-format"""
    if index[:4] != b"DIRC" or struct.unpack(">I", index[4:8])[0] not in {2, 3}:
        return b""
    at = _HEADER
    while (at := index.find(name + b"\0", at)) >= 0:
        for begins in _NAME_BEGINS:
            entry = at - begins
            flags = struct.unpack(">H", index[entry + 60 : entry + 62])[0] if entry >= _HEADER else 0
            if flags & _LENGTH == min(len(name), _LENGTH) and bool(flags & _EXTENDED) == (begins == _NAME_BEGINS[1]):
                return index[entry + 40 : entry + 60]
        at += 1
    return b""


def _in_full(index: bytes) -> bytes:
    """An index of version 4, which shortens names by the one before, in the form of version 3; others as they are."""
    if index[:8] != b"DIRC\0\0\0\4":
        return index
    entries, at, name = [index[:7] + b"\3" + index[8:_HEADER]], _HEADER, b""
    with suppress(IndexError, ValueError, struct.error):
        for _ in range(*struct.unpack(">I", index[8:_HEADER])):
            flags = struct.unpack(">H", index[at + 60 : at + 62])[0]
            begins = at + _NAME_BEGINS[bool(flags & _EXTENDED)]
            cut = index[begins] & 127
            while index[begins] & 128:
                begins += 1
                cut = (cut + 1 << 7) | index[begins] & 127
            ends = index.index(b"\0", begins + 1)
            name = name[: len(name) - cut] + index[begins + 1 : ends]
            entries.append(index[at : at + _NAME_BEGINS[bool(flags & _EXTENDED)]] + name + b"\0")
            at = ends + 1
    return b"".join(entries)


_NOTHING = (b"", bytes.fromhex("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"))
"""No blob, and that of an empty file."""


def _blob_of(content: bytes) -> bytes:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).digest()


def _blob_of_file(path: str) -> bytes:
    try:
        return _blob_of(read_regular(Path(path), _MOST_BYTES))
    except OSError:
        return b"-"
