"""Text that every terminal draws in as many cells as the layout counts.

Rich counts clusters such as 👨‍👩‍👧, ❤️ or 👍🏽 like the terminals that join their parts. Others, such as tmux, draw each
part by itself, and everything to the right of it moves. For those a cluster is replaced by its first part, and
blanks up to the counted width.
"""

import re
import unicodedata
from collections.abc import Mapping

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

JOINING = frozenset(("ghostty", "iTerm.app", "WezTerm"))
"""Values of TERM_PROGRAM of terminals that join the parts of a cluster."""
JOINING_VARIABLES = ("GHOSTTY_RESOURCES_DIR", "KITTY_WINDOW_ID", "WT_SESSION")
"""Variables that other such terminals set."""
JOINING_TERMS = ("foot", "xterm-ghostty", "xterm-kitty")
MULTIPLEXERS = ("screen", "tmux")

_PICTURE = r"[#*0-9\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
_SKIN = r"\U0001f3fb-\U0001f3ff"
_CLUSTER = re.compile(
    rf"(?![{_SKIN}])(?P<base>{_PICTURE})(?:[\ufe0e\ufe0f\u20e3{_SKIN}\U000e0020-\U000e007f]|\u200d.?)+"
    rf"|(?P<flag>[\U0001f1e6-\U0001f1ff])|[{_SKIN}]"
)
_SPACING_MARK = re.compile(r"[\u0900-\u109f\u1700-\u1cff\u3164\ua800-\uabff\U00011000-\U00011fff]|\u200d.", re.DOTALL)
"""Scripts with vowel signs that Rich counts with the letter before them, and other terminals separately."""
_REGIONAL_A = 0x1F1E6


def joins_clusters(environ: Mapping[str, str]) -> bool:
    """Whether the terminal draws a cluster of several code points as one character."""
    term = environ.get("TERM", "")
    if "TMUX" in environ or term.startswith(MULTIPLEXERS):
        return False
    known = environ.get("TERM_PROGRAM") in JOINING or any(name in environ for name in JOINING_VARIABLES)
    return known or term.startswith(JOINING_TERMS)


def separable(text: str) -> str:
    """The text with each cluster replaced by characters of the same width that no terminal joins."""
    return _CLUSTER.sub(_replacement, text)


def _replacement(found: re.Match[str]) -> str:
    if (flag := found["flag"]) is not None:
        return chr(ord("A") + ord(flag) - _REGIONAL_A)
    base = found["base"]
    return "" if base is None else base + " " * (cell_len(found[0]) - cell_len(base))


def separate_cells(text: str) -> int:
    """Cells of a text in a terminal that joins nothing."""
    return sum(map(_cells, text))


def _cells(character: str) -> int:
    cells = get_character_cell_size(character)
    match unicodedata.category(character):
        case "Mc":
            return max(cells, 1)
        case "Lo" if character == "\u3164":
            return 2
        case _:
            return cells


class CellFilter(LineFilter):
    """Keeps the lines of each widget as wide as they are counted."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(text.isascii() for text, _, _ in segments):
            return segments
        changed = [Segment(separable(text), style, control) for text, style, control in segments]
        if any(_SPACING_MARK.search(text) for text, _, _ in changed):
            return _without_excess(changed)
        return changed


def _without_excess(segments: list[Segment]) -> list[Segment]:
    """The line without as many blanks behind its text as the text needs more than is counted."""
    excess = sum(separate_cells(text) - cell_len(text) for text, _, control in segments if not control)
    kept = list(segments)
    for index, (text, style, control) in reversed(list(enumerate(segments))):
        words = text.rstrip(" ")
        blanks = min(len(text) - len(words) - bool(words), excess)
        if blanks > 0:
            kept[index] = Segment(text[: len(text) - blanks], style, control)
            excess -= blanks
    return kept
