"""Standard input and output of a command that programs read, and its end by a signal or a closed pipe."""

import asyncio
import io
import os
import select
import stat
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TextIO

from harness.base.errors import HarnessError, SettingsError
from harness.ui.signals import handle_signals

PATIENCE_S = 3.0
"""Seconds without data in an open pipe, after which a prompt that was given runs without it."""
MOST_PIPED = 10_000_000
"""Bytes of piped text, more than fits the window of any model."""


def prompt_from(given: str, source: TextIO | None, err: TextIO) -> str:
    """The prompt of a headless run; piped text follows the given one. Raises SettingsError if both are empty.

    `source`: None if something else was read from standard input.
    """
    piped = "" if source is None else _piped(source, err, waits=not given.strip())
    prompt = "\n\n".join(part for part in (given, piped.strip("\n")) if part.strip())
    if not prompt:
        raise SettingsError('There is no prompt; give one in quotes, as in harness -p "what is here?", or pipe it in.')
    return prompt


def _piped(source: TextIO, err: TextIO, *, waits: bool) -> str:
    """The text on standard input; `waits`: also where nobody writes at first, because there is no other prompt."""
    try:
        descriptor = source.fileno()
        kind = os.fstat(descriptor).st_mode
    except (OSError, ValueError, AttributeError):  # closed, or none at all
        return ""
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
        if not select.select([descriptor], [], [], PATIENCE_S)[0]:
            if not waits:
                print(
                    f"nothing came on standard input for {PATIENCE_S:g} s, so the prompt runs without it; "
                    "`< /dev/null` saves the wait",
                    file=err,
                )
                return ""
            print("waiting for the end of standard input; use `< /dev/null` to run without it", file=err)
    elif not stat.S_ISREG(kind):
        return ""
    data = source.buffer.read(MOST_PIPED + 1)
    if len(data) > MOST_PIPED:
        raise SettingsError(
            f"Standard input has more than {MOST_PIPED:,} bytes, which fits no prompt; name the file in the prompt, so "
            "that it is read in parts."
        )
    return data.decode("utf-8", "replace")


def write_line(text: str, out: TextIO) -> None:
    """Write text with a newline at its end, and flush.

    Raises BrokenPipeError if the reader has gone, HarnessError if the output cannot be written.
    """
    try:
        out.write(text if text.endswith("\n") else text + "\n")
        out.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = f"cannot write to standard output: {error.strerror}; `harness export latest` shows the answer."
        raise HarnessError(reason) from error


async def until_stopped(work: Coroutine[None, None, None], out: TextIO) -> int:
    """Run the work until it ends or a signal stops it; returns the exit code, 130 after Ctrl-C.

    Raises BrokenPipeError as soon as the reader of `out` has gone, even while there is nothing to write.
    """
    left = False

    def leave() -> None:
        nonlocal left
        left = True
        task.cancel()

    task = asyncio.create_task(work)
    with handle_signals() as signalled, _reader_leaves(out, leave):
        try:
            await task
        except asyncio.CancelledError:
            if not left and not signalled.number:
                raise
        if left:
            raise BrokenPipeError
        return signalled.exit_code if signalled.number else 0


@contextmanager
def _reader_leaves(out: TextIO, leave: Callable[[], None]) -> Iterator[None]:
    """Call `leave` when the other end of a pipe is closed."""
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

    loop.add_reader(number, closed)  # the write end becomes readable when the read end is closed
    try:
        yield
    finally:
        loop.remove_reader(number)
