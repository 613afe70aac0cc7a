"""What a repeated piece of text is worth as a sign of trouble: sentences much, signs without words little, code nothing."""

import re
from enum import Enum

_FENCE = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?P<mark>`{3,}(?!.*`)|~{3,})(?P<info>.*)")
_CODE = re.compile(r"(?:\t| {4})(?!\s*(?:[-*+•]|\d+[.)])\s)")
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


def kind_of(two: str, head: str, fence: str) -> Unit:
    """What a repeated unit is.

    Args:
        two: two copies of it, wherever in it they begin.
        head: how the line begins that is being written.
        fence: the mark of the block of code that is open; empty: none.
    """
    unit = two[len(two) // 2 :]
    words = _words(_whole_lines(two), fence) if "\n" in unit else _words([head], fence) and unit
    if not words.strip():
        return Unit.DATA
    letters = {letter for letter in words if letter.isalpha()}
    return Unit.SIGNS if len(letters) < 2 or _BLOB.fullmatch(unit) else Unit.WORDS


def _whole_lines(two: str) -> list[str]:
    """The lines of one copy or more that are there from their beginning to their end."""
    return two.split("\n")[1:-1]


def _words(lines: list[str], mark: str) -> str:
    """The lines that are neither code nor rows. `mark` is that of the block that is open after them."""
    for fence in (Fence(), Fence(mark)):
        words = [line for line in lines if not _repeats_by_nature(line[:LONGEST_HEAD], fence)]
        if fence.open == mark:
            break
    return "\n".join(words)


def _repeats_by_nature(head: str, fence: Fence) -> bool:
    return fence.see(head) or bool(_CODE.match(head) or _ROW.match(head))
