"""Files below one folder, reached name by name, so that no link on the way is ever followed.

A path is checked first and used a moment later, and another process may put a link in place of a folder in between.
Here a link that appears ends the walk with an error (https://man7.org/linux/man-pages/man2/openat.2.html). Imports the
standard library only, because the program behind grep loads this file by its path.
"""

import errno
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO, FileIO
from types import TracebackType
from typing import Self

_NO_SUCH_FOLDER = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderTree:
    """The root is opened once; it stays the same folder even if its path comes to mean another.

    All paths are relative to the root, with forward slashes, and without "..". Not for several threads at once.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
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
        """The entry at `path`, a link itself and not its target; None where nothing does. Raises OSError."""
        try:
            folder, name = self._enter(path)
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno in _NO_SUCH_FOLDER:
                return None
            raise

    def open(self, path: str) -> int:
        """A descriptor of a regular file, for reading. Raises OSError, also for any other kind of file."""
        folder, name = self._enter(path)
        # Without O_NONBLOCK a pipe that has just taken the place of the file would hold us up for ever.
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(errno.EINVAL, "is no longer a regular file", path)
        return descriptor

    def read(self, path: str, most: int) -> tuple[os.stat_result, bytes]:
        """A regular file's status and content, cut after `most` bytes. Raises OSError, also for any other kind."""
        with os.fdopen(self.open(path), "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            pieces = []
            while most > 0 and (piece := file.read(min(most, 1 << 20))):
                pieces.append(piece)
                most -= len(piece)
            return status, b"".join(pieces)

    def target(self, path: str) -> bytes:
        """Where a link points to. Raises OSError."""
        folder, name = self._enter(path)
        return os.readlink(os.fsencode(name), dir_fd=folder)

    def write(
        self,
        path: str,
        data: bytes,
        mode: int | None = None,
        *,
        durable: bool = False,
        new: bool = False,
        apart: bool = False,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Put a file at `path`, which others see whole or not at all; folders are made. Raises OSError.

        Without a `mode` the file keeps the one it has, but for the bits that let a program run with the rights of its
        owner, which were given to other content; a new file gets what the umask gives. `durable` waits for the disk.
        With `new` nothing may exist at `path`; `apart` separates it from its other names (hard links). `check` is
        called just before the file changes; what it raises ends the write.

        A file that has other names, another owner or group, or extended attributes such as an access list would lose
        them to a new one in its place, so it is overwritten where it is. Its old content lies beside it until that is
        done, and stays there if the program is killed meanwhile.
        """
        folder, name = self._enter(path, make=True)
        before = None if new else self.status(path)
        if mode is None and before is not None:
            mode = before.st_mode & 0o777
        temporary = f".{name[:50]}{_temporary_name()}"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o666 if mode is None else 0o600, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "w+b", buffering=0) as file:
                if mode is not None:
                    os.fchmod(descriptor, mode)
                replaces = before is not None and stat.S_ISREG(before.st_mode) and not apart
                stays = replaces and self._must_stay(path, descriptor)
                with os.fdopen(self.open(path), "rb", buffering=0) if stays else BytesIO(data) as source:
                    _fill(file, source)
                if durable:
                    os.fsync(descriptor)
                check()
                if stays:
                    _overwrite(name, folder, data, file, mode, durable=durable)
            if stays:
                os.unlink(temporary, dir_fd=folder)
            elif new:
                _link_or_rename(temporary, name, folder)
            else:
                self._put(folder, temporary, name)
        except BaseException:
            _unlink_if_there(temporary, folder)
            raise

    def _must_stay(self, path: str, descriptor: int) -> bool:
        """Whether the file at `path` has something that the new one behind `descriptor` has not."""
        with os.fdopen(self.open(path), "rb") as file:
            return os.fstat(file.fileno()).st_nlink > 1 or _attributes(file.fileno()) != _attributes(descriptor)

    def write_link(self, path: str, target: bytes) -> None:
        """Create a link at `path`, replacing a file or link there; folders are made. Raises OSError."""
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


def _attributes(descriptor: int) -> tuple[int, int, dict[str, bytes]]:
    """Owner, group and extended attributes."""
    status = os.fstat(descriptor)
    attributes: dict[str, bytes] = {}
    if sys.platform == "linux":
        with suppress(OSError):  # a disk without them
            attributes = {name: os.getxattr(descriptor, name) for name in os.listxattr(descriptor)}
    attributes.pop("security.capability", None)  # the kernel takes it away from changed content
    return status.st_uid, status.st_gid, attributes


def _overwrite(name: str, folder: int, data: bytes, old: FileIO, mode: int | None, *, durable: bool) -> None:
    """Give an existing file other content; the old one comes back when that fails."""
    descriptor = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        if mode is not None and stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
            os.fchmod(descriptor, mode)
        try:
            _fill(file, BytesIO(data))
        except BaseException:
            old.seek(0)
            _fill(file, old)
            raise
        if durable:
            os.fsync(descriptor)


def _fill(file: FileIO, source: FileIO | BytesIO) -> None:
    file.seek(0)
    while piece := memoryview(source.read(1 << 20)):
        while piece:
            piece = piece[file.write(piece) :]
    file.truncate()


def _link_or_rename(temporary: str, name: str, folder: int) -> None:
    """Give a file a name that is free. Raises FileExistsError where it is not."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a disk without hard links
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, dir_fd=folder))
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(temporary, dir_fd=folder)


def _temporary_name() -> str:
    return f".{os.urandom(16).hex()}.tmp"


def _unlink_if_there(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
