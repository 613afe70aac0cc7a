"""The contents of kept files, compressed, one after the other in a file that only grows.

    contents-1:  id (32 bytes) · bytes before compression (8) · bytes here (8) · the content
                 …

A killed process leaves at most one torn record at the end. Nothing is appended behind it: the next file is begun.
"""

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.base.files import open_regular
from harness.checkpoints.manifest import content_id

HEADER = struct.Struct(">32sQQ")


@dataclass(frozen=True, slots=True)
class _Record:
    path: Path
    start: int
    length: int
    size: int


class ContentStore:
    """Contents by id, for one process that writes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[str, _Record] | None = None
        self._number = 1
        """Of the file that grows."""

    def __contains__(self, id: str) -> bool:
        return id in self._records()

    @property
    def size(self) -> int:
        """Bytes of all contents before compression."""
        return sum(record.size for record in self._records().values())

    def recount(self) -> int:
        """`size` of the contents that can be read: a damaged record may claim any. The others are no longer held."""
        records = self._records()
        for id in tuple(records):
            if self.read(id) is None:
                del records[id]
        return self.size

    @contextmanager
    def adding(self) -> Iterator[Callable[[str, bytes], None]]:
        """Gives the function that adds a content. If the block fails, all that it added is removed. Raises OSError."""
        if self._found and not all(self._path(number).exists() for number in range(1, self._number + 1)):
            self._found, self._number = None, 1  # the user has removed them
        records, path, added = self._records(), self._path(self._number), list[str]()
        with open(path, "ab", opener=_without_waiting) as file:
            start = file.tell()

            def add(id: str, data: bytes) -> None:
                packed = zlib.compress(data, 1)
                file.write(HEADER.pack(bytes.fromhex(id), len(data), len(packed)))
                records[id] = _Record(path, file.tell(), len(packed), len(data))
                file.write(packed)
                added.append(id)

            try:
                yield add
                file.flush()
            except BaseException:
                for id in added:
                    del records[id]
                with suppress(OSError):  # of a full disk, once more
                    file.close()
                os.truncate(path, start)
                raise

    def read(self, id: str) -> bytes | None:
        """The content; None if it is missing or damaged."""
        record = self._records().get(id)
        if record is None:
            return None
        try:
            with open_regular(record.path) as file:
                file.seek(record.start)
                data = zlib.decompress(file.read(record.length))
        except (OSError, zlib.error):
            return None
        return data if len(data) == record.size and content_id(data) == id else None

    def _path(self, number: int) -> Path:
        return self._folder / f"contents-{number}"

    def _records(self) -> dict[str, _Record]:
        """The contents on disk, looked through once."""
        if self._found is None:
            found: dict[str, _Record] = {}
            while (path := self._path(self._number)).exists():
                if path.is_file() and _scan(path, end := path.stat().st_size, found) == end:
                    break
                self._number += 1
            self._found = found
        return self._found


def _without_waiting(path: str, flags: int) -> int:
    """Open without waiting for the reader of a named pipe. Raises OSError for one."""
    return os.open(path, flags | os.O_NONBLOCK, 0o666)


def _scan(path: Path, end: int, found: dict[str, _Record]) -> int:
    """Add the whole records of a file to `found`; returns where the last one ends."""
    at = 0
    with open_regular(path) as file:
        while len(header := file.read(HEADER.size)) == HEADER.size:
            id, size, length = HEADER.unpack(header)
            start = at + HEADER.size
            if start + length > end:
                break
            found[id.hex()] = _Record(path, start, length, size)
            at = file.seek(start + length)
    return at
