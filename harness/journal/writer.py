"""The single writer of a journal, its lock, and the recorder between a conversation and its journal."""

import errno
import os
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.base.errors import JournalError
from harness.base.files import read_regular
from harness.events import Event, Notice
from harness.journal.records import Record, line_of, lines_backwards, object_of, seq_of

MOST_LOCK_BYTES = 100
"""Size limit of a lock file, which holds a number."""
CLOCKS_DIFFER_S = 2.0
"""How far the clock of process starts and the clock of file times may differ."""


class Journal:
    """Appends events to one file and locks it against other writers.

    Made with `create` or `open`; used as a context manager, or closed with `close`.
    """

    def __init__(
        self,
        path: Path,
        descriptor: int,
        resources: ExitStack,
        last_seq: int,
        torn: bool,
        clock: Callable[[], float],
    ) -> None:
        self.path = path
        self._descriptor = descriptor
        self._resources = resources
        self._last_seq = last_seq
        self._waiting = b"\n" if torn else b""
        self._clock = clock
        self._failing = False

    @classmethod
    def create(cls, folder: Path, session_id: str, *, clock: Callable[[], float] = time.time) -> Self:
        """Begin the journal of a new session in `folder`, which is created if missing; only its owner may read it.

        Raises JournalError if the session exists or the folder cannot be written.
        """
        path = folder / f"{session_id}.jsonl"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return cls._opened(path, os.O_CREAT | os.O_EXCL, clock)
        except OSError as error:
            if path.exists():
                raise JournalError(
                    f"The session {session_id} already exists in {folder}; resume it instead."
                ) from error
            raise JournalError(
                f"The journal {path} cannot be created: {error.strerror}; set HARNESS_STATE_DIR to a writable folder."
            ) from error

    @classmethod
    def open(cls, path: Path, *, clock: Callable[[], float] = time.time) -> Self:
        """Continue the journal at `path`.

        A line whose writer was killed is ended before the next record, not cut away, so that `read` reports it.
        Raises JournalError if another process writes this journal or the file cannot be opened.
        """
        try:
            return cls._opened(path, 0, clock)
        except OSError as error:
            raise JournalError(
                f"The journal {path} cannot be opened: {error.strerror}; choose another session with --resume."
            ) from error

    @classmethod
    def _opened(cls, path: Path, flags: int, clock: Callable[[], float]) -> Self:
        with ExitStack() as resources:
            if not flags & os.O_CREAT and not path.is_file():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            resources.callback(_lock(path))
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o600)
            resources.callback(os.close, descriptor)
            last_seq, torn = _end_of(descriptor)
            return cls(path, descriptor, resources.pop_all(), last_seq, torn, clock)

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self.path.stem

    @property
    def behind(self) -> bool:
        """Whether records wait in memory because the file cannot be written."""
        return self._failing

    def append(self, event: Event) -> Record | None:
        """Write an event and return its record; None for transient events, which are not recorded.

        On return the operating system holds the line, so the end of this process cannot lose it. Raises JournalError
        once at the beginning of an outage such as a full disk. From then on records wait in memory, in order
        (`behind` is true), and each further append tries to write all of them.
        """
        if event.transient:
            return None
        self._last_seq += 1
        record = Record(self._last_seq, self._clock(), event)
        self._waiting += line_of(record)
        try:
            self._write()
        except OSError as error:
            if not self._failing:
                self._failing = True
                raise JournalError(
                    f"The journal {self.path} cannot be written: {error.strerror}; new records are kept in memory "
                    "until it can, so free some space before you leave."
                ) from error
        else:
            self._failing = False
        return record

    def close(self) -> None:
        """Write waiting records and release the lock. Raises JournalError if records are lost."""
        with self._resources:
            if self._failing:
                self._failing = False
                try:
                    self._write()
                except OSError as error:
                    raise JournalError(f"The last records of {self.path} are lost: {error.strerror}.") from error

    def _write(self) -> None:
        while self._waiting:
            written = os.write(self._descriptor, self._waiting)
            self._waiting = self._waiting[written:]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _end_of(descriptor: int) -> tuple[int, bool]:
    """The last `seq` in the file, and whether the file ends without a newline."""
    with open(descriptor, "rb", closefd=False) as file:
        lines = lines_backwards(file)
        last = next(lines)
        return next(filter(None, map(_seq, chain([last], lines))), 0), bool(last)


def _seq(line: bytes) -> int | None:
    try:
        return seq_of(object_of(line))
    except ValueError:
        return None


# ── the lock ────────────────────────────────────────────────────────────────────────────────────


def _lock(path: Path) -> Callable[[], None]:
    """Become the single writer of the journal at `path`; returns the release.

    Raises JournalError, which names the present writer, if there is one.
    """
    from filelock import FileLock, Timeout

    lock_path = _lock_path(path)
    lock = FileLock(lock_path, timeout=0, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        process_id = _process_in(lock_path)
        holder = "another process" if process_id is None else f"process {process_id}"
        raise JournalError(
            f"The session {path.stem} is open in {holder}; end that one first, or continue in a copy with "
            "--fork-session."
        ) from error
    # On a full disk a session opens all the same, without the id of its process.
    with suppress(OSError), lock_path.open("r+", encoding="ascii") as file:
        file.write(f"{os.getpid():<10}\n")

    def release() -> None:
        with suppress(OSError):  # the id is outdated with the end of its process at the latest
            os.truncate(lock_path, 0)
        lock.release()

    return release


def writer_of(path: Path) -> int | None:
    """The id of the process that writes the journal at `path` now; None: no process, or none that is visible.

    Only reads, so that a writer which starts at this moment finds its lock free.
    """
    from psutil import STATUS_ZOMBIE, Error, Process

    lock_path = _lock_path(path)
    process_id = _process_in(lock_path)
    if process_id is None:
        return None
    try:
        process = Process(process_id)
        # A younger process merely reuses the number of one that was killed.
        is_it = process.create_time() <= lock_path.stat().st_mtime + CLOCKS_DIFFER_S
        return process_id if is_it and process.status() != STATUS_ZOMBIE else None
    except (Error, OSError):
        return None


def _lock_path(path: Path) -> Path:
    return path.with_name(path.stem + ".lock")


def _process_in(lock_path: Path) -> int | None:
    """The process id in a lock file, which is briefly empty."""
    try:
        text = read_regular(lock_path, MOST_LOCK_BYTES).decode("ascii", "replace").strip()
    except OSError:
        return None
    return int(text) if text.isascii() and text.isdigit() else None


# ── recording ───────────────────────────────────────────────────────────────────────────────────


def unobserved(event: Event, at: float) -> None:
    """An observer that ignores every event."""


class Recorder:
    """Writes each event to the journal, then passes it to the observer.

    A full disk is reported once, and the conversation continues.
    """

    def __init__(self, journal: Journal, observer: Callable[[Event, float], None] = unobserved) -> None:
        self.journal = journal
        self._observer = observer

    def __call__(self, event: Event) -> tuple[Notice, ...]:
        """Record an event. Returns notices to show that were not recorded."""
        notices = []
        was_behind = self.journal.behind
        record = None
        try:
            record = self.journal.append(event)
        except JournalError as error:
            notices.append(Notice("error", str(error)))
        for notice in notices:
            self._observer(notice, time.time())
        self._observer(event, record.at if record else time.time())
        if was_behind and not self.journal.behind:
            notices.append(Notice("info", "The journal is written again; nothing was lost."))
            self._observer(notices[-1], time.time())
        return tuple(notices)
