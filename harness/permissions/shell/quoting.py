"""One word: its quotes taken away, and what is expanded in it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.permissions.shell.cursor import METACHARACTERS, Cursor
from harness.permissions.shell.words import Assignment, Unreadable, Word, WordKind

_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9?$!#@*-]")
_BRACED = re.compile(r"\{#?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[?$!#@*-])(?::?[-+][A-Za-z0-9_./:-]*)?\}")
_ARITHMETIC = re.compile(r"\(\(([0-9+\-*/% ]*)\)\)")
"""Numbers only: the value of a variable is computed too, and may run a command."""
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_TILDE_IN_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=(?:.*:)?~")
_BRACES = re.compile(r"\{.*(?:,|\.\.).*\}", re.DOTALL)
_PATTERN = re.compile(r"[*?]|\[.*\]", re.DOTALL)
_ANSI = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8}))"
)
_ANSI_LETTERS = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))

QUOTED = "\0"
"""Stands in the shape of a word for a character that the quotes have made an ordinary one."""
EXPANDED = "\1"


@dataclass(slots=True)
class _Gathered:
    """What is known of a word so far."""

    text: list[str] = field(default_factory=list)
    shape: list[str] = field(default_factory=list)
    """The same with QUOTED for what is quoted: only what is left can be a pattern, braces or a ~."""
    unknown: bool = False
    pipe: bool = False

    def add(self, text: str, *, quoted: bool = False) -> None:
        self.text.append(text)
        self.shape.append(QUOTED * max(len(text), 1) if quoted else text)

    def expand(self, text: str) -> None:
        self.text.append(text)
        self.shape.append(EXPANDED)
        self.unknown = True


def assignment_of(written: str, word: Word) -> Assignment | None:
    """The assignment that a word before the command is; None where it is none. Raises Unreadable for an element."""
    found = _ASSIGNMENT.match(written)
    if found is None:
        if re.match(r"[A-Za-z_][A-Za-z0-9_]*\[", written) and "=" in written:
            raise Unreadable("it sets an element of a list")
        return None
    value = word.text[found.end() :]
    return Assignment(found[1], Word(value, WordKind.LITERAL if word.known else WordKind.UNKNOWN))


class WordReading:
    """Reads words at a cursor.

    `substitution` reads commands up to a bracket; `nested` reads those of a line of its own.
    """

    def __init__(self, at: Cursor, substitution: Callable[[], None], nested: Callable[[str], None]) -> None:
        self._at = at
        self._substitution = substitution
        self._nested = nested

    def read(self) -> Word:
        """The word that begins here. Raises Unreadable."""
        at, word = self._at, _Gathered()
        while not at.ended:
            char = at.peek()
            if at.looking_at("<(", ">("):
                self._pipe(word)
            elif char in METACHARACTERS:
                break
            elif char == "'":
                at.advance()
                word.add(at.until("'"), quoted=True)
            elif char == '"':
                at.advance()
                self._double_quoted(word)
            elif char == "\\":
                self._escaped(word)
            elif char == "$":
                self._dollar(word)
            elif char == "`":
                self._backquoted(word, in_quotes=False)
            else:
                word.add(at.advance())
        return _word(word)

    def read_expansions(self) -> None:
        """All that is expanded in the rest of the text, which is no command: that of a here-document."""
        at, word = self._at, _Gathered()
        while not at.ended:
            if at.peek() == "\\":
                at.advance(2)
            else:
                self._inside(word)

    def _inside(self, word: _Gathered) -> None:
        """One piece of a text in which only $ and ` mean something."""
        match self._at.peek():
            case "$":
                self._dollar(word, in_quotes=True)
            case "`":
                self._backquoted(word, in_quotes=True)
            case _:
                word.add(self._at.advance(), quoted=True)

    def _double_quoted(self, word: _Gathered) -> None:
        at = self._at
        word.add("", quoted=True)
        while not at.take('"'):
            if at.ended:
                raise Unreadable("a '\"' is missing")
            if at.peek() != "\\":
                self._inside(word)
                continue
            at.advance()
            if at.ended:
                raise Unreadable("a '\"' is missing")
            escaped = at.advance()
            if escaped == "\n":
                if word.text and word.text[-1] == "$":
                    raise Unreadable("a line break stands behind a $")
            else:
                word.add(escaped if escaped in '$`"\\' else "\\" + escaped, quoted=True)

    def _escaped(self, word: _Gathered) -> None:
        self._at.advance()
        if self._at.ended:
            raise Unreadable("it ends with a backslash")
        escaped = self._at.advance()
        if escaped == "\n":
            raise Unreadable("a backslash joins two lines inside a word")
        word.add(escaped, quoted=True)

    def _dollar(self, word: _Gathered, *, in_quotes: bool = False) -> None:
        at = self._at
        begin = at.position
        at.advance()
        if at.looking_at("\\\n"):
            raise Unreadable("a line break stands behind a $")
        if at.looking_at("["):
            raise Unreadable("it computes with $[…]")
        if at.looking_at("'") and not in_quotes:
            at.advance()
            return word.add(self._ansi(), quoted=True)
        if at.looking_at('"') and not in_quotes:
            at.advance()
            self._double_quoted(word)
            word.unknown = True
        elif at.looking_at("(("):
            if at.match(_ARITHMETIC) is None:
                raise Unreadable("it computes with more than numbers, in $((…))")
        elif at.take("("):
            self._substitution()
        elif at.looking_at("{"):
            if at.match(_BRACED) is None:
                raise Unreadable("it expands a variable in a way that is not plain, with ${…}")
        elif at.match(_PARAMETER) is None:
            return word.add("$", quoted=in_quotes)
        return word.expand(at.since(begin))

    def _ansi(self) -> str:
        text = ""
        while not self._at.take("'"):
            if self._at.ended:
                raise Unreadable('a "\'" is missing')
            if self._at.peek() != "\\":
                text += self._at.advance()
            elif (found := self._at.match(_ANSI)) is not None:
                text += _ansi_character(found)
            else:
                raise Unreadable("it has an escape in $'…' that is not known")
        return text

    def _backquoted(self, word: _Gathered, *, in_quotes: bool) -> None:
        at = self._at
        begin = at.position
        at.advance()
        line = ""
        special = '$`\\"' if in_quotes else "$`\\"
        while not at.take("`"):
            if at.ended:
                raise Unreadable("a '`' is missing")
            char = at.advance()
            line += at.advance() if char == "\\" and at.peek() and at.peek() in special else char
        self._nested(line)
        word.expand(at.since(begin))

    def _pipe(self, word: _Gathered) -> None:
        begin = self._at.position
        self._at.advance(2)
        self._substitution()
        alone = not word.text
        word.expand(self._at.since(begin))
        word.pipe = alone and (self._at.ended or self._at.peek() in METACHARACTERS)


def _ansi_character(found: re.Match[str]) -> str:
    letter, byte, octal, short, long = found.groups()
    if letter is not None:
        return _ANSI_LETTERS[letter]
    digits = byte or short or long
    code = int(digits, 16) if digits else int(octal, 8)
    if code == 0 or (not (short or long) and code > 0x7F) or not code < 0xD800:
        raise Unreadable("it has a character in $'…' that is not plain text")
    return chr(code)


def _word(gathered: _Gathered) -> Word:
    text, shape = "".join(gathered.text), "".join(gathered.shape)
    if gathered.pipe:
        return Word(text, WordKind.PIPE)
    if gathered.unknown or _BRACES.search(shape) or _TILDE_IN_ASSIGNMENT.match(shape):
        return Word(text, WordKind.UNKNOWN)
    home = False
    if shape.startswith("~"):
        if shape not in ("~",) and not shape.startswith("~/"):
            return Word(text, WordKind.UNKNOWN)
        home = True
    return Word(text, WordKind.GLOB if _PATTERN.search(shape) else WordKind.LITERAL, home)
