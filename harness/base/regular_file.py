"""Read a small file that somebody else may have placed: never a pipe, a device, an endless or an oversized one."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


class NotRegularError(OSError):
    """The path is not a regular file, or the file is too large. The message says which, in a few words."""

    def __init__(self, why: str, path: Path) -> None:
        super().__init__(why)
        self.strerror = why
        self.filename = str(path)


def open_regular(path: Path, *, follow: bool = True) -> BinaryIO:
    """A regular file, open for reading; `follow`: also the one that a link leads to.

    Opening never waits for the other end of a named pipe. Raises `NotRegularError` for a pipe, a socket and a device,
    and another OSError where the file is missing, a directory or not readable.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    descriptor = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise NotRegularError("not a regular file", path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, most_bytes: int) -> bytes:
    """The whole content of a regular file of at most `most_bytes` bytes; links are followed.

    Raises what `open_regular` does, and `NotRegularError` for a larger file.
    """
    with open_regular(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise NotRegularError(f"larger than {most_bytes:,} bytes", path)
    return data
