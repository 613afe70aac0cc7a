"""The one writer of a journal."""

import errno
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.base.errors import JournalError
from harness.events import Event
from harness.journal.last_lines import lines_backwards
from harness.journal.lock import hold
from harness.journal.records import Record, line_of, object_of, seq_of


class Journal:
    """Appends events to one file, which no other process can open for writing meanwhile.

    Make one with `create` or `open`; use it as a context manager, or call `close`.
    """

    def __init__(
        self,
        path: Path,
        descriptor: int,
        resources: ExitStack,
        last_seq: int,
        torn: bool,
        sync: bool,
        clock: Callable[[], float],
    ) -> None:
        self.path = path
        self._descriptor = descriptor
        self._resources = resources
        self._last_seq = last_seq
        self._waiting = b"\n" if torn else b""
        self._sync = sync
        self._clock = clock
        self._failing = False

    @classmethod
    def create(
        cls, folder: Path, session_id: str, *, sync: bool = False, clock: Callable[[], float] = time.time
    ) -> Self:
        """Begin the journal of a new session in `folder`, which is made when missing; only its owner may read it.

        `sync` also waits for the disk after each record, for those who fear power cuts. Raises JournalError when
        the session exists or the folder cannot be written.
        """
        path = folder / f"{session_id}.jsonl"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return cls._opened(path, os.O_CREAT | os.O_EXCL, sync, clock)
        except OSError as error:
            if path.exists():
                raise JournalError(
                    f"The session {session_id} exists already in {folder}; resume it instead."
                ) from error
            raise JournalError(
                f"The journal {path} cannot be created: {error.strerror}; "
                "set HARNESS_STATE_DIR to a folder that you may write to."
            ) from error

    @classmethod
    def open(cls, path: Path, *, sync: bool = False, clock: Callable[[], float] = time.time) -> Self:
        """Go on writing the journal at `path`.

        A line that its writer was killed in is ended before the next record, never cut away, so that `read`
        reports it. Raises JournalError when another process writes this journal or the file cannot be opened.
        """
        try:
            return cls._opened(path, 0, sync, clock)
        except OSError as error:
            raise JournalError(
                f"The journal {path} cannot be opened: {error.strerror}; choose another session with --resume."
            ) from error

    @classmethod
    def _opened(cls, path: Path, flags: int, sync: bool, clock: Callable[[], float]) -> Self:
        with ExitStack() as resources:
            if not flags & os.O_CREAT and not path.is_file():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            resources.callback(hold(path))
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o600)
            resources.callback(os.close, descriptor)
            last_seq, torn = _end_of(descriptor)
            return cls(path, descriptor, resources.pop_all(), last_seq, torn, sync, clock)

    @property
    def session_id(self) -> str:
        """The session this journal belongs to."""
        return self.path.stem

    @property
    def behind(self) -> bool:
        """Whether records wait in memory because the file cannot take them at present."""
        return self._failing

    def append(self, event: Event) -> Record | None:
        """Write an event down and return its record; None for transient events, which are not kept.

        When this returns, the operating system holds the line, so the end of this process cannot lose it. Raises
        JournalError once at the beginning of an outage such as a full disk. From then on records wait in
        memory, in order (`behind` says so), and each further append tries to write them all.
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
                    f"The journal {self.path} cannot be written: {error.strerror}; what follows is kept in memory "
                    "until there is room again, so free some space before you leave."
                ) from error
        else:
            self._failing = False
        return record

    def close(self) -> None:
        """Write what still waits and let the next writer in. Raises JournalError when records are lost by this."""
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
        if self._sync:
            os.fsync(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _end_of(descriptor: int) -> tuple[int, bool]:
    """The `seq` of the last line that has one, and whether the file ends without a newline."""
    with open(descriptor, "rb", closefd=False) as file:
        lines = lines_backwards(file)
        last = next(lines)
        return next(filter(None, map(_seq, chain([last], lines))), 0), bool(last)


def _seq(line: bytes) -> int | None:
    try:
        return seq_of(object_of(line))
    except ValueError:
        return None
