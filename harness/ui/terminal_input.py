"""What a terminal sends, sorted: keys, pastes, and answers to queries.

Answers can arrive late, and to another program's query, for example after tmux was attached again over ssh. Textual
takes those it does not know for keys: the end of an OSC answer is Ctrl+G, for example. Sequences:
https://invisible-island.net/xterm/ctlseqs/ctlseqs.html and https://sw.kovidgoyal.net/kitty/keyboard-protocol/.
"""

import re
from collections.abc import Container
from functools import cache

ESCAPE = "\x1b"
ALT_ENTER = "\x1b[13;3u"
"""In the encoding of kitty. Other terminals send Esc and Enter, which Textual takes for Enter."""
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
_CONTROLS = re.compile("(\x1b(?:\\[M...|\\[\\[.|\\[[^@-~]*[@-~]|O?.)?|[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f])", re.DOTALL)
_ESCAPES = re.compile("[\x07\x1b\x90\x9b\x9d\x9f]")
_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~])|\x07")
_AFTER_ENTER, _AFTER_LINE = re.compile("\r\n?[^\r\n]"), re.compile("\n[^\n]")


@cache
def _keys() -> Container[str]:
    from textual._ansi_sequences import ANSI_SEQUENCES_KEYS  # not in plain mode, unless a sequence comes

    return ANSI_SEQUENCES_KEYS


class AnswerFilter:
    """Removes the answers of a terminal from its input, wherever the reads have cut them."""

    def __init__(self) -> None:
        self._held = ""
        """The beginning of a sequence; of a string, just enough to find its end."""
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
        return ALT_ENTER if held + one == "\x1b\r" else held + one

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


def runs(text: str) -> list[str]:
    """Input cut at its control characters and sequences, which are runs of their own; a marked paste stays whole."""
    return [text] if _PASTE_BEGINS in text else [run for run in _CONTROLS.split(text) if run]


def is_paste(run: str) -> bool:
    """Whether a run without marks is a paste: text follows an Enter that arrived with it.

    Lines that a program typed one after the other arrive at once, too, if this one was held up. They stay in the
    prompt, where nothing is lost; a paste taken for keys would send each of its lines. Others decide alike:
    prompt_toolkit on Windows by one read (`recognize_paste`), Codex by milliseconds between keys (`paste_burst.rs`).
    """
    after = _AFTER_ENTER if "\r" in run else _AFTER_LINE  # Ctrl+J begins a line in the prompt, and Enter sends it
    return not run.startswith(ESCAPE) and after.search(run) is not None


def without_answers(line: str) -> str:
    """A whole line of a terminal in line mode, or of an editor that inserts what it does not know."""
    if not _ESCAPES.search(line):
        return line
    answers = AnswerFilter()
    return _SEQUENCES.sub("", answers.feed(line) + answers.release())
