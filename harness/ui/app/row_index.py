"""Where the entries of a long conversation are, without the height of each being known."""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import NamedTuple


class Position(NamedTuple):
    """A row of the conversation; it stays the same when entries above it change their height."""

    entry: int
    """Index of the entry."""
    line: int
    """Row within the entry, from 0."""


class RowIndex:
    """The height of each entry in rows: measured when it is needed, estimated before.

    The screen shows measured entries only; estimates are for the scrollbar and for far jumps.
    """

    def __init__(self, measure: Callable[[int], int]) -> None:
        """`measure` returns the height of the entry with an index."""
        self._measure = measure
        self._heights: list[int] = []
        self._exact = bytearray()
        self._tops = [0]
        """Rows above each entry, as far as they are valid."""

    def __len__(self) -> int:
        return len(self._heights)

    def replace(self, first: int, estimates: Iterable[int]) -> None:
        """Entries from `first` on are new or changed. A changed one counts with its former height until measured."""
        before = self._heights[first:]
        now = list(estimates)
        self._heights[first:] = before[: len(now)] + now[len(before) :]
        self._exact[first:] = bytes(len(now))
        del self._tops[first + 1 :]

    def forget(self, *entries: int) -> None:
        """Measure these entries again, or all if none is named."""
        for entry in entries:
            self._exact[entry] = 0
        if not entries:
            self._exact = bytearray(len(self._heights))

    def height(self, entry: int) -> int:
        """Rows of an entry."""
        if not self._exact[entry]:
            rows = self._measure(entry)
            self._exact[entry] = 1
            if rows != self._heights[entry]:
                self._heights[entry] = rows
                del self._tops[entry + 1 :]
        return self._heights[entry]

    def unmeasured(self, first: int, end: int) -> int | None:
        """The last entry of a range whose height is estimated; None: there is none."""
        entry = self._exact.rfind(0, max(0, first), max(0, end))
        return None if entry < 0 else entry

    def known_height(self, entry: int) -> int:
        """Rows of an entry, possibly estimated."""
        return self._heights[entry]

    def moved(self, position: Position, by: int) -> Position:
        """The position so many rows below, or above if negative; at most the last row, or the first."""
        entry, line = position.entry, position.line + by
        while line < 0 and entry > 0:
            entry -= 1
            line += self.height(entry)
        while entry < len(self) - 1 and line >= self.height(entry):
            line -= self.height(entry)
            entry += 1
        return Position(entry, max(0, min(line, self.height(entry) - 1)))

    def last_screen(self, rows: int) -> Position:
        """The first row of a screen that ends with the last row."""
        last = len(self) - 1
        return self.moved(Position(last, self.height(last) - 1), 1 - rows)

    def top(self, entry: int) -> int:
        """Rows above an entry, partly estimated."""
        if entry >= len(self._tops):
            known = len(self._tops) - 1
            self._tops[known:] = accumulate(self._heights[known:entry], initial=self._tops[known])
        return self._tops[entry]

    @property
    def total(self) -> int:
        """Rows of all entries, partly estimated."""
        return self.top(len(self))

    def at(self, row: int) -> Position:
        """The position at a row, partly estimated."""
        entry = max(0, min(bisect_right(self._tops, row, hi=len(self)) - 1, len(self) - 1)) if self.total else 0
        estimated = max(1, self._heights[entry])
        share = (row - self._tops[entry]) / estimated
        return Position(entry, max(0, min(int(share * self.height(entry)), self.height(entry) - 1)))
