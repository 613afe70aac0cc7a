"""Who writes a journal: a lock beside it, and the process id of its holder in the lock's file."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from harness.base.errors import JournalError
from harness.base.regular_file import read_regular

MOST_BYTES = 100
"""Of a lock's file, which holds a number."""
CLOCKS_DIFFER_S = 2.0
"""The start of a process and the time of a file are measured by clocks that may be this far apart."""


def hold(path: Path) -> Callable[[], None]:
    """Become the one writer of the journal at `path`; what is returned lets the next one in.

    Raises JournalError, which names the present writer, when there is one.
    """
    from filelock import FileLock, Timeout

    lock_path = _lock_path(path)
    lock = FileLock(lock_path, timeout=0, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        process_id = _named_in(lock_path)
        holder = "another process" if process_id is None else f"process {process_id}"
        raise JournalError(
            f"The session {path.stem} is open in {holder}; end that one first, or go on in a copy with --fork-session."
        ) from error
    # On a full disk a session opens all the same, its holder nameless.
    with suppress(OSError), lock_path.open("r+", encoding="ascii") as file:
        file.write(f"{os.getpid():<10}\n")

    def release() -> None:
        with suppress(OSError):  # the name is gone with its process at the latest
            os.truncate(lock_path, 0)
        lock.release()

    return release


def writer_of(path: Path) -> int | None:
    """The id of the process that writes the journal at `path` now; None: nobody does, or nobody can be seen.

    Reads only, so that a writer which starts at this moment finds its lock free.
    """
    from psutil import STATUS_ZOMBIE, Error, Process

    lock_path = _lock_path(path)
    process_id = _named_in(lock_path)
    if process_id is None:
        return None
    try:
        process = Process(process_id)
        # A younger process only bears the number of one that was killed.
        is_it = process.create_time() <= lock_path.stat().st_mtime + CLOCKS_DIFFER_S
        return process_id if is_it and process.status() != STATUS_ZOMBIE else None
    except (Error, OSError):
        return None


def _lock_path(path: Path) -> Path:
    return path.with_name(path.stem + ".lock")


def _named_in(lock_path: Path) -> int | None:
    """The process id in the lock file; there is a moment in which it is still empty."""
    try:
        text = read_regular(lock_path, MOST_BYTES).decode("ascii", "replace").strip()
    except OSError:
        return None
    return int(text) if text.isascii() and text.isdigit() else None
