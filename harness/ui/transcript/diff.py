"""A diff on the screen: line numbers, a tint over each changed line, marks on the changed words, coloured code."""

from collections.abc import Sequence
from itertools import groupby

from textual.content import Content

from harness.ui.lines.diff import DiffKind, DiffRow, number_width
from harness.ui.transcript.code import MOST_CHARACTERS, coloured, language_of
from harness.ui.transcript.wrap import GOOD, MUTED, TAB, TINTS, one_line

WORDS = {DiffKind.ADDED: "bold on $diff-added-word", DiffKind.REMOVED: "bold on $diff-removed-word"}
SIGNS = {DiffKind.ADDED: f"bold {GOOD}", DiffKind.REMOVED: "bold $text-error"}
LONGEST = 2_000
"""Characters shown of a line."""


def diff_content(rows: Sequence[DiffRow], path: str, width: int, *, wrapped: bool = True) -> list[Content]:
    """The rows of a diff, each as one Content of one or, if `wrapped`, more lines of `width` cells.

    `path`: of the changed file; its suffix selects the colours of the code.
    """
    digits = number_width(rows)
    return [
        _drawn(row, code, digits, width, wrapped=wrapped) for row, code in zip(rows, _coloured(rows, path), strict=True)
    ]


def _drawn(row: DiffRow, code: Content, digits: int, width: int, *, wrapped: bool) -> Content:
    if row.kind in (DiffKind.GAP, DiffKind.NOTE):
        return one_line(Content.styled(f"{row.kind.value:>{digits}}   {row.text.expandtabs(TAB)}", MUTED), width)
    for start, end in row.changed:
        code = code.stylize(WORDS[row.kind], start, end)
    code = code.expand_tabs(TAB)
    sign = SIGNS.get(row.kind, "")  # the number has its colour, too: a terminal with its own colours has no tints
    number_style = sign.removeprefix("bold ") or MUTED
    margin = Content.assemble((f"{row.number:>{digits}} ", number_style), (f"{row.kind.value} ", sign))
    room = max(1, width - margin.cell_length)
    lines = code.fold(room) if wrapped and code.cell_length > room else [one_line(code, room)]
    below = Content(" " * margin.cell_length)
    drawn = [Content.assemble(below if number else margin, line) for number, line in enumerate(lines)]
    if (tint := TINTS.get(row.kind.value)) is not None:
        drawn = [line.pad_right(max(0, width - line.cell_length)).stylize_before(tint) for line in drawn]
    return Content("\n").join(drawn)


def _coloured(rows: Sequence[DiffRow], path: str) -> list[Content]:
    """The text of each row, coloured as code where that is quick and certain."""
    texts = [Content(row.text[:LONGEST]) for row in rows]
    language = language_of(path)
    left = MOST_CHARACTERS
    for gap, group in groupby(range(len(rows)), key=lambda number: rows[number].kind is DiffKind.GAP):
        hunk = [] if gap else [number for number in group if rows[number].kind is not DiffKind.NOTE]
        for side in (DiffKind.REMOVED, DiffKind.ADDED):  # unchanged lines have the colours of the new file
            numbers = [number for number in hunk if rows[number].kind in (side, DiffKind.SAME)]
            code = "\n".join(texts[number].plain for number in numbers)
            left -= len(code)
            if left < 0:
                return texts
            found = coloured(code, language, closed=True)
            if found.plain == code and found.spans:
                for number, line in zip(numbers, found.split("\n", allow_blank=True), strict=False):
                    texts[number] = line
    return texts
