"""One word: quote removal and expansions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from harness.permissions.shell.cursor import METACHARACTERS, Cursor
from harness.permissions.shell.syntax import PORTABLE, Assignment, Dialect, Unreadable, Word, WordKind

_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9?$!#@*-]")
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_BRACED = re.compile(
    rf"\{{(?:#?(?:{_NAME}|[0-9]+|[?$!#@*-])|(?:{_NAME}|[0-9]+|[?$!#@*-]):?[-+][A-Za-z0-9_./:-]*"
    rf"|{_NAME}(?:(?:##?|%%?)[A-Za-z0-9_./*-]+|//?[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]*|:[0-9]+(?::[0-9]+)?|\^\^?|,,?))\}}"
)
"""${x}, ${#x}, ${x:-a}, ${x%.py}, ${x##*/}, ${x/a/b}, ${x:0:3}, ${x^^}: nothing in them is expanded or computed."""
_PORTABLE_BRACED = re.compile(
    rf"\{{(?:#?{_NAME}|{_NAME}:?[-+][A-Za-z0-9_./:-]*|{_NAME}(?:##?|%%?)[A-Za-z0-9_./*-]+)\}}"
)
_ARITHMETIC = re.compile(r"\(\(([0-9+\-*/% ]*)\)\)")
"""Numbers only: the value of a variable is computed too, and may run a command."""
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_TILDE_IN_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=(?:.*:)?~")
_BRACES = re.compile(r"\{.*(?:,|\.\.).*\}", re.DOTALL)
_RANGE = re.compile(r"(0|[1-9][0-9]{0,4})\.\.(0|[1-9][0-9]{0,4})")
_PATTERN = re.compile(r"[*?]|\[.*\]", re.DOTALL)
_NOT_PORTABLE = re.compile(r"[?\[\]]|(?:^|/)\.[^/]*\*", re.DOTALL)
"""Parts of patterns that shells read differently, or match with different files."""
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,@%+-]+")
"""A value that stays one word without quotes."""
_ANSI = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8}))"
)
_ANSI_LETTERS = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))

_NUMBERS = ("$?", "$#", "$$")
"""A parameter that is always one number."""
_LISTS = ("$@", "$*", "${@}", "${*}")
"""What may be several words in quotes, too."""

QUOTED = "\0"
"""Stands in the shape of a word for a character that the quotes have made an ordinary one."""
EXPANDED = "\1"
MOST_WORDS = 50
"""Words that braces make of one."""

_Char = tuple[str, str]
"""A character of a word, and its shape. The character may be empty, or the text of an expansion."""


@dataclass(slots=True)
class _Gathered:
    """The part of a word that is parsed so far."""

    chars: list[_Char] = field(default_factory=list)
    """Only text that is neither QUOTED nor EXPANDED can be a pattern, braces or a ~."""
    unknown: bool = False
    pipe: bool = False
    split: bool = False
    patterned: bool = False
    """It has a file pattern that is written in it."""
    valued: bool = False
    """It has a file pattern that is the value of a variable."""
    home: str = ""
    """A value that begins with the home folder."""

    def add(self, text: str, *, quoted: bool = False) -> None:
        if quoted:
            self.chars += [(char, QUOTED) for char in text] or [("", QUOTED)]
        else:
            self.chars += [(char, char) for char in text]
            self.patterned = self.patterned or text in ("*", "?", "[")

    def expand(self, text: str, *, quoted: bool = False) -> None:
        self.chars.append((text, EXPANDED))
        self.unknown = True
        self.split = self.split or not (quoted or text in _NUMBERS) or text in _LISTS

    def put(self, value: Word, written: str, *, quoted: bool) -> None:
        """The value of a variable, which is known."""
        if value.kind is WordKind.GLOB and not value.home:
            self.chars += [(char, char if char in "*?[]" else QUOTED) for char in value.text]
            self.split = self.split or not quoted
            self.valued = True
        elif value.kind is WordKind.LITERAL and (quoted or _PLAIN.fullmatch(value.text)):
            self.home = value.text if value.home else self.home
            self.add(value.text, quoted=True)
        else:
            self.expand(written, quoted=quoted)


def assignment_of(written: str, word: Word) -> Assignment | None:
    """The assignment that a word before the command is; None where it is none. Raises Unreadable for an element."""
    found = _ASSIGNMENT.match(written)
    if found is None:
        if re.match(r"[A-Za-z_][A-Za-z0-9_]*\[", written) and "=" in written:
            raise Unreadable("it sets an element of a list")
        return None
    value = word.text[found.end() :]
    return Assignment(found[1], Word(value, WordKind.LITERAL if word.known else WordKind.UNKNOWN))


class WordParser:
    """Reads words at a cursor.

    `substitution` reads commands up to a bracket; `nested` reads those of a line of its own. `values` are the known
    values of variables. `variables` gathers the names of all others.
    """

    def __init__(
        self,
        at: Cursor,
        substitution: Callable[[], str | None],
        nested: Callable[[str], None],
        dialect: Dialect,
        values: Mapping[str, Word],
    ) -> None:
        self._at = at
        self._substitution = substitution
        self._nested = nested
        self._portable = dialect == PORTABLE
        self._values = values
        self.variables: list[str] = []

    def read(self) -> Word:
        """The word that begins here, unknown where braces make several of it. Raises Unreadable."""
        words = self.read_all()
        return words[0] if len(words) == 1 else Word("".join(word.text for word in words), WordKind.UNKNOWN)

    def read_all(self) -> list[Word]:
        """What bash makes of the word that begins here: several with braces, and none of empty ones."""
        at, word = self._at, _Gathered()
        begin = at.position
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
        if at.looking_at("<", ">") and re.fullmatch(r"\{[A-Za-z_].*\}", written := at.since(begin)):
            raise Unreadable(f"{written} may set a variable to the number of a file")
        shape = "".join(shape for _, shape in word.chars)
        if self._portable and (_BRACES.search(shape) or (_NOT_PORTABLE.search(shape) and shape not in ("[", "]"))):
            raise Unreadable("not every shell reads its braces or file patterns in the same way")
        if self._portable and (found := _ASSIGNMENT.match(shape)) and found[2]:
            raise Unreadable("not every shell knows +=")
        return _words(word)

    def read_expansions(self) -> None:
        """All that is expanded in the rest of the text, which is no command: that of a here-document."""
        at, word = self._at, _Gathered()
        while not at.ended:
            if at.peek() == "\\":
                at.advance(2)
            else:
                self._inside(word)

    def _inside(self, word: _Gathered) -> None:
        """One piece of a text where only $ and ` are special."""
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
                if word.chars and word.chars[-1][0] == "$":
                    raise Unreadable("a line break follows a $")
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
            raise Unreadable("a line break follows a $")
        if at.looking_at("["):
            raise Unreadable("it computes with $[…]")
        if self._portable and at.looking_at("'", '"') and not in_quotes:
            raise Unreadable("not every shell knows $'…' and $\"…\"")
        if at.looking_at("'") and not in_quotes:
            at.advance()
            return word.add(self._ansi(), quoted=True)
        if at.looking_at('"') and not in_quotes:
            at.advance()
            self._double_quoted(word)
            return word.expand("", quoted=True)
        if at.looking_at("(("):
            if at.match(_ARITHMETIC) is None:
                raise Unreadable("it computes with more than numbers, in $((…))")
        elif at.take("("):
            prints = self._substitution()
            if in_quotes and prints is not None:
                return word.add(prints, quoted=True)
            word.expand(at.since(begin), quoted=in_quotes)
            return None
        elif at.looking_at("{"):
            braced = at.match(_PORTABLE_BRACED if self._portable else _BRACED)
            if braced is None:
                raise Unreadable("it expands a variable in a way that is not plain, with ${…}")
            name = re.sub(rf"^\{{#?({_NAME})?.*$", r"\1", braced[0])
            return self._variable(word, name, at.since(begin), plain=braced[0] == f"{{{name}}}", in_quotes=in_quotes)
        elif (parameter := at.match(_PARAMETER)) is None:
            return word.add("$", quoted=in_quotes)
        else:
            return self._variable(word, parameter[0], at.since(begin), plain=True, in_quotes=in_quotes)
        return word.expand(at.since(begin), quoted=in_quotes)

    def _variable(self, word: _Gathered, name: str, written: str, *, plain: bool, in_quotes: bool) -> None:
        value = self._values.get(name) if plain else None
        if value is not None:
            return word.put(value, written, quoted=in_quotes)
        if name.isidentifier() and name not in self.variables:
            self.variables.append(name)
        return word.expand(written, quoted=in_quotes)

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
            if self._portable and (char == "\\" or (in_quotes and char == '"')):
                raise Unreadable("not every shell reads quotes between backquotes in the same way")
            line += at.advance() if char == "\\" and at.peek() and at.peek() in special else char
        self._nested(line)
        word.expand(at.since(begin), quoted=in_quotes)

    def _pipe(self, word: _Gathered) -> None:
        if self._portable:
            raise Unreadable("not every shell knows <(…) and >(…)")
        begin = self._at.position
        self._at.advance(2)
        self._substitution()
        alone = not word.chars
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


# ── what the shell makes of a word ──────────────────────────────────────────────────────────────


def _words(gathered: _Gathered) -> list[Word]:
    text = "".join(text for text, _ in gathered.chars)
    shape = "".join(shape for _, shape in gathered.chars)
    if gathered.pipe:
        return [Word(text, WordKind.PIPE)]
    if gathered.unknown and re.search(r"\{.*\.\..*\}", shape, re.DOTALL):
        raise Unreadable("it has a range in braces that is not plain")
    if gathered.unknown:
        return [Word(text, WordKind.UNKNOWN, split=gathered.split or "{" in shape)]
    if gathered.home:
        return [Word(text, home=True) if text == gathered.home else Word(text, WordKind.UNKNOWN)]
    if not _BRACES.search(shape):
        return [_word(gathered.chars, gathered)]
    if "$" in shape:
        raise Unreadable("a $ beside braces, which may form the name of a variable")
    made = _braces(gathered.chars)
    if made is None:
        return [Word(text, WordKind.UNKNOWN, split=True)]
    return [_word(chars, gathered) for chars in made if chars]


def _word(chars: list[_Char], whole: _Gathered) -> Word:
    """A word where only ~ and file patterns are expanded."""
    text, shape = "".join(text for text, _ in chars), "".join(shape for _, shape in chars)
    if _TILDE_IN_ASSIGNMENT.match(shape):
        return Word(text, WordKind.UNKNOWN)
    home = False
    if shape.startswith("~"):
        if shape not in ("~",) and not shape.startswith("~/"):
            return Word(text, WordKind.UNKNOWN)
        home = True
    if not _PATTERN.search(shape):
        return Word(text, WordKind.LITERAL, home)
    return Word(text, WordKind.GLOB, home, whole.split, whole.valued and not (whole.split or whole.patterned))


def _braces(chars: list[_Char]) -> list[list[_Char]] | None:
    """The words that bash makes of braces; None where that is not certain, or there are too many."""
    shape = [shape for _, shape in chars]
    if "{" not in shape:
        return None if "}" in shape else [chars]
    begin = shape.index("{")
    if "}" in shape[:begin]:
        return None
    parts, end = _parts(chars, begin)
    if end is None:
        return None
    inner: list[list[_Char]] = []
    if len(parts) == 1:
        written = "".join(shape for _, shape in parts[0])
        found = _RANGE.fullmatch(written)
        if found is None and ".." in written:
            raise Unreadable("it has a range in braces that is not plain")
        if found is None:
            return None
        first, last = int(found[1]), int(found[2])
        if abs(last - first) >= MOST_WORDS:
            raise Unreadable(f"braces make more than {MOST_WORDS} words of one")
        step = 1 if last >= first else -1
        inner = [[(char, QUOTED) for char in str(number)] for number in range(first, last + step, step)]
    else:
        for part in parts:
            made = _braces(part)
            if made is None:
                return None
            inner += made
    rest = _braces(chars[end + 1 :])
    if rest is None:
        return None
    if len(inner) * len(rest) > MOST_WORDS:
        raise Unreadable(f"braces make more than {MOST_WORDS} words of one")
    return [[*chars[:begin], *one, *other] for one in inner for other in rest]


def _parts(chars: list[_Char], begin: int) -> tuple[list[list[_Char]], int | None]:
    """The parts between the commas of the braces that open at `begin`, and their end."""
    parts: list[list[_Char]] = [[]]
    depth = 0
    for number, char in enumerate(chars[begin:], start=begin):
        shape = char[1]
        depth += {"{": 1, "}": -1}.get(shape, 0)
        if depth == 0:
            return parts, number
        if number == begin:
            continue
        if shape == "," and depth == 1:
            parts.append([])
        else:
            parts[-1].append(char)
    return parts, None


def unquoted(word: Word) -> Word:
    """The same word where the shell splits nothing and expands no file patterns."""
    if word.kind is not WordKind.GLOB:
        return replace(word, split=False)
    if word.split or word.single:
        return replace(word, split=False, single=True)
    return replace(word, kind=WordKind.LITERAL)
