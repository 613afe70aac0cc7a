"""Follow a journal while another process writes it, without locking or writing anything."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from harness.base.errors import JournalError
from harness.journal import LineReader, Record, SkippedLine, sessions, writer_of

__all__ = ["CaughtUp", "FollowItem", "Record", "SkippedLine", "WriterChanged", "follow", "running_session", "writer_of"]

CHUNK = 65_536
"""Bytes read at once; between two chunks the event loop runs."""
APPEARS_WITHIN_S = 5.0
"""Seconds to wait for a journal that does not exist yet."""


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """The end of the existing records; comes once."""

    writer: int | None
    """Process id of the writer; None: no process writes the session now."""


@dataclass(frozen=True, slots=True)
class WriterChanged:
    """Another process writes from now on, or none; comes after the last record of the previous writer."""

    writer: int | None


FollowItem = Record | SkippedLine | CaughtUp | WriterChanged


async def follow(
    path: Path, *, poll_s: float = 0.25, wait: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> AsyncGenerator[FollowItem, None]:
    """Every record of the journal at `path`, as `journal.read` returns them, then each new one once its line is whole.

    Polls every `poll_s` seconds and never ends: cancel it, or close the iterator. Raises JournalError if there is no
    such file, or if it is removed, replaced or cut while it is followed.
    """
    with await _opened(path, poll_s, wait) as file:
        reader, lines = LineReader(), _Lines()
        caught_up, writer = False, writer_of(path)
        while True:
            # Checked before reading, so that the last records of a writer come before the report that it has gone.
            present = writer_of(path)
            while chunk := _next_chunk(file, path):
                for line in lines.ended_by(chunk):
                    if (found := reader.read(line)) is not None:
                        yield found
                await asyncio.sleep(0)
            if not caught_up:
                caught_up, writer = True, present
                yield CaughtUp(writer)
            elif present != writer:
                writer = present
                yield WriterChanged(writer)
            _check_still_the_same(file, path)
            await wait(poll_s)


def running_session(folder: Path) -> Path | None:
    """The journal in a folder that a process writes now, the most recently used if there are several."""
    return next((summary.path for summary in sessions(folder) if writer_of(summary.path) is not None), None)


class _Lines:
    """Joins chunks of a file to lines, each with its newline, in linear time."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def ended_by(self, chunk: bytes) -> Iterator[bytes]:
        """The lines whose newline is in this chunk; the rest is kept for the next."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line = b"".join((*self._begun, end, b"\n"))
            self._begun.clear()
            yield line
        if rest:
            self._begun.append(rest)


async def _opened(path: Path, poll_s: float, wait: Callable[[float], Awaitable[None]]) -> FileIO:
    waited = 0.0
    while True:
        try:
            return FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # also a pipe
        except FileNotFoundError as error:
            if waited >= APPEARS_WITHIN_S:
                raise JournalError(f"There is no journal {path}; `harness sessions` lists the journals.") from error
        except OSError as error:
            raise JournalError(f"The journal {path} cannot be read: {error.strerror}.") from error
        await wait(poll_s)
        waited += poll_s


def _next_chunk(file: FileIO, path: Path) -> bytes:
    try:
        return file.read(CHUNK) or b""
    except OSError as error:
        raise JournalError(f"The journal {path} cannot be read: {error.strerror}.") from error


def _check_still_the_same(file: FileIO, path: Path) -> None:
    """Raise JournalError unless `path` still names the open file and the file was not cut."""
    what = ""
    try:
        named, ours = path.stat(), os.fstat(file.fileno())
        if not os.path.samestat(named, ours):
            what = "replaced"
        elif ours.st_size < file.tell():
            what = "cut"
    except FileNotFoundError:
        what = "removed"
    except OSError as error:
        raise JournalError(f"The journal {path} cannot be read: {error.strerror}.") from error
    if what:
        raise JournalError(f"The journal {path} was {what} while it was followed; follow it again from its beginning.")
