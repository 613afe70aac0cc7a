"""Markdown as text for a terminal, also while it streams in.

A text is taken apart into its top-level blocks. A block that another one follows is finished and drawn once; only the
last one is drawn again when the text grows. References that stand elsewhere in the text are not resolved: a block
says the same whatever comes before or after it.
"""

from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from textual.content import Content

from harness.ui.transcript.blocks import block_content, plain_content
from harness.visible import visible

LARGEST_BLOCK = 40_000
"""Characters of one block that are looked into; a larger one is shown as it is, in parts of this size."""
DEEPEST = 60
"""Levels of lists and quotes within each other; what is deeper is shown as it is."""

_PARSER = (
    MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
    .enable("table")
    .disable(["inline", "reference", "html_block"])
)


def markdown_content(text: str, width: int) -> Content:
    """A whole text, every line at most `width` cells long. Takes any text; marks nothing up but Markdown."""
    streamed = StreamedMarkdown()
    streamed.append(text)
    return streamed.content(width)


class StreamedMarkdown:
    """A text that grows. At every moment it looks like the whole text drawn at once."""

    def __init__(self) -> None:
        self._text = ""
        self._width = 0
        self._finished: list[Content] = []
        self._position = 0
        """Where the first block begins that may still change."""

    def append(self, text: str) -> None:
        """The text goes on."""
        self._text += text

    def set(self, text: str) -> None:
        """The text is now this; what it begins with stays drawn if that is the same."""
        if not text.startswith(self._text):
            self._finished.clear()
            self._position = 0
        self._text = text

    def content(self, width: int) -> Content:
        """All of it, every line at most `width` cells long."""
        if width != self._width:
            self._finished.clear()
            self._position, self._width = 0, width
        last: list[Content] = []
        while self._position < len(self._text):
            last, used = self._next(self._text[self._position : self._position + LARGEST_BLOCK])
            if not used:
                break
            self._finished += last
            self._position += used
            last = []
        return Content("\n\n").join([*self._finished, *last])

    def _next(self, source: str) -> tuple[list[Content], int]:
        """The blocks that `source` begins with and the characters they take; 0: they may still change."""
        cut = self._position + len(source) < len(self._text)
        lines = source.split("\n")
        blocks = list(_blocks(_PARSER.parse(_shown("\n".join(lines)))))
        whole = [block for block in blocks if _first_line(block) < len(lines) - 1]
        if len(whole) > 1:
            *finished, follows = whole
            taken = sum(len(line) + 1 for line in lines[: _first_line(follows)])
            return [self._drawn(block, lines) for block in finished], taken
        if cut:
            end = source.rfind("\n") + 1 or len(source)
            return [plain_content(_shown(source[:end].strip("\n")), self._width)], end
        return [self._drawn(block, lines) for block in blocks], 0

    def _drawn(self, block: Sequence[Token], lines: Sequence[str]) -> Content:
        if max(token.level for token in block) < DEEPEST - 2:
            return block_content(block, self._width)
        first, end = block[0].map or (0, 0)
        return plain_content(_shown("\n".join(lines[first:end])), self._width)


def _shown(text: str) -> str:
    return visible(text.replace("\r\n", "\n"))


def _blocks(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens of each top-level block."""
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def _first_line(block: Sequence[Token]) -> int:
    return block[0].map[0] if block[0].map else 0
