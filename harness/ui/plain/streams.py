"""Standard input and output of a command that programs read, and its end by a signal or a closed pipe."""

import asyncio
import io
import os
import select
import stat
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Self, TextIO

from harness.base.errors import HarnessError, SettingsError
from harness.ui.signals import handle_signals

PATIENCE_S = 3.0
"""Seconds without data in an open pipe, after which a prompt that was given runs without it."""
MOST_PIPED = 10_000_000
"""Bytes of piped text, more than fits the window of any model."""
ENOUGH_WAITING = 1_000_000
"""Unread bytes above which a turn waits for the reader."""
MOST_WAITING = 100_000_000
"""Unread bytes above which the reader counts as gone."""
CLOSE_S = 2.0
"""Seconds without anything read, after which a program that ends gives up what is left."""


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


class LineWriter:
    """Writes lines to a stream, in order, and keeps the event loop for no reader.

    What a pipe or a terminal does not take at once waits in memory and is written as it is read. As a context manager
    it waits for that at the end of the block.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        try:
            self._number: int | None = out.fileno()
        except io.UnsupportedOperation:  # it is in memory
            self._number = None
        self._waiting = bytearray()
        self._watched = False
        self._moved = asyncio.Event()
        self._error: OSError | None = None
        self._ends = False
        self._patience_s: float | None = None
        """Seconds without anything read, after which the reader counts as gone; None: it has all the time."""
        self.gave_up = False
        """The reader took too long."""

    @property
    def isatty(self) -> bool:
        """It writes to a terminal."""
        return self._out.isatty()

    def write(self, text: str) -> None:
        """Write text with a newline at its end.

        Raises BrokenPipeError if the reader has gone, HarnessError if the output cannot be written.
        """
        line = text if text.endswith("\n") else text + "\n"
        if self._number is None:
            self._out.write(line)
            return
        self._raise()
        self._waiting += line.encode(self._out.encoding, self._out.errors or "strict")
        if not self._watched:
            self._push(self._number)
        if len(self._waiting) > MOST_WAITING:
            self._fail(BrokenPipeError())
        self._raise()

    def limit(self, patience_s: float) -> None:
        """Wait from now on only while something is read within these seconds, or fewer."""
        self._patience_s = min(patience_s, self._patience_s or patience_s)
        self._moved.set()

    def end(self) -> None:
        """The program ends: no turn waits, and the end of the block waits only for a reader that reads."""
        self._ends = True
        self.limit(CLOSE_S)

    async def keep_pace(self) -> None:
        """Wait while too much is not read yet. Raises what `write` raises."""
        while len(self._waiting) > ENOUGH_WAITING and not self._ends:
            await self._move()
        self._raise()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for the rest; raises what `write` raises, unless the block failed or the program ends."""
        if kind is asyncio.CancelledError:
            self.end()
        try:
            while self._waiting:
                await self._move()
        finally:
            self._fail(None)
        if kind is None and not self._ends:
            self._raise()

    async def _move(self) -> None:
        """Wait until something was read."""
        self._moved.clear()
        try:
            async with asyncio.timeout(self._patience_s):
                await self._moved.wait()
        except TimeoutError:
            self.gave_up = True
            self._fail(BrokenPipeError())

    def _push(self, number: int) -> None:
        """Write until the pipe is full. `PIPE_BUF` bytes never block where anything can be written."""
        try:
            while self._waiting and select.select([], [number], [], 0)[1]:
                del self._waiting[: os.write(number, self._waiting[: select.PIPE_BUF])]
                self._moved.set()
        except BlockingIOError:  # another program takes what is free of it
            pass
        except OSError as error:
            self._fail(error)
        self._watch(number, watched=bool(self._waiting))

    def _watch(self, number: int, *, watched: bool) -> None:
        if watched != self._watched:
            self._watched, loop = watched, asyncio.get_running_loop()
            loop.add_writer(number, self._push, number) if watched else loop.remove_writer(number)

    def _fail(self, error: OSError | None) -> None:
        """Write nothing more."""
        self._error = self._error or error
        self._waiting.clear()
        self._moved.set()
        if self._number is not None:
            self._watch(self._number, watched=False)

    def _raise(self) -> None:
        if isinstance(self._error, BrokenPipeError):
            raise BrokenPipeError
        if self._error is not None:
            reason = (
                f"cannot write to standard output: {self._error.strerror}; `harness export latest` shows the answer."
            )
            raise HarnessError(reason)


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
