"""Files below one folder, reached name by name, so that no link on the way is ever followed."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

_NO_SUCH_FOLDER = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Tree:
    """The root is opened once; it stays the same folder even if its path comes to mean another.

    All paths are relative to the root, with forward slashes, and without "..". Not for several threads at once.
    """

    def __init__(self, root: Path) -> None:
        """Raises OSError where there is no such folder."""
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._nearest: tuple[str, int] = ("", self._root)
        """The folder used last; sorted paths find theirs open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._leave()
        os.close(self._root)

    def status(self, path: str) -> os.stat_result | None:
        """What stands at `path`, a link itself and not what it leads to; None where nothing does. Raises OSError."""
        try:
            folder, name = self._enter(path)
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno in _NO_SUCH_FOLDER:
                return None
            raise

    def read(self, path: str, most: int) -> tuple[os.stat_result, bytes]:
        """A regular file's status and content, cut after `most` bytes. Raises OSError, also for any other kind."""
        folder, name = self._enter(path)
        # Without O_NONBLOCK a pipe that has just taken the place of the file would hold us up for ever.
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123  a descriptor, not a path
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "is no regular file any more", path)
            pieces = []
            while most > 0 and (piece := file.read(min(most, 1 << 20))):
                pieces.append(piece)
                most -= len(piece)
            return status, b"".join(pieces)

    def target(self, path: str) -> bytes:
        """Where a link points to. Raises OSError."""
        folder, name = self._enter(path)
        return os.readlink(os.fsencode(name), dir_fd=folder)

    def write(self, path: str, data: bytes, mode: int) -> None:
        """Put a file at `path`, which others see whole or not at all; folders are made. Raises OSError."""
        folder, name = self._enter(path, make=True)
        temporary = _temporary_name()
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123  a descriptor, not a path
                file.write(data)
                os.fchmod(descriptor, mode)
            self._put(folder, temporary, name)
        except BaseException:
            _unlink_if_there(temporary, folder)
            raise

    def write_link(self, path: str, target: bytes) -> None:
        """Put a link at `path`, in place of the file or link that stands there; folders are made. Raises OSError."""
        folder, name = self._enter(path, make=True)
        temporary = _temporary_name()
        os.symlink(target, os.fsencode(temporary), dir_fd=folder)
        try:
            self._put(folder, temporary, name)
        except BaseException:
            _unlink_if_there(temporary, folder)
            raise

    def set_mode(self, path: str, mode: int) -> None:
        """Give a file these permission bits. Raises OSError."""
        folder, name = self._enter(path)
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)

    def remove(self, path: str) -> None:
        """Take away a file or link, and the folders that are empty without it. Raises OSError."""
        folder, name = self._enter(path)
        os.unlink(name, dir_fd=folder)
        self._leave()
        parent = path.rpartition("/")[0]
        while parent:
            above, name = self._enter(parent)
            try:
                os.rmdir(name, dir_fd=above)
            except OSError:
                return  # it still holds something
            self._leave()
            parent = parent.rpartition("/")[0]

    def _put(self, folder: int, temporary: str, name: str) -> None:
        try:
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except IsADirectoryError:
            os.rmdir(name, dir_fd=folder)  # only an empty one makes way
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)

    def _enter(self, path: str, *, make: bool = False) -> tuple[int, str]:
        """The open folder of `path`, and its last name."""
        parent, _, name = path.rpartition("/")
        if self._nearest[0] != parent:
            self._leave()
            folder = self._root
            for part in filter(None, parent.split("/")):
                try:
                    below = _open_folder(part, folder, make=make)
                finally:
                    if folder != self._root:
                        os.close(folder)
                folder = below
            self._nearest = (parent, folder)
        return self._nearest[1], name

    def _leave(self) -> None:
        if self._nearest[1] != self._root:
            os.close(self._nearest[1])
        self._nearest = ("", self._root)


def _open_folder(name: str, above: int, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=above)
    return os.open(name, _FOLDER, dir_fd=above)


def _temporary_name() -> str:
    return f".{uuid4().hex}.tmp"


def _unlink_if_there(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
