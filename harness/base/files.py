"""Regular files, files that several sessions change, and writes that are never seen half done."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from harness.base.errors import HarnessError


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


LOCK_S = 2.0
"""How long another session is waited for, which writes for a few milliseconds."""


@contextmanager
def locked_file(path: Path, failure: type[HarnessError], *, if_held: str = "") -> Iterator[None]:
    """Be the one writer of a file, whose folder is made when missing.

    Every failure of the disk, also inside the block, becomes a `failure` with one sentence; `if_held` ends the one that
    says that another session holds the file.
    """
    from filelock import FileLock, Timeout

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock"), timeout=LOCK_S, mode=0o600, thread_local=False):
            yield
    except Timeout as error:
        raise failure(f"{path} has been held by another session for {LOCK_S:g} s{if_held}.") from error
    except OSError as error:
        raise failure(f"{path} cannot be written: {error.strerror or error}.") from error


def real_path(path: str) -> str:
    """The path without links, where they can be read: those to processes of others in /proc cannot."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return os.path.normpath(path)


def home_folder() -> Path:
    """The home folder; for a user without one, such as a container's, a path that is no folder."""
    return Path(os.path.expanduser("~")).absolute()  # noqa: PTH111 (Path.home raises RuntimeError)


def private_folder(folder: Path) -> None:
    """Close a folder that others may enter, with all in it; what is missing or belongs to others stays as it is."""
    with suppress(OSError):
        if not folder.stat().st_mode & 0o077:
            return
    for root, _, files in os.walk(folder, topdown=False):
        for path, mode in (*((Path(root, name), 0o600) for name in files), (Path(root), 0o700)):
            with suppress(OSError):
                if not path.is_symlink():
                    path.chmod(path.stat().st_mode & mode)


def set_aside(path: Path, *beside: str) -> Path:
    """Rename a file that cannot be understood, so that it is never written over; returns its new place.

    `beside`: ends of the names of files that belong to it and go with it. Raises OSError.
    """
    names = (path.with_name(f"{path.name}.unusable-{number}") for number in range(1, 10_000))
    free = next(name for name in names if not os.path.lexists(name))
    path.rename(free)
    for end in beside:
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(free.with_name(free.name + end))
    return free


def replace_atomically(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file so that every reader sees the old content or the new, never a part.

    Parents are made, the mode of an existing file is kept; a `private` file is for the user's eyes only. Raises
    OSError and leaves nothing behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name[:100]}.{uuid4().hex[:8]}.tmp"
    # Opened with 0o666 and not by tempfile, so that a new file gets the mode that the umask gives any new file.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123  a descriptor, not a path
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        if not private:
            with suppress(FileNotFoundError):
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
