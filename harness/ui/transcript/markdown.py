"""Markdown as text for a terminal, also while it streams in.

A text is split into its top-level blocks. Only the last block is drawn again when the text grows; a block with a
successor is finished. Reference links are not resolved, so each block is independent of all others.
"""

from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from textual.content import Content

from harness.base.external_text import visible
from harness.ui.transcript.blocks import block_content, is_closed, plain_content

LARGEST_BLOCK = 40_000
"""Characters of one block that are parsed at once; longer code is drawn in parts, other text unparsed."""
DEEPEST = 60
"""Nesting levels; deeper blocks are shown unparsed."""

_PARSER = (
    MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
    .enable("table")
    .disable(["inline", "reference", "html_block"])
)


def markdown_content(text: str, width: int) -> Content:
    """A complete text, in lines of at most `width` cells."""
    streamed = StreamedMarkdown()
    streamed.append(text)
    return streamed.content(width)


class StreamedMarkdown:
    """A text that grows, drawn as if it were drawn at once."""

    def __init__(self) -> None:
        self._text = ""
        self._pieces: list[str] = []
        """Appended since the last drawing."""
        self._width = 0
        self._finished: list[Content] = []
        self._position = 0
        """Start of the first block that may still change, or of the rest of one that was cut."""
        self._cut = False
        """Whether it is such a rest."""
        self._opening = ""
        """The opening line of the code block that it belongs to."""

    @property
    def text(self) -> str:
        """The text that was last drawn or set."""
        return self._text

    def append(self, text: str) -> None:
        self._pieces.append(text)

    def set(self, text: str) -> None:
        """Replace the text; an unchanged beginning is not drawn again."""
        if not text.startswith(self._text):
            self._restart(self._width)
        self._text = text
        self._pieces.clear()

    def content(self, width: int) -> Content:
        """The whole text, in lines of at most `width` cells."""
        return Content("\n\n").join(self.blocks(width))

    def blocks(self, width: int) -> list[Content]:
        """The blocks of the text. A finished one is the same object as long as width and beginning stay the same."""
        if width != self._width:
            self._restart(width)
        self._text += "".join(self._pieces)
        self._pieces.clear()
        while True:
            source = self._text[self._position : self._position + LARGEST_BLOCK]
            blocks = _Blocks(self._opening + source)
            if (count := blocks.final) is not None:
                self._finish(blocks, count)
            elif self._position + len(source) < len(self._text):
                self._finish_part(source[: source.rfind("\n") + 1] or source)
            else:
                return self._with(blocks.drawn(width))

    def _restart(self, width: int) -> None:
        self._finished, self._position, self._width = [], 0, width
        self._cut, self._opening = False, ""

    def _finish(self, blocks: "_Blocks", count: int) -> None:
        self._finished = self._with(blocks.drawn(self._width, count))
        self._position += sum(len(line) + 1 for line in blocks.lines_before(count)) - len(self._opening)
        self._cut, self._opening = False, ""

    def _finish_part(self, source: str) -> None:
        blocks = _Blocks(self._opening + source)
        is_code = self._opening or blocks.open_code
        drawn = blocks.drawn(self._width) if is_code else [plain_content(_shown(source.strip("\n")), self._width)]
        self._finished = self._with(drawn)
        self._position += len(source)
        self._cut, self._opening = True, blocks.open_code

    def _with(self, drawn: list[Content]) -> list[Content]:
        """The finished blocks and these; the first may be the rest of the last finished one."""
        if not (self._cut and self._finished and drawn):
            return [*self._finished, *drawn]
        *finished, last = self._finished
        first, *others = drawn
        return [*finished, Content("\n").join([last, first]), *others]


class _Blocks:
    """The top-level blocks of a part of a text."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._blocks = list(_top_level(_PARSER.parse(_shown(source))))

    @property
    def final(self) -> int | None:
        """Number of blocks that cannot change however the text continues; None: none.

        The next block must have begun for that, which is certain when two of its lines are complete, because the second
        line makes a table.
        """
        begun = [block for block in self._blocks if _line_range(block)[0] + 1 < len(self._lines) - 1]
        return len(begun) - 1 if len(begun) > 1 else None

    @property
    def open_code(self) -> str:
        """The opening line of an unfinished code block at the end; empty if there is none."""
        last = self._blocks[-1][0] if self._blocks else None
        if last is None or last.type != "fence" or is_closed(last):
            return ""
        return self._lines[_line_range([last])[0]] + "\n"

    def lines_before(self, number: int) -> list[str]:
        """The lines above a block."""
        return self._lines[: _line_range(self._blocks[number])[0]]

    def drawn(self, width: int, number: int | None = None) -> list[Content]:
        """The first `number` blocks, drawn; None: all."""
        return [self._drawn(block, width) for block in self._blocks[:number]]

    def _drawn(self, block: Sequence[Token], width: int) -> Content:
        if max(token.level for token in block) < DEEPEST - 2:
            return block_content(block, width)
        first, end = _line_range(block)
        return plain_content(_shown("\n".join(self._lines[first:end])), width)


def _shown(text: str) -> str:
    return visible(text.replace("\r\n", "\n"))


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens of each top-level block."""
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def _line_range(block: Sequence[Token]) -> tuple[int, int]:
    """The first line of a block, and the one after its last."""
    first, end = block[0].map or (0, 0)
    return first, end
