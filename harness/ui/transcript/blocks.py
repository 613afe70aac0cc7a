"""Markdown blocks as lines: wrapped, with bullets and bars in front of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token
from textual.content import Content

from harness.ui.transcript.code import coloured
from harness.ui.transcript.inline import inline_content
from harness.ui.transcript.tables import table_lines

NARROWEST = 12
"""Cells that are left for text, however deep it stands; what stands deeper is not indented further."""
TAB = 4

CODE_INDENT = Content("  ")
BAR = ("▌ ", "dim")
RULE = "dim"
HEADING = "bold"


@dataclass(slots=True)
class _Prefix:
    """What stands before the lines of a list item or a quote."""

    first: Content
    rest: Content
    used: bool = False

    def take(self) -> Content:
        prefix = self.rest if self.used else self.first
        self.used = True
        return prefix


@dataclass(slots=True)
class _List:
    loose: bool = False
    items: int = 0


def block_content(tokens: Sequence[Token], width: int) -> Content:
    """One top-level block, every line at most `width` cells long unless that is less than a character takes."""
    page = _Page(width)
    for position, token in enumerate(tokens):
        page.take(token, tokens, position)
    return Content("\n").join(page.lines)


def is_closed(code: Token) -> bool:
    """Whether fenced code has come to its end."""
    return code.map is None or code.map[1] - code.map[0] == code.content.count("\n") + 2


def plain_content(text: str, width: int) -> Content:
    """Text that is not looked into."""
    return Content("\n").join(Content(text.expandtabs(TAB)).wrap(max(width, 2)))


class _Page:
    def __init__(self, width: int) -> None:
        self._width = max(width, 2)
        self.lines: list[Content] = []
        self._prefixes: list[_Prefix] = []
        self._indent = 0
        self._lists: list[_List] = []
        self._gap = False
        """The next block is set off from what stands above it."""
        self._rows: list[list[Content]] = []
        self._alignments: list[str] = []

    def take(self, token: Token, tokens: Sequence[Token], position: int) -> None:
        """Write what the next token says."""
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
                pass  # the other tokens only open and close what is written above

    # ── blocks ──────────────────────────────────────────────────────────────────────────────────

    def _inline(self, token: Token, opened: Token) -> None:
        text = inline_content(token.content)
        match opened.type:
            case "th_open" | "td_open":
                if opened.type == "th_open":
                    self._alignments.append(str(opened.attrs.get("style", "")).removeprefix("text-align:"))
                self._rows[-1].append(text)
            case "heading_open":
                self._block(self._wrapped(text.stylize(HEADING)))
            case _:
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
            lines += self._wrapped(line)
        self._block(lines)
        self._pop()

    def _open_item(self, token: Token) -> None:
        current = self._lists[-1]
        if current.items:
            self._gap = current.loose
        current.items += 1
        self._open_gap()
        mark = Content(f"{token.info}{token.markup} " if token.info else "• ")
        self._push(mark, Content(" " * mark.cell_length))

    def _wrapped(self, text: Content) -> list[Content]:
        fits = text.cell_length <= self._room and "\n" not in text.plain
        return [text.rstrip()] if fits else text.wrap(self._room)

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
            line = Content("").join([*(prefix.take() for prefix in self._prefixes), line])
        self.lines.append(line.rstrip() if line.plain.endswith(" ") else line)
