"""The region: lines below the scrollback that are drawn again and again.

The cursor is left inside the region, so the way back to the first line is relative: the rows above the cursor. A
terminal that becomes narrower wraps these rows, which makes more of them; therefore lines are drawn without trailing
blanks, and their lengths are kept. It may become narrower before the program knows, and a frame that comes too late
starts too low. That cannot happen with the cursor on the first line, because the other lines are not wrapped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ERASE_LINE = "\x1b[2K"
ERASE_BELOW = "\x1b[2K\x1b[C\x1b[J\r"
"""Erases from the first column on. tmux takes `\x1b[J` at the top left for a clear and keeps the text as history."""
NEW_LINE = "\r\n"
WRAP, NO_WRAP = "\x1b[?7h", "\x1b[?7l"


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line as the terminal gets it."""

    text: str
    """With escape sequences."""
    cells: int
    """Columns it covers."""


def wraps_again(environ: Mapping[str, str]) -> bool:
    """Whether the terminal wraps its lines again when it becomes narrower. xterm and the Linux console cut them."""
    if "TMUX" in environ:
        return True
    return "XTERM_VERSION" not in environ and environ.get("TERM") != "linux"


class Region:
    """Remembers the last drawing and returns the escape sequences that replace it."""

    def __init__(self, *, wraps: bool = True) -> None:
        """`wraps`: see `wraps_again`."""
        self._wraps = wraps
        self._above: list[int] = []
        """Columns of the lines above the cursor."""
        self._column = 0
        self._columns = 0

    def draw(
        self,
        lines: Sequence[DrawnLine],
        cursor: tuple[int, int],
        columns: int,
        printed: Sequence[str] = (),
    ) -> str:
        """Replace the region.

        Args:
            lines: the new region, not higher than the terminal.
            cursor: column and row inside the region where the cursor is left.
            columns: width of the terminal.
            printed: lines for the scrollback, printed above the region.
        """
        parts = [self._to_first_line(columns)]
        if printed or columns != self._columns:
            parts.append(ERASE_BELOW)
        parts += [f"{line}{NEW_LINE}" for line in printed]
        last = max(0, len(lines) - 1)
        column, row = min(cursor[0], max(0, columns - 1)), max(0, min(cursor[1], last))
        for number, line in enumerate(lines):
            if number == row:
                parts.append(NO_WRAP)
            parts += [ERASE_LINE if number < last else ERASE_BELOW, line.text, NEW_LINE if number < last else "\r"]
        parts += [WRAP, _move(row - last, column)]
        self._above = [line.cells for line in lines[:row]]
        self._column, self._columns = column, columns
        return "".join(parts)

    def erase(self, columns: int) -> str:
        """Remove the region; the next text is written there."""
        sequence = self._to_first_line(columns) + ERASE_BELOW
        self._above, self._column = [], 0
        return sequence

    def _to_first_line(self, columns: int) -> str:
        rows = len(self._above)
        if self._wraps and 0 < columns < self._columns:
            rows = sum(max(1, -(-cells // columns)) for cells in self._above) + self._column // columns
        return "\r" + _move(-rows, 0)


def _move(rows: int, columns: int) -> str:
    vertical = f"\x1b[{abs(rows)}{'A' if rows < 0 else 'B'}" if rows else ""
    return vertical + (f"\x1b[{columns}C" if columns else "")
