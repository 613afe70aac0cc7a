"""Small files that several sessions may change: one of them at a time, and nothing is lost of a damaged one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.errors import HarnessError

LOCK_S = 2.0
"""How long another session is waited for, which writes for a few milliseconds."""


@contextmanager
def one_writer(path: Path, failure: type[HarnessError], *, if_held: str = "") -> Iterator[None]:
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


def set_aside(path: Path) -> Path:
    """Rename a file that cannot be understood, so that it is never written over; returns its new place.

    Raises OSError.
    """
    names = (path.with_name(f"{path.name}.unusable-{number}") for number in range(1, 10_000))
    free = next(name for name in names if not name.exists())
    path.rename(free)
    return free
