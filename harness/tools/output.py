"""Text that may be too long: what the model sees of it, and where the rest is kept."""

import codecs
import json
import os
import re
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import BinaryIO

DISK_BYTES = 64_000_000
"""Most bytes of one output that are kept on disk."""

MESSAGE_CHARACTERS = 200_000
"""Most characters of all notices in one message together."""
SMALLEST_CUT = 4_000

_ESCAPES = re.compile(
    r"\x1b(?!\[[0-2]?[KJ]|\[[01]?G)(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor; those of `_STEPS` stay
    r"|[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"  # OSC and other strings: titles, links
    r"|[ -/]*[0-~])?"  # two-character sequences
)
_MOVING = re.compile(r"^[^\n]*[\r\b\x1b][^\n]*", re.MULTILINE)
_STEPS = re.compile(r"\r+|\x08+|\x1b\[(?:[0-2]?[KJ]|[01]?G)|[^\r\x08\x1b]+")
"""What moves the cursor in its line or erases a part of it, and the text between."""
_CONTROLS = {code: None for code in (*range(32), 127) if chr(code) not in "\n\t"}


def readable(data: bytes) -> str:
    """Terminal output as text: no escape sequences, and of an overwritten line only its final state.

    Text at the start of a line replaces the whole line, as each frame of a progress bar does. Each line is independent
    of the others. Bytes that are not UTF-8 become backslash escapes, so the text never holds a lone surrogate.
    """
    text = _ESCAPES.sub("", data.decode("utf-8", "backslashreplace").replace("\r\n", "\n"))
    return _MOVING.sub(_final_state, text).translate(_CONTROLS)


def _final_state(line: re.Match[str]) -> str:
    shown: list[str] = []
    at = 0
    before, returned, last = line[0].rstrip("\r").rpartition("\r")
    whole = before + returned + last
    for step in _STEPS.finditer(whole if last[:1] in ("\b", "\x1b") else last):
        text = step[0]
        match text[0], text[-1]:
            case ("\r", _) | ("\x1b", "G"):
                at = 0
            case ("\b", _):
                at = max(0, at - len(text))
            case ("\x1b", _) if text[2] in "12":
                shown.clear()
                at = 0
            case ("\x1b", _):
                del shown[at:]
            case _:
                shown[at : at + len(text) if at else None] = text
                at += len(text)
    return "".join(shown)


def as_text(value: object) -> str:
    """Anything a function may return, as text that can be sent: text as it is, the rest as JSON or `str`."""
    if value is None:
        return ""
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False, indent=1)
        except (TypeError, ValueError):
            value = str(value)
    return value.encode("utf-8", "backslashreplace").decode()


def shorten(text: str, limit: int, whole: Path) -> tuple[str, Path | None]:
    """The text within `limit` characters, and the file that holds all of it if some was left out."""
    if len(text) <= limit:
        return text, None
    output = CommandOutput(limit, whole)
    output.feed(text.encode())
    return output.text(), output.finish()


def fitted(
    texts: Sequence[str],
    whole: Callable[[int], Path],
    most: int = MESSAGE_CHARACTERS,
    *,
    spared: Collection[int] = (),
) -> list[str]:
    """The texts of one message with the largest ones shortened until they have `most` characters together.

    None becomes shorter than `SMALLEST_CUT`.

    Args:
        whole: the file for the text with this number.
        spared: numbers of texts that are shortened only when it is not enough to shorten all others, as errors are:
            they say what went wrong.
    """
    shown = list(texts)
    excess = sum(map(len, shown)) - most
    for at in sorted(range(len(shown)), key=lambda at: (at in spared, -len(shown[at]))):
        if excess <= 0:
            break
        length = max(SMALLEST_CUT, len(shown[at]) - excess)
        excess -= len(shown[at]) - length
        shown[at], _ = shorten(shown[at], length, whole(at))
    return shown


class CommandOutput:
    """Collects the output of a command: head and tail in memory, all of it on disk once it is long.

    Memory is bounded by about eight bytes for each character of `limit`, whatever comes in.
    """

    def __init__(self, limit: int, whole: Path, *, disk_bytes: int = DISK_BYTES) -> None:
        self.limit = limit
        self.whole = whole
        self.disk_bytes = disk_bytes
        self.bytes = 0
        """Bytes received so far."""
        self._fed_at = time.monotonic()
        self._ends = 0
        """Ends of lines among them."""
        self._open_line = False
        self._keep = 4 * limit
        self._head = bytearray()
        self._tail = bytearray()
        self._file: BinaryIO | None = None
        self._written = 0
        self._trouble = ""

    def feed(self, data: bytes) -> None:
        """Take the next bytes, cut anywhere."""
        self.bytes += len(data)
        self._fed_at = time.monotonic()
        self._ends += data.count(b"\n")
        self._open_line = not data.endswith(b"\n") if data else self._open_line
        taken = max(0, self._keep - len(self._head))
        self._head += data[:taken]
        if self._file is not None:
            self._write(data)
        elif taken < len(data) and not self._trouble:
            self._open()
            self._write(bytes(self._head) + data[taken:])
        self._tail += data[taken:]
        if len(self._tail) > 2 * self._keep:
            del self._tail[: -self._keep]

    def text(self, reserve: int = 0) -> str:
        """What the model sees: all, or head and tail around a note; at most `limit - reserve` characters."""
        room = max(0, self.limit - reserve)
        lost = self.bytes - len(self._head) - len(self._tail)
        if not lost:
            text = readable(bytes(self._head + self._tail))
            if len(text) <= room:
                return text
            head = tail = text
        else:
            head, tail = readable(whole_characters(self._head)), readable(without_broken_start(self._tail))
        if self._file is None and not self._trouble:
            self._open()
            self._write(bytes(self._head + self._tail))
        note = self._note()
        room -= len(note)
        if room <= 0:
            return note.strip()[: max(0, self.limit - reserve)]
        front = room // 2
        return head[:front] + note + tail[len(tail) - (room - front) :]

    @property
    def silent_s(self) -> float:
        """Seconds since the last byte, or since the beginning."""
        return time.monotonic() - self._fed_at

    def to_file(self, disk_bytes: int) -> Path:
        """Write all so far, and from now on all that follows, to the file `whole`; returns it.

        `disk_bytes`: most bytes that are kept from now on. Raises OSError where not all of it can be kept.
        """
        self.disk_bytes = max(disk_bytes, self.disk_bytes)
        if self._file is None and not self._trouble:
            self._open()
            self._write(bytes(self._head + self._tail))
        if self._trouble or self._written < self.bytes:
            raise OSError(self._trouble or "a part of the output was not kept")
        return self.whole

    @property
    def lines(self) -> int:
        """Lines received so far, counting one that has not ended."""
        return self._ends + self._open_line

    def beginning(self, characters: int) -> tuple[str, int]:
        """The first lines within so many characters, none of them cut unless it is the only one; and how many lines
        there are in all."""
        lost = self.bytes > len(self._head) + len(self._tail)
        text = readable(whole_characters(self._head) if lost else bytes(self._head + self._tail))
        if not lost and len(text) <= characters:
            return text, self.lines
        whole_lines, end, _ = text[:characters].rpartition("\n")
        return (whole_lines + end if end else text[:characters] + "…"), self.lines

    def finish(self) -> Path | None:
        """Close the file; its path, if there is one."""
        if self._file is None:
            return None
        self._file.close()
        return self.whole

    def _note(self) -> str:
        if self._trouble:
            kept = f"the whole could not be kept: {self._trouble}"
        elif self._written < self.bytes:
            kept = f"the first {self._written:,} bytes are in {self.whole}"
        else:
            kept = f"all of it is in {self.whole}"
        return f"\n\n[… the middle of {self.bytes:,} bytes is left out here; {kept} …]\n\n"

    def _open(self) -> None:
        try:
            self.whole.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
            self._file = os.fdopen(os.open(self.whole, flags, 0o600), "wb")
        except OSError as error:
            self._trouble = error.strerror or str(error)

    def _write(self, data: bytes) -> None:
        if self._file is None or self._trouble:
            return
        part = data[: self.disk_bytes - self._written]
        try:
            self._file.write(part)
            self._written += len(part)
            self._file.flush()
        except OSError as error:
            # A full disk must not end the command: the model still gets head and tail.
            self._trouble = error.strerror or str(error)


def whole_characters(data: bytes | bytearray) -> bytes:
    """Without a character that was cut at the end."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    return decoder.decode(bytes(data)).encode("utf-8", "surrogateescape")


def without_broken_start(data: bytes | bytearray) -> bytes:
    """Without the rest of a character that was cut at the start."""
    start = next((index for index in range(min(4, len(data))) if data[index] & 0xC0 != 0x80), 0)
    return bytes(data[start:])
