"""The last lines of a file without reading the rest."""

import os
from collections.abc import Iterator
from typing import BinaryIO

CHUNK = 8192
"""Bytes read at a time; a few events fit."""


def lines_backwards(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file from the last to the first, without their newlines, in linear time.

    What stands after the last newline comes first, even when it is empty.
    """
    position = file.seek(0, os.SEEK_END)
    unfinished: list[bytes] = []
    while position > 0:
        size = min(CHUNK, position)
        position = file.seek(position - size)
        head, *lines = file.read(size).split(b"\n")
        if lines:
            yield lines.pop() + b"".join(reversed(unfinished))
            yield from reversed(lines)
            unfinished = []
        unfinished.append(head)
    yield b"".join(reversed(unfinished))
