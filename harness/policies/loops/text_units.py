"""What a repeated piece of text says about its writer: sentences much, signs without words little, code nothing."""

import re
from collections import deque
from collections.abc import Callable
from enum import Enum

_FENCE = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?P<mark>`{3,}(?!.*`)|~{3,})(?P<info>.*)")
_CODE = re.compile(r"(?:\t| {4})\s*+(?!(?:[-*+•]|\d+[.)])\s)\S")
_ROW = re.compile(
    r"""
      \s*\|                                     # a row of a table
    | [^|]*\|[^|]*\|                            # one without outer bars
    | [^\t]*\t[^\t]*\t                          # columns set apart by tabs
    | \s*(?: [{}\]] | \[\s*[\[{"\d] | "[^"]*"\s*: )   # JSON
    | \s*[^\s,;]+(?:[,;][^\s,;]*){2,}\s*$       # values set apart by commas or semicolons, without spaces
    """,
    re.VERBOSE,
)
_BLOB = re.compile(r"[!-~]+")
LONGEST_HEAD = 200
"""Most characters of a line that are looked at."""


class Unit(Enum):
    """What is repeated."""

    WORDS = "words"
    """Something that a person would read."""
    SIGNS = "signs"
    """No words in it that could be told: rules, dots, digits, blobs."""
    DATA = "data"
    """Only code, tables and rows, which repeat by their nature."""


class Fence:
    """Whether a text, line after line, is inside a fenced block of code. An unclosed block lasts to the end."""

    __slots__ = ("_mark",)

    def __init__(self, mark: str = "") -> None:
        self._mark = mark

    @property
    def open(self) -> str:
        """The mark that opened the block one is in; empty: in none."""
        return self._mark

    def see(self, line: str) -> bool:
        """Take the next line; whether it belongs to a block, the fences included."""
        fence = _FENCE.match(line)
        if fence is None:
            return bool(self._mark)
        mark, info = fence["mark"], fence["info"]
        if not self._mark:
            self._mark = mark
        elif mark.startswith(self._mark) and not info.strip():
            self._mark = ""
        return True


class Blocks:
    """In which block of code each place of a text was, as far back as `reach` characters."""

    __slots__ = ("_changes", "_fence", "_reach")

    def __init__(self, reach: int) -> None:
        self._reach = reach
        self._fence = Fence()
        self._changes: deque[tuple[int, str]] = deque([(0, "")])

    def see(self, line: str, end: int) -> None:
        """Take the next line, which ends before the place `end`."""
        self._fence.see(line)
        if self._fence.open != self._changes[-1][1]:
            self._changes.append((end, self._fence.open))
        while len(self._changes) > 1 and self._changes[1][0] < end - self._reach:
            self._changes.popleft()

    def at(self, place: int) -> str:
        """The mark of the block at the beginning of the line that begins at `place`; empty: in none."""
        return next((mark for since, mark in reversed(self._changes) if since <= place), "")


def kind_of(two: str, head: str, block_at: Callable[[int], str]) -> Unit:
    """What a repeated unit is.

    Args:
        two: two copies of it, wherever in it they begin.
        head: how the line begins that is being written.
        block_at: the mark of the block of code in which the line is that begins so many characters after the
            beginning of `two`; empty: in none.
    """
    unit = two[len(two) // 2 :]
    if "\n" in unit:
        start = two.index("\n") + 1  # lines of which the beginning or the end is not there cannot be told
        lines = two[start:].split("\n")[:-1]
        telling = _telling(lines, block_at(start))
    else:
        lines = [head]
        telling = [unit for _ in _telling(lines, block_at(len(two)))]
    words = "".join(telling)
    if len(telling) < len(lines) and not words.strip():
        return Unit.DATA
    letters = {letter for letter in words if letter.isalpha()}
    return Unit.SIGNS if len(letters) < 2 or _BLOB.fullmatch(unit) else Unit.WORDS


def _telling(lines: list[str], mark: str) -> list[str]:
    """The lines that are neither code nor rows, of a text that begins inside the block that `mark` opened, if any."""
    fence = Fence(mark)
    return [line for line in lines if not _repeats_by_nature(line[:LONGEST_HEAD], fence)]


def _repeats_by_nature(head: str, fence: Fence) -> bool:
    return fence.see(head) or bool(_CODE.match(head) or _ROW.match(head))
