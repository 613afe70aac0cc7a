"""A place in a command line, and the here-documents that are still to come."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.permissions.shell.syntax import Unreadable

BLANKS = " \t"
METACHARACTERS = " \t\n;&|()<>"
DEEPEST = 20
"""Substitutions and groups inside one another."""

_BARE = re.compile(r"[^\s;&|()<>'\"\\$`]+")
_DIGITS = re.compile(r"[0-9]*")
_DELIMITER = re.compile(r"'([^'\n]*)'|\"([^\"\\$`\n]*)\"|\\?([A-Za-z0-9_]+)")
_STRANGE = re.compile("[\x00-\x08\x0b-\x1f\x7f]|(?![ \t\n])\\s")
"""Control characters, and spaces that only some systems take for one."""


@dataclass(frozen=True, slots=True)
class _Heredoc:
    delimiter: str
    literal: bool
    strip: bool


class Cursor:
    """The current position. `depth` is how deep inside another line this one is."""

    def __init__(self, text: str, depth: int = 0) -> None:
        if strange := _STRANGE.search(text):
            raise Unreadable(f"it has the character {strange[0]!r} in it")
        self._text = text
        self.position = 0
        self.depth = depth
        self._heredocs: list[_Heredoc] = []
        self._waiting_outside = False
        self.documents = 0
        """Here-documents that were read."""

    @property
    def ended(self) -> bool:
        """Nothing is left."""
        return self.position >= len(self._text)

    def peek(self) -> str:
        """The next character; empty at the end."""
        return self._text[self.position : self.position + 1]

    def looking_at(self, *beginnings: str, after: int = 0) -> bool:
        """One of these comes next, or after so many characters."""
        return self._text.startswith(beginnings, self.position + after)

    def advance(self, count: int = 1) -> str:
        """Read so many characters."""
        self.position += count
        return self._text[self.position - count : self.position]

    def take(self, text: str) -> bool:
        """Read `text` if it comes next."""
        if not self.looking_at(text):
            return False
        self.position += len(text)
        return True

    def expect(self, text: str) -> None:
        """Read `text`. Raises Unreadable where it does not come next."""
        if not self.take(text):
            raise Unreadable(f"a {text!r} is missing")

    def until(self, text: str) -> str:
        """Read up to `text` and past it; returns the text before it. Raises Unreadable where there is none."""
        end = self._text.find(text, self.position)
        if end < 0:
            raise Unreadable(f"a {text!r} is missing")
        found = self._text[self.position : end]
        self.position = end + len(text)
        return found

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The next text, consumed if it matches."""
        found = pattern.match(self._text, self.position)
        if found is not None:
            self.position = found.end()
        return found

    def since(self, begin: int) -> str:
        """The text from `begin` up to here."""
        return self.between(begin, self.position)

    def between(self, begin: int, end: int) -> str:
        """The text from `begin` to `end`."""
        return self._text[begin:end].strip(BLANKS + "\n")

    def digits(self) -> str:
        """The digits that come next, not read yet."""
        found = _DIGITS.match(self._text, self.position)
        return found[0] if found else ""

    def bare_word(self) -> str:
        """The word that comes next if nothing in it is quoted or expanded, not read yet; else empty."""
        found = _BARE.match(self._text, self.position)
        if found is None or self._text[found.end() : found.end() + 1] in tuple("'\"\\$`"):
            return ""
        return found[0]

    def skip_blanks(self) -> None:
        """Read spaces, tabs, comments, and line breaks that a backslash takes back."""
        while True:
            begin = self.position
            while self.peek() and self.peek() in BLANKS:
                self.position += 1
            at_start = self.position == 0 or self._text[self.position - 1] in METACHARACTERS
            if self.peek() == "#" and at_start:
                while self.peek() not in ("", "\n"):
                    self.position += 1
            if self.looking_at("\\\n") and (self.position == 0 or self._text[self.position - 1] in BLANKS):
                self.position += 2
            if self.position == begin:
                return

    def skip_blank_lines(self, expand: Callable[[str], None]) -> None:
        """The same, and line breaks."""
        self.skip_blanks()
        while self.take("\n"):
            self.read_heredocs(expand)
            self.skip_blanks()

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level further inside."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable(f"it goes more than {DEEPEST} levels deep")
        yield
        self.depth -= 1

    def mark(self) -> tuple[int, int] | None:
        """This place, to read on from it once more; None where the text of a here-document is still to come."""
        return None if self._heredocs or self._waiting_outside else (self.position, self.depth)

    def reset(self, mark: tuple[int, int]) -> None:
        """Go to a place."""
        self.position, self.depth = mark
        self._heredocs = []

    # ── here-documents ──────────────────────────────────────────────────────────────────────────

    def begin_heredoc(self, *, strip: bool) -> None:
        """Note the delimiter behind a << ; the text follows after the next line break."""
        found = self.match(_DELIMITER)
        if found is None or not (self.ended or self.peek() in METACHARACTERS):
            raise Unreadable("the end of a here-document is not a plain word")
        literal = found[3] is None or found[0].startswith("\\")
        delimiter = next(part for part in found.groups() if part is not None)
        self._heredocs.append(_Heredoc(delimiter, literal, strip))

    def read_heredocs(self, expand: Callable[[str], None]) -> None:
        """Read the texts that begin here; `expand` gets each one that the shell expands."""
        if self._waiting_outside:
            raise Unreadable("a here-document begins inside a substitution")
        waiting, self._heredocs = self._heredocs, []
        for heredoc in waiting:
            body = self._body(heredoc)
            if not heredoc.literal:
                expand(body)

    def _body(self, heredoc: _Heredoc) -> str:
        lines: list[str] = []
        while not self.ended:
            end = self._text.find("\n", self.position)
            end = len(self._text) if end < 0 else end
            line = self._text[self.position : end]
            self.position = min(end + 1, len(self._text))
            if heredoc.strip:
                line = line.lstrip("\t")
            if line == heredoc.delimiter:
                self.documents += 1
                return "\n".join(lines)
            if not heredoc.literal and line.endswith("\\"):
                raise Unreadable("a line of a here-document continues on the next")
            lines.append(line)
        raise Unreadable(f"the here-document does not end with {heredoc.delimiter}")

    def require_no_heredoc(self) -> None:
        """Raises Unreadable where a here-document was begun and its text does not follow."""
        if self._heredocs:
            raise Unreadable("the text of a here-document is missing")

    @contextmanager
    def own_heredocs(self) -> Iterator[None]:
        """A substitution, whose here-documents end inside it."""
        outside, waiting = self._heredocs, self._waiting_outside
        self._heredocs, self._waiting_outside = [], waiting or bool(outside)
        yield
        self.require_no_heredoc()
        self._heredocs, self._waiting_outside = outside, waiting
