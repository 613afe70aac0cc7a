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

_HEADER, _EXTENDED, _LENGTH = 12, 0x4000, 0xFFF
_BEFORE_ID, _LONGEST_ID, _FLAGS = 40, 32, (2, 4)
"""Bytes of an entry: times and such, an id of SHA-256, and its flags, twice as many where they are extended."""
_MOST_BYTES = 256_000_000
"""Of an index, and of a file with keys: whoever writes there could let this program read for ever."""


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
        for path, name in below.items():
            if not (blob := _blob(index, name)):
                continue
            same = blob.endswith(_ids_of_file(path))
            if same or not blob.endswith(_NO):
                found[path] = same or found.get(path, False)
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
        if below:
            shared = Path(folder_of(repository)).glob("sharedindex.*")  # of an index in two parts, that which stays
            for part in (Path(index_of(repository)), *shared):
                with suppress(OSError):
                    yield _in_full(read_regular(part, _MOST_BYTES)), below


def _blob(index: bytes, name: bytes) -> bytes:
    """What ends with the id of the blob of a file; empty: it has none. https://git-scm.com/docs/index-format"""
    if index[:4] != b"DIRC" or struct.unpack(">I", index[4:8])[0] not in {2, 3}:
        return b""
    at = _HEADER
    while (at := index.find(name + b"\0", at)) >= 0:
        for size in _FLAGS:
            begins = at - size
            flags = struct.unpack(">H", index[begins : begins + 2])[0] if begins >= _HEADER + _BEFORE_ID else 0
            if flags & _LENGTH == min(len(name), _LENGTH) and bool(flags & _EXTENDED) == (size == _FLAGS[1]):
                return index[begins - _LONGEST_ID : begins]
        at += 1
    return b""


def _in_full(index: bytes) -> bytes:
    """An index of version 4, which shortens names by the one before, in the form of version 3; others as they are."""
    if index[:8] != b"DIRC\0\0\0\4":
        return index
    entries, at, name = [index[:7] + b"\3" + index[8:_HEADER]], _HEADER, b""
    by_sha256 = hashlib.sha256(index[:-_LONGEST_ID]).digest() == index[-_LONGEST_ID:]
    fixed = _BEFORE_ID + (_LONGEST_ID if by_sha256 else hashlib.sha1(usedforsecurity=False).digest_size)
    with suppress(IndexError, ValueError, struct.error):
        for _ in range(*struct.unpack(">I", index[8:_HEADER])):
            flags = struct.unpack(">H", index[at + fixed : at + fixed + 2])[0]
            begins = entry_ends = at + fixed + _FLAGS[bool(flags & _EXTENDED)]
            cut = index[begins] & 127
            while index[begins] & 128:
                begins += 1
                cut = (cut + 1 << 7) | index[begins] & 127
            ends = index.index(b"\0", begins + 1)
            name = name[: len(name) - cut] + index[begins + 1 : ends]
            entries.append(index[at:entry_ends] + name + b"\0")
            at = ends + 1
    return b"".join(entries)


def _ids(content: bytes) -> tuple[bytes, bytes]:
    blob = b"blob %d\0" % len(content) + content
    return hashlib.sha1(blob, usedforsecurity=False).digest(), hashlib.sha256(blob).digest()


_NO = _ids(b"")
"""The ids of an empty file."""


def _ids_of_file(path: str) -> tuple[bytes, ...]:
    try:
        return _ids(read_regular(Path(path), _MOST_BYTES))
    except OSError:
        return ()
