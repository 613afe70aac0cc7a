"""Frames of a terminal as an animated SVG: no script, no font of its own, nothing loaded.

Rows are split into parts that change independently. Every different part is defined once, and one that never changes
is drawn once. The frames lie side by side and a keyframe animation moves them past the
window. Each word has its own place and length, so that columns stay in line with any monospace font.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from itertools import pairwise

from rich.cells import cell_len

CELL = 8
"""Width of a cell in pixels at the size of the font."""
LINE = 17
FONT_SIZE = 13.3
BASELINE = 13
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
    frames: Sequence[Frame], columns: int, *, splits: Sequence[int], background: str, title: str, digest: str = ""
) -> str:
    """The frames as an animation that repeats.

    Args:
        frames: all with the same number of rows.
        columns: width in cells.
        splits: columns that separate the parts of a row, which change independently; a run begins at each.
        background: colour of the terminal.
        title: for screen readers.
        digest: names the inputs of the picture, see `digest_in`.
    """
    width, height = columns * CELL + 2 * MARGIN, len(frames[0].rows) * LINE + 2 * MARGIN
    parts = _Parts(background, (0, *splits, columns))
    cells = [parts.of(frame) for frame in frames]
    still = frozenset(cells[0].items()).intersection(*(frozenset(one.items()) for one in cells))
    film = "".join(
        f'<g transform="translate({_short(number * width)})">{parts.drawn(one.items() - still)}</g>'
        for number, one in enumerate(cells)
    )
    total = sum(frame.seconds for frame in frames)
    stops, at = [], 0.0
    for number, frame in enumerate(frames):
        stops.append(f"{_short(100 * at / total)}%{{transform:translateX({_short(-number * width)}px)}}")
        at += frame.seconds
    last = _short(-(len(frames) - 1) * width)
    definitions, style = parts.definitions()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_short(width)} {height}" width="{_short(width)}" '
        f'height="{height}" role="img" aria-label="{escape(title)}">\n<title>{escape(title)}</title>\n'
        f"<desc>inputs {digest}</desc>\n<style>"
        f"text{{font:{FONT_SIZE}px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}}"
        f"{style}@keyframes film{{{''.join(stops)}}}"
        f".film{{animation:film {_short(total)}s step-end infinite}}"
        f"@media (prefers-reduced-motion:reduce){{.film{{animation:none;transform:translateX({last}px)}}}}</style>\n"
        f"<defs>{definitions}</defs>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{background}"/>\n'
        f'<g class="still">{parts.drawn(still)}</g>\n<g class="film">{film}</g>\n</svg>\n'
    )


def digest_of(*inputs: bytes) -> str:
    """A short name of the inputs of a picture."""
    return sha256(b"\0".join(inputs)).hexdigest()[:16]


def digest_in(svg: str) -> str:
    """The digest that was given to `film_svg`."""
    found = re.search(r"<desc>inputs (\w+)</desc>", svg)
    return found[1] if found else ""


Place = tuple[int, int]
"""Part and row."""


class _Parts:
    """Parts of rows, defined once and shared by the frames."""

    def __init__(self, background: str, edges: Sequence[int]) -> None:
        self._background = background
        self._edges = edges
        self._ids: dict[Row, str] = {}

    def of(self, frame: Frame) -> dict[Place, str]:
        """The ids of the parts of a frame, without blank ones."""
        found: dict[Place, str] = {}
        for part, (start, end) in enumerate(pairwise(self._edges)):
            for number, row in enumerate(frame.rows):
                runs = _between(row, start, end)
                if any(run.text.strip() or run.look.background != self._background for run in runs):
                    found[part, number] = self._ids.setdefault(runs, f"h{len(self._ids)}")
        return found

    def drawn(self, places: Iterable[tuple[Place, str]]) -> str:
        """Uses of the parts at their places."""
        groups = dict.fromkeys(range(len(self._edges) - 1), "")
        for (part, number), id in sorted(places):
            groups[part] += f'<use href="#{id}" y="{number * LINE}"/>'
        return "".join(
            f'<g transform="translate({_short(MARGIN + self._edges[part] * CELL)} {MARGIN})">{uses}</g>'
            for part, uses in groups.items()
            if uses
        )

    def definitions(self) -> tuple[str, str]:
        """All parts, and the rules of their styles; the most frequent plain style needs no class."""
        rules = Counter(_rule(run.look) for runs in self._ids for run in runs for _ in _words(run))
        names = {rule: f"c{number}" for number, (rule, _) in enumerate(rules.most_common())}
        usual = next((rule for rule in names if ";" not in rule), "")  # the others inherit from it
        classes = {rule: "" if rule == usual else f' class="{name}"' for rule, name in names.items()}
        drawn = "".join(f'<g id="{id}">{self._part(runs, classes)}</g>' for runs, id in self._ids.items())
        style = "".join(f"{'text' if rule == usual else '.' + name}{{{rule}}}" for rule, name in names.items())
        return drawn, style

    def _part(self, runs: Row, classes: Mapping[str, str]) -> str:
        grounds = "".join(
            f'<rect x="{_short(run.column * CELL)}" width="{_short(cell_len(run.text) * CELL)}" height="{LINE}" '
            f'fill="{run.look.background}"/>'
            for run in runs
            if run.look.background != self._background
        )
        words = "".join(
            f'<tspan x="{_short(column * CELL)}"{_length(word)}{classes[_rule(run.look)]}>'
            f"{escape(word, quote=False)}</tspan>"
            for run in runs
            for column, word in _words(run)
        )
        return grounds + (f'<text y="{BASELINE}">{words}</text>' if words else "")


def _length(word: str) -> str:
    """The attributes for the width of a word; a single sign has its own."""
    if len(word) == 1:
        return ""
    return f' textLength="{_short(cell_len(word) * CELL)}"{"" if word.isascii() else STRETCHED}'


def _rule(look: Look) -> str:
    rule = f"fill:{look.colour}" + ";font-weight:bold" * look.bold
    return rule + ";font-style:italic" * look.italic + ";text-decoration:underline" * look.underline


def _between(row: Row, start: int, end: int) -> Row:
    """The runs that begin in these columns, moved to begin at 0."""
    return tuple(Run(run.column - start, run.text, run.look) for run in row if start <= run.column < end)


def _words(run: Run) -> Iterator[tuple[int, str]]:
    for found in _WORDS.finditer(run.text):
        yield run.column + cell_len(run.text[: found.start()]), found[0]


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
