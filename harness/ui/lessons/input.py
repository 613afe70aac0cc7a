"""Lines that a learner types, whatever standard input is: a terminal, a pipe, a file, or nothing at all."""

import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from harness.ui.plain.keyboard import Keyboard


class TypedLines:
    """Gives one line after the other, without keeping the loop from its work."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self._ahead: deque[str] = deque()
        """Lines that came before anybody wanted them."""
        self.from_terminal = source.isatty()
        self._keyboard = Keyboard(source.fileno()) if _tells_when_ready(source) else None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Keep what is typed as long as the block lasts."""
        if self._keyboard is None:
            yield
        else:
            with self._keyboard.listening(self._ahead.append):
                yield

    async def line(self) -> str | None:
        """The next line without its end; None: there are no more."""
        if self._ahead:
            return self._ahead.popleft()
        if self._keyboard is not None:
            return await self._keyboard.answer()
        line = self._source.readline()  # of a file, which has it at once
        return line.removesuffix("\n") if line else None

    async def settled(self) -> bool:
        """Return once nothing has been typed for a moment at a terminal; see `Keyboard.settled`."""
        return self.from_terminal and self._keyboard is not None and await self._keyboard.settled()

    def keep(self, line: str) -> str:
        """Keep a line for later that was no answer; see `Keyboard.keep`. Empty: it did not come from a terminal."""
        return self._keyboard.keep(line) if self.from_terminal and self._keyboard is not None else ""

    async def answer(self) -> str | None:
        """The next line as an answer to a question: at a terminal nothing that was typed before it was asked."""
        if self.from_terminal and self._keyboard is not None:
            return await self._keyboard.answer()
        return await self.line()


def _tells_when_ready(source: TextIO) -> bool:
    """The loop can wait for this source; for a file it cannot, and need not."""
    if source.isatty():
        return True
    try:
        kind = os.fstat(source.fileno()).st_mode
    except (OSError, ValueError):  # not a real stream
        return False
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)
