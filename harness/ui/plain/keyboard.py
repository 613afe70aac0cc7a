"""Lines typed while the event loop runs: answers to questions, and prompts typed ahead.

A line answers a question only if all of it was typed after the question: see `settled`. The terminal stays in line
mode, so a line arrives whole when Enter is pressed, without a thread or polling. Only text pasted while the line editor
still had the terminal may arrive as several lines at once, the last one incomplete.
"""

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from harness.ui.question_focus import GRACE_S
from harness.ui.terminal_input import without_answers

LINE_BYTES = 65_536
"""More than a terminal in line mode returns at once."""


T = TypeVar("T")


class Keyboard:
    """Reads a terminal line by line while a turn runs."""

    def __init__(self, descriptor: int, grace_s: float = GRACE_S) -> None:
        """`grace_s`: seconds without a key after which `settled` returns."""
        self._descriptor = descriptor
        self._grace_s = grace_s
        self._asking: list[asyncio.Future[str | None]] = []
        """Waits for a line; the last one is served first."""
        self._on_line: Callable[[str], None] | None = None
        self._on_alt_line: Callable[[str], None] | None = None
        self._listening = False
        self._begun = b""
        self._before = b""
        """The beginning of a line typed before the current question."""
        self._bytes = 0
        """Bytes typed so far."""

    @contextmanager
    def listening(
        self, on_line: Callable[[str], None], on_alt_line: Callable[[str], None] | None = None
    ) -> Iterator[None]:
        """Read lines during the block; those that answer no question go to `on_line`, or to `on_alt_line` if they end
        with Alt+Enter and it is given."""
        self._on_line, self._on_alt_line = on_line, on_alt_line or on_line
        self._listen()
        try:
            yield
        finally:
            self._on_line = self._on_alt_line = None
            self._unlisten()

    async def answer(self, *, last: bool = False) -> str | None:
        """The next line, without its end; None at the end of input. Can be cancelled.

        Of several questions the latest gets the line; `last`: only if no other waits, as for a prompt.
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

    async def away(self, work: Coroutine[None, None, T]) -> T:
        """Leave the terminal to `work`."""
        listening = self._listening
        self._unlisten()
        try:
            return await work
        finally:
            if listening:
                self._listen()

    async def settled(self) -> bool:
        """Return once nothing was typed for a moment. Lines typed by then are not answers.

        True: a line was begun, so the cursor is within it.
        """
        self._listen()
        before = -1
        while before != self._bytes:
            before = self._bytes
            await asyncio.sleep(self._grace_s)
            self._read_begun()
        return bool(self._begun)

    def keep(self, line: str) -> str:
        """Pass on a line that is not an answer; returns it with its beginning."""
        whole = self.take_begun() + line
        self._deliver(whole)
        return whole

    def take_begun(self) -> str:
        """The beginning of an unfinished line, which is removed here."""
        begun, self._begun = self._begun, b""
        return begun.decode("utf-8", "replace")

    def _listen(self) -> None:
        if not self._listening:
            asyncio.get_running_loop().add_reader(self._descriptor, self._ready)
            self._listening = True

    def _unlisten(self) -> None:
        if self._listening:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            self._listening = False

    def _read_begun(self) -> None:
        """Also read an unfinished line, which a terminal in line mode keeps until Enter is pressed."""
        with suppress(termios.error, OSError):  # no terminal, or one that was hung up
            mode = termios.tcgetattr(self._descriptor)
            termios.tcsetattr(self._descriptor, termios.TCSANOW, [*mode[:3], mode[3] & ~termios.ICANON, *mode[4:]])
            try:
                waiting = struct.unpack("i", fcntl.ioctl(self._descriptor, termios.FIONREAD, bytes(4)))[0]
                if waiting:
                    self._split(os.read(self._descriptor, waiting))
            finally:
                termios.tcsetattr(self._descriptor, termios.TCSANOW, mode)

    def _ready(self) -> None:
        try:
            data = os.read(self._descriptor, LINE_BYTES)
        except OSError:  # the terminal was hung up
            data = b""
        self._split(data)
        if not data:
            self._unlisten()  # a closed terminal stays ready
            self._deliver(self.take_begun() or None)

    def _split(self, data: bytes) -> None:
        """Pass on the lines that are complete."""
        self._bytes += len(data)
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")  # Enter, where it came to the line editor
        *lines, self._begun = (self._begun + data).split(b"\n")
        for line in lines:
            typed = line.removesuffix(b"\x1b")  # Alt+Enter sends Esc first
            self._deliver(without_answers(typed.decode("utf-8", "replace")), alt=typed != line)

    def _deliver(self, line: str | None, *, alt: bool = False) -> None:
        asking = next((one for one in reversed(self._asking) if not one.done()), None)
        if asking is not None:
            asking.set_result(line)
        elif line is not None and (on_line := self._on_alt_line if alt else self._on_line) is not None:
            on_line(line)
