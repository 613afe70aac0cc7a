"""Lines typed while the loop runs: answers to questions, wishes during a wait, prompts typed ahead.

A line answers a question only if all of it was typed after the question was asked: see `settled`.

The terminal stays in line mode, so a line arrives whole when Enter is pressed, and the loop is told by
the descriptor itself: no thread, no polling. What was pasted while the line editor still had the terminal is
the exception: it arrives as it lies there, many lines at once and the last one not whole.
"""

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from harness.ui.question_focus import GRACE_S

LINE_BYTES = 65_536
"""More than a terminal in line mode ever gives at once."""


class Keyboard:
    """Reads a terminal line by line while a turn runs."""

    def __init__(self, descriptor: int, grace_s: float = GRACE_S) -> None:
        """`grace_s`: seconds without a key after which `settled` returns."""
        self._descriptor = descriptor
        self._grace_s = grace_s
        self._asking: list[asyncio.Future[str | None]] = []
        """Who waits for a line; the next one goes to the end."""
        self._on_line: Callable[[str], None] | None = None
        self._listening = False
        self._begun = b""
        self._before = b""
        """The beginning of a line that was typed before the question that is being asked."""
        self._bytes = 0
        """So many have been typed."""

    @contextmanager
    def listening(self, on_line: Callable[[str], None]) -> Iterator[None]:
        """Read lines as long as the block lasts; those that answer no question go to `on_line`."""
        self._on_line = on_line
        self._listen()
        try:
            yield
        finally:
            self._on_line = None
            self._deafen()

    async def answer(self, *, last: bool = False) -> str | None:
        """The next line, without its end; None at the end of input. Can be cancelled.

        Of several who wait, the one that asked last gets it; `last`: only when nobody else wants it, as a prompt does.
        """
        asking: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        if not last:
            self._before, self._begun = self._before + self._begun, b""
        self._asking.insert(0 if last else len(self._asking), asking)
        self._listen()
        try:
            return await asking
        finally:
            self._asking.remove(asking)
            self._begun, self._before = self._before + self._begun, b""

    async def settled(self) -> bool:
        """Return once nothing has been typed for a moment. What was typed by then is no answer, and goes its way.

        True: a line has been begun, so that the terminal stands in the middle of one.
        """
        self._listen()
        before = -1
        while before != self._bytes:
            before = self._bytes
            await asyncio.sleep(self._grace_s)
            self._read_begun()
        return bool(self._begun)

    def keep(self, line: str) -> str:
        """Send a line that turned out to be no answer where it would have gone; gives it with its beginning."""
        whole = self.take_begun() + line
        self._take(whole)
        return whole

    def take_begun(self) -> str:
        """The beginning of a line whose rest has not arrived yet; it counts as taken."""
        begun, self._begun = self._begun, b""
        return begun.decode("utf-8", "replace")

    def _listen(self) -> None:
        if not self._listening:
            asyncio.get_running_loop().add_reader(self._descriptor, self._ready)
            self._listening = True

    def _deafen(self) -> None:
        if self._listening:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            self._listening = False

    def _read_begun(self) -> None:
        """Read a line that is not whole, too. In line mode a terminal keeps it until Enter is pressed."""
        with suppress(termios.error, OSError):  # no terminal, or one that was hung up
            mode = termios.tcgetattr(self._descriptor)
            termios.tcsetattr(self._descriptor, termios.TCSANOW, [*mode[:3], mode[3] & ~termios.ICANON, *mode[4:]])
            try:
                waiting = struct.unpack("i", fcntl.ioctl(self._descriptor, termios.FIONREAD, bytes(4)))[0]
                if waiting:
                    self._sort(os.read(self._descriptor, waiting))
            finally:
                termios.tcsetattr(self._descriptor, termios.TCSANOW, mode)

    def _ready(self) -> None:
        try:
            data = os.read(self._descriptor, LINE_BYTES)
        except OSError:  # the terminal was hung up
            data = b""
        self._sort(data)
        if not data:
            self._deafen()  # a terminal that is gone would be ready for ever
            self._take(self.take_begun() or None)

    def _sort(self, data: bytes) -> None:
        """Give away the lines that are whole now."""
        self._bytes += len(data)
        *lines, self._begun = (self._begun + data).split(b"\n")
        for line in lines:
            self._take(line.decode("utf-8", "replace").rstrip("\r"))

    def _take(self, line: str | None) -> None:
        asking = next((one for one in reversed(self._asking) if not one.done()), None)
        if asking is not None:
            asking.set_result(line)
        elif line is not None and self._on_line is not None:
            self._on_line(line)
