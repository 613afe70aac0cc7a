"""What a terminal sends, sorted: keys, pastes, and answers to queries.

Answers can arrive late, and to another program's query, for example after tmux was attached again over ssh. Textual
takes those it does not know for keys: the end of an OSC answer is Ctrl+G, for example. Sequences:
https://invisible-island.net/xterm/ctlseqs/ctlseqs.html and https://sw.kovidgoyal.net/kitty/keyboard-protocol/.
"""

import re
from collections.abc import Container
from functools import cache

ESCAPE = "\x1b"
_EIGHT_BITS = {"\x90": "\x1bP", "\x9b": "\x1b[", "\x9d": "\x1b]", "\x9f": "\x1b_"}
"""Controls in one character, and the same in two. A lone byte, which is not UTF-8, is decoded to a surrogate."""
_ENDS = frozenset("\x07\x9c")
_FIRST = {"]": frozenset("0123456789lL"), "P": frozenset("0123456789>!$+|="), "_": frozenset("G")}
"""How answers in the form of a string begin; other text after it belongs to a key with Alt."""
_LONGEST_SEQUENCE = 64
_INPUT = re.compile(
    r"\x1b\[(?:[0-9;:]*[A-HPQRSZ~u^@]|[IO]|<?[-0-9;]+[mM]|M...|\[.|\?(?:2026|2048);\d\$y|48(?:;[\d:]*){4}t)", re.DOTALL
)
"""Sequences for keys, mouse, focus, pastes and sizes, and the answers that Textual asks for."""
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ESCAPES = re.compile("[\x07\x1b\x90\x9b\x9d\x9f]")
_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~])|\x07")
_LINES = re.compile("[\r\n]+[^\r\n]")
LINES_PER_S, MOST_LINES = 150, 20
"""Lines a second, and in all, that a program may type while this one is held up."""


@cache
def _keys() -> Container[str]:
    from textual._ansi_sequences import ANSI_SEQUENCES_KEYS  # not in plain mode, unless a sequence comes

    return ANSI_SEQUENCES_KEYS


class AnswerFilter:
    """Removes the answers of a terminal from its input, wherever the reads have cut them."""

    def __init__(self) -> None:
        self._held = ""
        """The beginning of a sequence; of a string, only what is needed to find its end."""
        self._pasted: str | None = None
        """The last characters of a paste that has not ended."""

    @property
    def pasting(self) -> bool:
        """Within a paste that the terminal marks."""
        return self._pasted is not None

    @property
    def holds(self) -> bool:
        """Whether a sequence has begun."""
        return bool(self._held)

    def feed(self, text: str) -> str:
        """The input without answers; the beginning of a sequence waits for its end."""
        return "".join(map(self._take, text))

    def release(self) -> str:
        """Nothing followed for a moment: the beginning of a sequence that may be a key, as Esc or Alt+[."""
        if len(self._held) > 2:
            return ""
        held, self._held = self._held, ""
        return held

    def drop(self) -> None:
        """Nothing followed for long: the rest of an answer will not come."""
        self._held = ""

    def _take(self, one: str) -> str:
        if self._pasted is not None:
            self._pasted = (self._pasted + one)[-len(_PASTE_ENDS) :]
            if self._pasted == _PASTE_ENDS:
                self._pasted = None
            return one
        if "\udc80" <= one <= "\udcff":
            one = chr(ord(one) - 0xDC00) if one <= "\udc9f" else "\ufffd"
        if len(self._held) > 1:
            return self._in_sequence(one) if self._held[1] == "[" else self._in_string(one)
        if one == ESCAPE or one in _EIGHT_BITS:
            held, self._held = self._held, _EIGHT_BITS.get(one, one)
            return held
        if self._held and (one == "[" or one in _FIRST):
            self._held += one
            return ""
        held, self._held = self._held, ""
        return held + one

    def _in_sequence(self, one: str) -> str:
        held, self._held = self._held + one, ""
        if one < " " or one > "~":
            return self._take(one)
        if (len(held) < 6 and held.startswith("\x1b[M")) or held == "\x1b[[":
            self._held = held
            return ""
        if one >= "@" or held.startswith("\x1b[M") or held in _keys():
            if held == _PASTE_BEGINS:
                self._pasted = ""
            return held if held in _keys() or _INPUT.fullmatch(held) else ""
        self._held = held if len(held) < _LONGEST_SEQUENCE else held[:2]
        return ""

    def _in_string(self, one: str) -> str:
        held, self._held = self._held, ""
        if len(held) == 2 and one not in _FIRST[held[1]]:
            return held + self._take(one)  # a key with Alt
        if one in _ENDS or (held[2:] == ESCAPE and one == "\\"):
            return ""
        if held[2:] == ESCAPE:
            self._held = ESCAPE
            return self._take(one)
        if one in "\r\n\x18\x1a":  # no answer has these
            return one
        self._held = held[:2] + (one if one == ESCAPE else "…")
        return ""


def is_paste(text: str, late_s: float) -> bool:
    """Whether input without marks is a paste: several lines that arrived at once.

    One line and Enter are typed, also by a program. Lines that may have piled up for `late_s` seconds are typed, too,
    if they are few enough for that time.
    """
    if _LINES.search(text) is None or _CONTROLS.search(text):
        return False
    return len(text.splitlines()) > 1 + min(LINES_PER_S * late_s, MOST_LINES)


def without_answers(line: str) -> str:
    """A whole line of a terminal in line mode, or of an editor that inserts what it does not know."""
    if not _ESCAPES.search(line):
        return line
    answers = AnswerFilter()
    return _SEQUENCES.sub("", answers.feed(line) + answers.release())
