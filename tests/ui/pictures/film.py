"""Frames of a terminal as an animated SVG: no script, no font of its own, nothing loaded.

Every different half of a row is defined once. The frames lie side by side and a keyframe animation moves them past the
window. Each word has its own place and length, so that columns stay in line with any monospace font.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape

from rich.cells import cell_len

CELL = 8.4
"""Width of a cell in pixels at the size of the font."""
LINE = 18
FONT_SIZE = 14
BASELINE = 13.5
MARGIN = 10
STRETCHED = ' lengthAdjust="spacingAndGlyphs"'
"""Attribute of signs that touch, such as bars."""
_WORDS = re.compile(r"[\x21-\x7e]+(?: [\x21-\x7e]+)*|[^\x00-\x7f]+")
"""Words with single spaces between them, which a font cannot shift far; other signs have widths of their own."""


@dataclass(frozen=True, slots=True)
class Look:
    """The style of a run; colours as "#rrggbb"."""

    colour: str
    background: str
    bold: bool = False
    italic: bool = False
    underline: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring cells of one style."""

    column: int
    text: str
    look: Look


Row = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A screen and how long it is shown."""

    rows: tuple[Row, ...]
    seconds: float


def film_svg(
    frames: Sequence[Frame], columns: int, *, split: int, background: str, title: str, digest: str = ""
) -> str:
    """The frames as an animation that repeats.

    Args:
        frames: all with the same number of rows.
        columns: width in cells.
        split: column that separates the halves of a row, which change independently.
        background: colour of the terminal.
        title: for screen readers.
        digest: names the inputs of the picture, see `digest_in`.
    """
    width, height = columns * CELL + 2 * MARGIN, len(frames[0].rows) * LINE + 2 * MARGIN
    parts = _Parts(background)
    film = "".join(
        f'<g transform="translate({_short(number * width)})">{_uses(frame, split, parts)}</g>'
        for number, frame in enumerate(frames)
    )
    total = sum(frame.seconds for frame in frames)
    stops, at = [], 0.0
    for number, frame in enumerate(frames):
        stops.append(f"{_short(100 * at / total)}%{{transform:translateX({_short(-number * width)}px)}}")
        at += frame.seconds
    last = _short(-(len(frames) - 1) * width)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_short(width)} {height}" width="{_short(width)}" '
        f'height="{height}" role="img" aria-label="{escape(title)}">\n<title>{escape(title)}</title>\n'
        f"<desc>inputs {digest}</desc>\n<style>"
        f"text{{font:{FONT_SIZE}px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}}"
        f"{parts.style()}@keyframes film{{{''.join(stops)}}}"
        f".film{{animation:film {_short(total)}s step-end infinite}}"
        f"@media (prefers-reduced-motion:reduce){{.film{{animation:none;transform:translateX({last}px)}}}}</style>\n"
        f"<defs>{parts.definitions()}</defs>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{background}"/>\n<g class="film">{film}</g>\n</svg>\n'
    )


def digest_of(*inputs: bytes) -> str:
    """A short name of the inputs of a picture."""
    return sha256(b"\0".join(inputs)).hexdigest()[:16]


def digest_in(svg: str) -> str:
    """The digest that was given to `film_svg`."""
    found = re.search(r"<desc>inputs (\w+)</desc>", svg)
    return found[1] if found else ""


class _Parts:
    """Definitions shared by the frames: halves of rows and styles."""

    def __init__(self, background: str) -> None:
        self.background = background
        self._halves: dict[Row, str] = {}
        self._looks: dict[str, str] = {}

    def half(self, runs: Row) -> str:
        """The id of a half row that begins at column 0."""
        return self._halves.setdefault(runs, f"h{len(self._halves)}")

    def style(self) -> str:
        """The rules of all styles. Call after the last `half`."""
        for runs in self._halves:
            self._drawn(runs)
        return "".join(f".{name}{{{rule}}}" for rule, name in self._looks.items())

    def definitions(self) -> str:
        """All halves of rows."""
        return "".join(f'<g id="{name}">{self._drawn(runs)}</g>' for runs, name in self._halves.items())

    def _drawn(self, runs: Row) -> str:
        grounds = "".join(
            f'<rect x="{_short(run.column * CELL)}" width="{_short(cell_len(run.text) * CELL)}" height="{LINE}" '
            f'fill="{run.look.background}"/>'
            for run in runs
            if run.look.background != self.background
        )
        words = "".join(
            f'<tspan x="{_short(column * CELL)}" textLength="{_short(cell_len(word) * CELL)}"'
            f'{"" if word.isascii() else STRETCHED} class="{self._look(run.look)}">{escape(word, quote=False)}</tspan>'
            for run in runs
            for column, word in _words(run)
        )
        return grounds + (f'<text y="{BASELINE}">{words}</text>' if words else "")

    def _look(self, look: Look) -> str:
        rule = f"fill:{look.colour}"
        rule += ";font-weight:bold" * look.bold + ";font-style:italic" * look.italic
        rule += ";text-decoration:underline" * look.underline
        return self._looks.setdefault(rule, f"c{len(self._looks)}")


def _uses(frame: Frame, split: int, parts: _Parts) -> str:
    drawn: list[str] = []
    for number, row in enumerate(frame.rows):
        y = MARGIN + number * LINE
        for start, runs in ((0, _between(row, 0, split)), (split, _between(row, split, 1_000_000))):
            if any(run.text.strip() or run.look.background != parts.background for run in runs):
                x = f' x="{_short(MARGIN + start * CELL)}"'
                drawn.append(f'<use href="#{parts.half(runs)}"{x} y="{y}"/>')
    return "".join(drawn)


def _between(row: Row, start: int, end: int) -> Row:
    """The runs that begin in these columns, moved to begin at 0."""
    return tuple(Run(run.column - start, run.text, run.look) for run in row if start <= run.column < end)


def _words(run: Run) -> Iterator[tuple[int, str]]:
    for found in _WORDS.finditer(run.text):
        yield run.column + cell_len(run.text[: found.start()]), found[0]


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
