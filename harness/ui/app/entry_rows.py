"""Entries as rows of the screen, each drawn once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from harness.base.external_text import visible

if TYPE_CHECKING:
    from harness.ui.transcript.entries import Entry

TAB = 4
LONGEST = 2_000
"""Characters of an entry that cannot be drawn and has no text."""
MARGIN = 1
"""Cells at both sides of the text."""


class EntryDrawing(Protocol):
    """Draws entries; see `views.EntryRenderer`."""

    def blocks(self, entry: "Entry", columns: int, *, expanded: bool) -> Sequence[Content]:
        """The entry as blocks with a blank line between them, in lines of at most `columns` cells.

        A line may have a background over all its cells; it is continued through the margin. A block that is the same
        object as before is not drawn again.
        """
        ...

    def apart(self, above: "Entry | None", below: "Entry") -> bool:
        """Whether a blank line separates two entries."""
        ...


@dataclass(slots=True)
class EntryRows:
    """An entry as it was drawn."""

    entry: "Entry | None"
    """None: to be drawn again."""
    expanded: bool
    blocks: Sequence[Content]
    ends: list[int]
    """For each block, the number of rows down to its end."""
    rows: list[Strip]


@dataclass(frozen=True, slots=True)
class Canvas:
    """What rows are drawn with."""

    width: int
    """Cells of a row, with its margins and the scrollbar."""
    columns: int
    """Cells of the text."""
    base: Style
    link: RichStyle
    parse_style: Callable[[str | Style], Style]

    def drawn(self, draw: EntryDrawing, entry: "Entry", *, expanded: bool, before: EntryRows | None) -> EntryRows:
        """Draw an entry. Rows that look as they did `before` are the same objects."""
        try:
            blocks = draw.blocks(entry, self.columns, expanded=expanded)
            return self._joined(entry, expanded, blocks, before)
        except Exception as error:  # noqa: BLE001 (shown; one entry must not hide those below it)
            said = f"This entry cannot be drawn ({type(error).__name__}: {error}); its text:\n{_text(entry)}"
            return self._joined(entry, expanded, [Content(visible(said))], None)

    def _joined(self, entry: "Entry", expanded: bool, blocks: Sequence[Content], before: EntryRows | None) -> EntryRows:
        old = [] if before is None else before.rows
        pairs = [] if before is None else zip(before.blocks, blocks, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
        ends = [] if before is None else before.ends[:same]
        rows = old[: ends[-1]] if ends else []
        for block in blocks[same:]:
            if rows:
                rows.append(self.blank)
            for line in self._lines(block):
                row = self.row(line)
                at = len(rows)
                rows.append(old[at] if at < len(old) and old[at] == row else row)
            ends.append(len(rows))
        return EntryRows(entry, expanded, list(blocks), ends, rows)

    @property
    def blank(self) -> Strip:
        """An empty row."""
        return Strip.blank(self.width, self.base.rich_style)

    def _lines(self, block: Content) -> list[Content]:
        lines: list[Content] = []
        for line in block.expand_tabs(TAB).split("\n", allow_blank=True):
            lines += [line] if line.cell_length <= self.columns else line.wrap(self.columns)
        return lines

    def row(self, line: Content) -> Strip:
        """A line of text as a row."""
        base = self.base.rich_style
        segments = [Segment(" " * MARGIN, base)]
        for text, style in line.render(self.base, end="", parse_style=self.parse_style):
            if text:
                rich = (self.base + style).rich_style
                if rich._meta is not None and "@click" in rich.meta:
                    rich += self.link
                segments.append(Segment(text, rich))
        rest = self.width - MARGIN - line.cell_length
        last = segments[-1].style
        if line.cell_length >= self.columns and last is not None and last.bgcolor != base.bgcolor:
            segments.append(Segment(" " * MARGIN, base + RichStyle(bgcolor=last.bgcolor)))
            rest -= MARGIN
        if rest > 0:
            segments.append(Segment(" " * rest, base))
        return Strip(segments, max(self.width, MARGIN + line.cell_length))


def _text(entry: "Entry") -> str:
    text = getattr(entry, "text", None)
    return text if isinstance(text, str) else repr(entry)[:LONGEST]
