"""Markdown within a paragraph: emphasis, code and links."""

import re
from itertools import zip_longest

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import cell_len
from textual.content import Content, Span

from harness.base.external_text import visible

MOST_CHARACTERS = 20_000
"""Longer texts are shown unparsed."""
MOST_MARKS = 1_000
"""Texts with more markup characters are shown unparsed, too: pairing them would be slow."""

CODE = "$text-accent"
LINK = "underline"
URL = "dim"
STYLES = {"strong": "bold", "em": "italic", "s": "strike", "link": LINK}
_MARKS = re.compile(r"[\[\]*_`~<!\\&]")


class _Parser(MarkdownIt):
    def normalizeLink(self, url: str) -> str:  # noqa: N802 (the name is the library's)
        """Keep the address as written."""
        return url


def inline_parser() -> MarkdownIt:
    return _Parser("commonmark", {"html": False}).enable("strikethrough")


_PARSER = inline_parser()


def inline_content(source: str) -> Content:
    """The text of a paragraph with its styles and explicit line breaks."""
    if len(source) > MOST_CHARACTERS or len(_MARKS.findall(source)) > MOST_MARKS:
        return Content(visible(source))
    [block] = _PARSER.parseInline(source)
    return _Inline().content(block.children or [])


class _Inline:
    def __init__(self) -> None:
        self._text: list[str] = []
        self._length = 0
        self._spans: list[Span] = []
        self._open: list[tuple[int, str]] = []
        """The start of each open style, and the address of a link."""

    def content(self, tokens: list[Token]) -> Content:
        for token, following in zip_longest(tokens, tokens[1:]):
            if token.type == "softbreak" and following is not None:
                self._break(following)
            else:
                self._token(token)
        return Content("".join(self._text), self._spans)

    def _break(self, following: Token) -> None:
        """Join two lines with a space, unless both are in a script without spaces."""
        before, after = self._text[-1][-1:] if self._text else "", following.content[:1]
        wide = cell_len(before) == cell_len(after) == 2
        self._write("" if wide else " ")

    def _token(self, token: Token) -> None:
        match token.type, token.nesting:
            case "hardbreak", _:
                self._write("\n")
            case "code_inline", _:
                self._write(token.content, CODE)
            case "image", _:
                self._write(token.content or "image", LINK)
                self._address(str(token.attrs.get("src", "")), token.content)
            case _, 1:
                self._open.append((self._length, str(token.attrs.get("href", ""))))
            case kind, -1:
                self._close(kind.removesuffix("_close"))
            case _:
                self._write(token.content)

    def _close(self, kind: str) -> None:
        start, url = self._open.pop()
        if start < self._length and (style := STYLES.get(kind)):
            self._spans.append(Span(start, self._length, style))
        if kind == "link":
            self._address(url, "".join(self._text)[start:])

    def _address(self, url: str, shown: str) -> None:
        if url and visible(url).removeprefix("mailto:") != shown.removeprefix("mailto:"):
            self._write(f" ({url})", URL)

    def _write(self, text: str, style: str = "") -> None:
        text = visible(text)
        if style and text:
            self._spans.append(Span(self._length, self._length + len(text), style))
        self._text.append(text)
        self._length += len(text)
