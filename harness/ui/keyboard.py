"""Lines typed while the loop runs: answers to questions, wishes during a wait, prompts typed ahead.

The terminal stays in line mode, so a line arrives whole when Enter is pressed, and the loop is told by
the descriptor itself: no thread, no polling. What was pasted while the line editor still had the terminal is
the exception: it arrives as it lies there, many lines at once and the last one not whole.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LINE_BYTES = 65_536
"""More than a terminal in line mode ever gives at once."""


class Keyboard:
    """Reads a terminal line by line while a turn runs."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._asking: list[asyncio.Future[str | None]] = []
        """Who waits for a line; the next one goes to the end."""
        self._on_line: Callable[[str], None] | None = None
        self._listening = False
        self._begun = b""

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
        self._asking.insert(0 if last else len(self._asking), asking)
        self._listen()
        try:
            return await asking
        finally:
            self._asking.remove(asking)

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

    def _ready(self) -> None:
        try:
            data = os.read(self._descriptor, LINE_BYTES)
        except OSError:  # the terminal was hung up
            data = b""
        *lines, self._begun = (self._begun + data).split(b"\n")
        for line in lines:
            self._take(line.decode("utf-8", "replace").rstrip("\r"))
        if not data:
            self._deafen()  # a terminal that is gone would be ready for ever
            self._take(self.take_begun() or None)

    def _take(self, line: str | None) -> None:
        asking = next((one for one in reversed(self._asking) if not one.done()), None)
        if asking is not None:
            asking.set_result(line)
        elif line is not None and self._on_line is not None:
            self._on_line(line)
