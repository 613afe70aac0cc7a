"""The file that a command in the background writes to, while it is being written."""

import codecs
import os
import re
from dataclasses import dataclass
from pathlib import Path

from harness.tools.output import readable

_QUESTION = re.compile(
    r"\?\s*$"
    r"|[\[(]\s*y(?:es)?\s*[/|]\s*n(?:o)?\s*[\])]"
    r"|\bpress (?:any key|enter|return)\b"
    r"|\b(?:password|passphrase|passcode|username|login)\b[^\n]*:\s*$",
    re.IGNORECASE,
)
_PROGRESS = re.compile(r"(?:\.\.|…|%|[=#\-*|/\\█▏▎▍▌▋▊▉░▒▓·])[\s\])>]*$")
"""End of an unfinished line of a progress display."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file, as readable text."""

    text: str
    start: int
    """Byte at which it begins."""
    end: int
    """Byte after its last one."""


def size_of(file: Path) -> int:
    """Bytes in the file; 0 where there is none."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def read_on(file: Path, from_byte: int, most: int) -> Piece:
    """Text of the file from a byte on, at most `most` characters.

    A character that is only half written is left for the next time. Raises OSError.
    """
    data = bytes_from(file, from_byte, most)
    whole = _whole(data, most)
    if len(readable(whole)) > most:  # bytes that are no text take four characters each
        whole = _whole(data, most // 4)
    return Piece(readable(whole), from_byte, from_byte + len(whole))


def read_lines(file: Path, from_byte: int, most: int, *, whole: bool = False) -> tuple[tuple[str, ...], int]:
    """The complete lines from a byte on, at most `most` bytes of them, and the byte after them.

    Of more than that only the last are read. With `whole` a last line without its end counts as well. A file that
    cannot be read has no lines.
    """
    try:
        from_byte = max(from_byte, size_of(file) - most)
        data = bytes_from(file, from_byte, most)
    except OSError:
        return (), from_byte
    end = len(data) if whole or (len(data) == most and b"\n" not in data) else data.rfind(b"\n") + 1
    return tuple(readable(data[:end]).splitlines()), from_byte + end


def last_lines(file: Path, lines: int, most: int) -> Piece:
    """The last lines of the file, at most `most` characters of them. Raises OSError."""
    size = file.stat().st_size
    start = max(0, size - most)
    data = bytes_from(file, start, size - start)
    skipped = _start_of_last_lines(data, lines) or (_start_of_character(data) if start else 0)
    data, start = data[skipped:], start + skipped
    text = readable(data)
    return Piece(text if len(text) <= most else text[-most:], start, start + len(data))


def end_of(file: Path, lines: int, most: int) -> str:
    """The text of `last_lines`; empty where there is no file."""
    try:
        return last_lines(file, lines, most).text
    except OSError:
        return ""


def cut_to(file: Path, size: int) -> None:
    """Give back the disk that a file takes beyond `size` bytes."""
    if size_of(file) > size:
        os.truncate(file, size)


def waits_for_input(tail: str) -> bool:
    """Whether the end of an output looks as if its program waited for an answer.

    That is a question in the last line, or a line without its end that is no progress display.
    """
    line = tail.rstrip().rpartition("\n")[2]
    if _QUESTION.search(line):
        return True
    finished = tail.endswith("\n") or not line
    return not finished and _PROGRESS.search(line) is None


def bytes_from(file: Path, start: int, most: int) -> bytes:
    """At most so many bytes of the file from a byte on. Raises OSError."""
    with file.open("rb") as opened:
        opened.seek(start)
        return opened.read(most)


def _whole(data: bytes, size: int) -> bytes:
    """The first `size` bytes, without a character that they begin and do not end.

    Where nothing is left of them then, that one character, or the bytes as they are where there is none.
    """
    cut = data[:size]
    if whole := cut[: len(cut) - _unfinished(cut)]:
        return whole
    character = next((data[:end] for end in range(1, 5) if not _unfinished(data[:end])), b"")
    return character if len(readable(character)) == 1 else cut


def _unfinished(data: bytes) -> int:
    """Bytes at the end that begin a character and do not end it."""
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    decoder.decode(data)
    return len(decoder.getstate()[0])


def _start_of_last_lines(data: bytes, lines: int) -> int:
    """Where the last lines begin; 0 where there are not more of them."""
    at = len(data) - data.endswith(b"\n")
    for _ in range(lines):
        at = data.rfind(b"\n", 0, at)
        if at < 0:
            return 0
    return at + 1


def _start_of_character(data: bytes) -> int:
    """Where the first whole character begins, when the data was cut anywhere."""
    return next((index for index in range(min(4, len(data))) if data[index] & 0xC0 != 0x80), 0)
