"""The output of a command while it runs: its last lines, reported a few times a second.

Incoming bytes are only collected. Once a report is due, the last of them become text, so a report costs the same after
a hundred bytes and after a hundred megabytes.
"""

import asyncio
import re
from collections.abc import Callable

from harness.events import OutputDelta
from harness.tools.output import readable, whole_characters, without_broken_start

FIRST_S = 0.4
"""Seconds from the start until the first report; a command that has ended by then has none."""
EVERY_S = 0.1
LINES = 40
"""Most lines of one report."""
LINE_CHARACTERS = 500
"""Of a longer line only the end is reported."""
KEPT_BYTES = 32_768
"""Lines are made of so many of the last bytes at least, where there are as many since the previous report."""

_OPEN_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]{0,4096}\x1b?|[ -/]*)?\Z")


class OutputLines:
    """Makes lines of bytes that are cut anywhere. Memory is bounded, whatever comes in."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        """Bytes after the last line that was taken."""
        self._skipped = 0
        """Lines before them that were not taken."""
        self._begins_inside = False
        """The first line of the bytes has lost its beginning."""
        self._changed = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self._changed |= bool(data)
        self._bytes += data
        if (gone := len(self._bytes) - KEPT_BYTES) > KEPT_BYTES:
            self._skipped += self._bytes.count(b"\n", 0, gone)
            self._begins_inside = self._bytes[gone - 1] != ord("\n")
            del self._bytes[:gone]

    def take(self, id: str) -> OutputDelta | None:
        """The new output since the last call, as an event about the command `id`; None: there is none."""
        if not self._changed:
            return None
        self._changed = False
        *ended, rest = self._bytes.rsplit(b"\n", LINES + 1)
        if len(ended) > LINES:
            self._skipped += ended.pop(0).count(b"\n") + 1
            self._begins_inside = False
        lines = tuple(map(self._shown, ended))  # the first one may have lost its beginning, and no other
        self._bytes = rest
        skipped, self._skipped = self._skipped, 0
        return OutputDelta(id, lines, self._shown(rest, ended=False), skipped)

    def _shown(self, line: bytearray, *, ended: bool = True) -> str:
        cut = self._begins_inside and b"\r" not in line.rstrip(b"\r")
        data = without_broken_start(line) if cut else line
        text = readable(bytes(data if ended else whole_characters(_OPEN_ESCAPE.sub(b"", data))))
        self._begins_inside &= not ended
        return f"…{text[1 - LINE_CHARACTERS :]}" if cut or len(text) > LINE_CHARACTERS else text


class LiveOutput:
    """Reports the output of one command from time to time, until it is closed."""

    def __init__(self, call_id: str, report: Callable[[OutputDelta], None]) -> None:
        self._call_id, self._report = call_id, report
        self._lines = OutputLines()
        self._loop = asyncio.get_running_loop()
        self._next = self._loop.time() + FIRST_S
        self._due: asyncio.TimerHandle | None = None
        self._closed = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes, and report them as soon as the pace allows."""
        if self._closed:
            return
        self._lines.feed(data)
        if self._due is None:
            self._due = self._loop.call_at(self._next, self._flush)

    def close(self) -> None:
        """Report nothing more."""
        self._closed = True
        if self._due is not None:
            self._due.cancel()

    def _flush(self) -> None:
        self._due = None
        self._next = self._loop.time() + EVERY_S
        if (delta := self._lines.take(self._call_id)) is not None:
            self._report(delta)
