"""Markdown as text for a terminal, also while it streams in.

A text is taken apart into its top-level blocks. A block that another one follows is finished and drawn once; only the
last one is drawn again when the text grows. References that stand elsewhere in the text are not resolved: a block
says the same whatever comes before or after it.
"""

from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from textual.content import Content

from harness.base.terminal_text import visible
from harness.ui.transcript.blocks import block_content, is_closed, plain_content

LARGEST_BLOCK = 40_000
"""Characters of one block that are looked into; more is code in parts, or shown as it is."""
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
        self._pieces: list[str] = []
        """What came since the last look."""
        self._width = 0
        self._finished: list[Content] = []
        self._position = 0
        """Where the first block begins that may still change, or the rest of one that was cut."""
        self._cut = False
        """A rest is what stands there."""
        self._opening = ""
        """The line that opened the code of which it is the rest."""

    def append(self, text: str) -> None:
        """The text goes on."""
        self._pieces.append(text)

    def set(self, text: str) -> None:
        """The text is now this; what it begins with stays drawn if that is the same."""
        if not text.startswith(self._text):
            self._restart(self._width)
        self._text = text
        self._pieces.clear()

    def content(self, width: int) -> Content:
        """All of it, every line at most `width` cells long."""
        if width != self._width:
            self._restart(width)
        self._text += "".join(self._pieces)
        self._pieces.clear()
        while True:
            source = self._text[self._position : self._position + LARGEST_BLOCK]
            blocks = _Blocks(self._opening + source)
            if (taken := blocks.final) is not None:
                self._finish(blocks, taken)
            elif self._position + len(source) < len(self._text):
                self._finish_part(source[: source.rfind("\n") + 1] or source)
            else:
                return Content("\n\n").join(self._with(blocks.drawn(width)))

    def _restart(self, width: int) -> None:
        self._finished, self._position, self._width = [], 0, width
        self._cut, self._opening = False, ""

    def _finish(self, blocks: "_Blocks", taken: int) -> None:
        self._finished = self._with(blocks.drawn(self._width, taken))
        self._position += sum(len(line) + 1 for line in blocks.lines_before(taken)) - len(self._opening)
        self._cut, self._opening = False, ""

    def _finish_part(self, source: str) -> None:
        blocks = _Blocks(self._opening + source)
        is_code = self._opening or blocks.open_code
        drawn = blocks.drawn(self._width) if is_code else [plain_content(_shown(source.strip("\n")), self._width)]
        self._finished = self._with(drawn)
        self._position += len(source)
        self._cut, self._opening = True, blocks.open_code

    def _with(self, drawn: list[Content]) -> list[Content]:
        """All that is finished, and these blocks, of which the first may be the rest of one."""
        if not (self._cut and self._finished and drawn):
            return [*self._finished, *drawn]
        *finished, last = self._finished
        first, *others = drawn
        return [*finished, Content("\n").join([last, first]), *others]


class _Blocks:
    """A part of a text, taken apart into its top-level blocks."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._blocks = list(_top_level(_PARSER.parse(_shown(source))))

    @property
    def final(self) -> int | None:
        """How many blocks stay as they are however the text goes on; None: not one.

        The next block has to have begun for that, and whether it has is certain when two lines of it are whole: the
        second makes a table.
        """
        begun = [block for block in self._blocks if _place(block)[0] + 1 < len(self._lines) - 1]
        return len(begun) - 1 if len(begun) > 1 else None

    @property
    def open_code(self) -> str:
        """The line that opens the code in which the text breaks off; empty if it does not."""
        last = self._blocks[-1][0] if self._blocks else None
        if last is None or last.type != "fence" or is_closed(last):
            return ""
        return self._lines[_place([last])[0]] + "\n"

    def lines_before(self, number: int) -> list[str]:
        """The lines above a block."""
        return self._lines[: _place(self._blocks[number])[0]]

    def drawn(self, width: int, number: int | None = None) -> list[Content]:
        """The first `number` blocks as they look; None: all."""
        return [self._drawn(block, width) for block in self._blocks[:number]]

    def _drawn(self, block: Sequence[Token], width: int) -> Content:
        if max(token.level for token in block) < DEEPEST - 2:
            return block_content(block, width)
        first, end = _place(block)
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


def _place(block: Sequence[Token]) -> tuple[int, int]:
    """The lines of a block: the first, and the one behind its last."""
    first, end = block[0].map or (0, 0)
    return first, end
