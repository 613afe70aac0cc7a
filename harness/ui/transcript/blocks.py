"""Markdown blocks as wrapped lines, with bullets and bars before them, and tables in columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from markdown_it.token import Token
from rich.cells import cell_len
from textual.content import Content

from harness.ui.transcript.code import coloured, tint_of
from harness.ui.transcript.inline import inline_content
from harness.ui.transcript.kinsoku import wrapped

NARROWEST = 12
"""Cells for text; deeper blocks are not indented further."""
TAB = 4

BULLET = "• "
CODE_INDENT = Content("  ")
BAR = ("▌ ", "dim")
RULE = "dim"
HEADINGS = {"h1": "bold underline", "h2": "bold", "h3": "bold italic"}
"""Styles of headings; deeper ones are italic."""
TASKS = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}
"""The boxes of a task list, and what replaces them and the bullet."""


@dataclass(slots=True)
class _Prefix:
    """The prefix of the lines of a list item or a quote."""

    first: Content
    rest: Content
    used: bool = False

    def next(self) -> Content:
        prefix = self.rest if self.used else self.first
        self.used = True
        return prefix


@dataclass(slots=True)
class _List:
    loose: bool = False
    items: int = 0


def block_content(tokens: Sequence[Token], width: int) -> Content:
    """One top-level block, in lines of at most `width` cells, but at least one character."""
    layout = _BlockLayout(width)
    for position, token in enumerate(tokens):
        layout.add(token, tokens, position)
    return Content("\n").join(layout.lines)


def is_closed(code: Token) -> bool:
    """Whether fenced code is complete."""
    return code.map is None or code.map[1] - code.map[0] == code.content.count("\n") + 2


def plain_content(text: str, width: int) -> Content:
    """Text without markup."""
    return Content("\n").join(wrapped(Content(text.expandtabs(TAB)), max(width, 2)))


class _BlockLayout:
    def __init__(self, width: int) -> None:
        self._width = max(width, 2)
        self.lines: list[Content] = []
        self._prefixes: list[_Prefix] = []
        self._indent = 0
        self._lists: list[_List] = []
        self._gap = False
        """Whether a blank line precedes the next block."""
        self._rows: list[list[Content]] = []
        self._alignments: list[str] = []

    def add(self, token: Token, tokens: Sequence[Token], position: int) -> None:
        match token.type:
            case "inline":
                self._inline(token, tokens[position - 1])
            case "fence" | "code_block":
                self._code(token)
            case "hr":
                self._block([Content.styled("─" * self._room, RULE)])
            case "blockquote_open":
                self._open_gap()
                bar = Content.styled(*BAR)
                self._push(bar, bar)
            case "blockquote_close":
                self._pop()
                self._gap = True
            case "bullet_list_open" | "ordered_list_open":
                self._gap = self._gap and not (self._lists and not self._lists[-1].loose)
                self._lists.append(_List())
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                self._gap = True
            case "list_item_open":
                self._open_item(token)
            case "list_item_close":
                self._pop()
            case "table_open":
                self._rows, self._alignments = [], []
            case "tr_open":
                self._rows.append([])
            case "table_close":
                self._block(table_lines(self._rows, self._alignments, self._room))
            case _:
                pass  # the other tokens only open and close those above

    # ── blocks ──────────────────────────────────────────────────────────────────────────────────

    def _inline(self, token: Token, opened: Token) -> None:
        text = inline_content(token.content)
        match opened.type:
            case "th_open" | "td_open":
                if opened.type == "th_open":
                    self._alignments.append(str(opened.attrs.get("style", "")).removeprefix("text-align:"))
                self._rows[-1].append(text)
            case "heading_open":
                self._block(self._wrapped(text.stylize(HEADINGS.get(opened.tag, "italic"))))
            case _:
                if (box := TASKS.get(text.plain[:4])) and self._begins_item:
                    text = text[4:]
                    self._prefixes[-1].first = Content(box)
                if self._lists and not opened.hidden:
                    self._lists[-1].loose = True
                self._block(self._wrapped(text), gap=not opened.hidden)

    def _code(self, token: Token) -> None:
        source = token.content.removesuffix("\n").expandtabs(TAB)
        if not source:
            return
        language = (token.info.split() or [""])[0]
        code = coloured(source, language, closed=is_closed(token))
        self._open_gap()
        self._push(CODE_INDENT, CODE_INDENT)
        lines: list[Content] = []
        for line in code.split("\n", allow_blank=True):
            lines += [self._tinted(part, tint_of(line)) for part in self._wrapped(line)]
        self._block(lines)
        self._pop()

    def _tinted(self, line: Content, tint: str) -> Content:
        """A line of a diff, with its tint to the right edge."""
        return line.pad_right(max(0, self._room - line.cell_length)).stylize_before(tint) if tint else line

    def _open_item(self, token: Token) -> None:
        current = self._lists[-1]
        if current.items:
            self._gap = current.loose
        current.items += 1
        self._open_gap()
        mark = Content(f"{token.info}{token.markup} " if token.info else BULLET)
        self._push(mark, Content(" " * mark.cell_length))

    @property
    def _begins_item(self) -> bool:
        """The next line is the first one of a bullet list item."""
        return bool(self._prefixes) and not self._prefixes[-1].used and self._prefixes[-1].first.plain == BULLET

    def _wrapped(self, text: Content) -> list[Content]:
        fits = text.cell_length <= self._room and "\n" not in text.plain
        return [text.rstrip()] if fits else wrapped(text, self._room)

    # ── lines ───────────────────────────────────────────────────────────────────────────────────

    @property
    def _room(self) -> int:
        return self._width - self._indent

    def _push(self, first: Content, rest: Content) -> None:
        self._gap = False
        if self._room - first.cell_length < min(NARROWEST, self._width):
            first, rest = Content(""), Content("")
        self._indent += first.cell_length
        self._prefixes.append(_Prefix(first, rest))

    def _pop(self) -> None:
        if not self._prefixes[-1].used:
            self._line(Content(""))
        prefix = self._prefixes.pop()
        self._indent -= prefix.first.cell_length

    def _block(self, lines: list[Content], *, gap: bool = True) -> None:
        self._open_gap()
        for line in lines:
            self._line(line)
        self._gap = gap

    def _open_gap(self) -> None:
        if self._gap:
            self._line(Content(""))
            self._gap = False

    def _line(self, line: Content) -> None:
        if self._prefixes:
            line = Content("").join([*(prefix.next() for prefix in self._prefixes), line])
        self.lines.append(line.rstrip() if line.plain.endswith(" ") and not tint_of(line) else line)


# ── tables ──────────────────────────────────────────────────────────────────────────────────────

GAP = 2
"""Cells between two columns."""
NARROWEST_COLUMN = 4
"""Cells below which a column is too narrow."""
ROW_SEPARATOR = " | "


def table_lines(rows: Sequence[Sequence[Content]], alignments: Sequence[str], width: int) -> list[Content]:
    """A table with a heading row.

    Args:
        alignments: "left", "right" or "center" for each column.
        width: cells available; table cells are wrapped to fit. If columns would become too narrow, each row is a line.
    """
    columns = list(zip(*rows, strict=True))
    natural = [max(cell.cell_length for cell in column) for column in columns]
    widths = column_widths(natural, width, [_longest_word(column) for column in columns])
    if widths is None:
        return [line for row in rows for line in Content(ROW_SEPARATOR).join(row).wrap(width)]
    heading, *body = rows
    lines = _row([cell.stylize("bold") for cell in heading], alignments, widths)
    lines.append(Content.styled("─" * (sum(widths) + GAP * (len(widths) - 1)), RULE))
    for row in body:
        lines += _row(row, alignments, widths)
    return lines


def column_widths(natural: Sequence[int], width: int, words: Sequence[int] = ()) -> list[int] | None:
    """Width of each column; the widest are narrowed first. None: too many columns.

    `words`: cells of the longest word of each column, which is not cut if there is room for all of them.
    """
    room = width - GAP * (len(natural) - 1)
    wanted = [max(1, cells) for cells in natural]
    if sum(wanted) <= room:
        return wanted
    narrowest = [min(cells, NARROWEST_COLUMN) for cells in wanted]
    widths = [max(pair) for pair in zip(narrowest, words, strict=False)] or narrowest
    if sum(widths) > room:
        widths = narrowest
    if sum(widths) > room:
        return None
    for _ in range(room - sum(widths)):
        column = min(
            (column for column in range(len(wanted)) if widths[column] < wanted[column]), key=widths.__getitem__
        )
        widths[column] += 1
    return widths


def _longest_word(cells: Sequence[Content]) -> int:
    """Cells of the longest word. Text with wide characters may be wrapped anywhere."""
    words = (word for cell in cells for word in cell.plain.split() if cell_len(word) == len(word))
    return max(map(len, words), default=0)


def _row(cells: Sequence[Content], alignments: Sequence[str], widths: Sequence[int]) -> list[Content]:
    columns = [wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    lines = []
    for parts in zip_longest(*columns, fillvalue=Content("")):
        placed = map(_placed, parts, alignments, widths)
        lines.append(Content(" " * GAP).join(placed).rstrip())
    return lines


def _placed(text: Content, alignment: str, width: int) -> Content:
    text = text.rstrip()
    missing = max(0, width - text.cell_length)
    before = {"right": missing, "center": missing // 2}.get(alignment, 0)
    return Content.assemble(" " * before, text, " " * (missing - before))
