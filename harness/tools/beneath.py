"""Open and replace files below a folder so that no link which appears meanwhile can lead out of it.

A path is checked first (`Workspace.resolve`) and used a moment later, and another process may put a link in place of
one of its folders in between. So a path is walked from the folder's own descriptor, name by name, with `O_NOFOLLOW`:
whatever has become a link by then ends the walk with an error (`openat`,
https://man7.org/linux/man-pages/man2/openat.2.html).

Imports the standard library only: the program behind grep loads this file by its path.
"""

import os
import stat
from contextlib import contextmanager, suppress
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_beneath(root: Path, path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of the file at `path`, which is absolute, without links, and inside `root`.

    Never waits for the other end of a pipe. Raises OSError: ELOOP or ENOTDIR where a link is on the way.
    """
    with _folder(root, path.parent) as folder:
        return os.open(path.name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)


def replace_beneath(root: Path, path: Path, data: bytes) -> None:
    """Write the file at `path` so that every reader sees the old content or the new, never a part.

    Folders on the way are made. An existing file keeps its mode, but for the bits that make a program run with the
    rights of its owner: they were given to other content. Raises OSError and leaves nothing behind.
    """
    with _folder(root, path.parent, make=True) as folder:
        temporary = f".{path.name[:100]}.{uuid4().hex[:8]}.tmp"
        # Opened with 0o666 and not by tempfile, so that a new file gets the mode that the umask gives any new file.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o666, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                with suppress(FileNotFoundError):
                    before = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
                    os.fchmod(descriptor, stat.S_IMODE(before.st_mode) & 0o777)
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            os.rename(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            raise


@contextmanager
def _folder(root: Path, folder: Path, *, make: bool = False) -> Iterator[int]:
    """A descriptor of `folder`, reached from `root` name by name."""
    current = os.open(root, _FOLDER)
    try:
        for name in folder.relative_to(root).parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=current)
            following = os.open(name, _FOLDER, dir_fd=current)
            os.close(current)
            current = following
        yield current
    finally:
        os.close(current)
