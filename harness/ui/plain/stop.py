"""Work that goes on until somebody has had enough: a signal comes, or the reader of the output leaves."""

import asyncio
import io
import os
import stat
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TextIO

from harness.ui.signals import heeding


async def until_stopped(work: Coroutine[None, None, None], out: TextIO) -> int:
    """Do the work to its end or until a signal stops it; returns the exit code, 130 after Ctrl-C.

    Raises BrokenPipeError as soon as nobody reads `out` any more, even while there is nothing to write.
    """
    left = False

    def leave() -> None:
        nonlocal left
        left = True
        task.cancel()

    task = asyncio.create_task(work)
    with heeding() as signalled, _reader_leaves(out, leave):
        try:
            await task
        except asyncio.CancelledError:
            if left:
                raise BrokenPipeError from None
            if not signalled.number:
                raise
            return signalled.exit_code
    return 0


@contextmanager
def _reader_leaves(out: TextIO, leave: Callable[[], None]) -> Iterator[None]:
    """Call `leave` when the other end of a pipe is closed; whatever is no pipe has no such moment."""
    try:
        number = out.fileno()
        is_pipe = stat.S_ISFIFO(os.fstat(number).st_mode)
    except (io.UnsupportedOperation, OSError):
        is_pipe = False
    if not is_pipe:
        yield
        return
    loop = asyncio.get_running_loop()

    def closed() -> None:
        loop.remove_reader(number)
        leave()

    loop.add_reader(number, closed)  # the end one writes to becomes readable when the other is closed
    try:
        yield
    finally:
        loop.remove_reader(number)
