"""A text that a regular expression finds: for schemas with a `pattern`.

Understood are letters, escapes, classes, groups, alternatives and counts. A text is only given when the expression
really finds it; look-arounds and back-references usually make that fail.
"""

import re
from collections.abc import Iterator

_MOST = 200
"""Repetitions that are written out."""
_KINDS = {"d": "0123456789", "w": "abcdefghijklmnopqrstuvwxyz0123456789_", "s": " "}
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_ANY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ _-.:/@#"


def text_matching(pattern: str, nth: int = 0) -> str | None:
    """The `nth` of some texts that `pattern` finds; None where none is found this way."""
    for number in (nth, 0):
        try:
            text = _Reader(pattern, number).alternatives()
            if re.search(pattern, text) is not None:
                return text
        except (re.error, ValueError, IndexError):
            return None
    return None


class _Reader:
    """Reads an expression from left to right, and writes a text as it goes."""

    def __init__(self, pattern: str, nth: int) -> None:
        self._pattern = pattern
        self._at = 0
        self._nth = nth

    def alternatives(self) -> str:
        """The text of the first alternative that is not empty, up to the end of the group."""
        texts = [self._sequence()]
        while self._next() == "|":
            self._at += 1
            texts.append(self._sequence())
        chosen = [text for text in texts if text] or texts
        return chosen[self._nth % len(chosen)]

    def _sequence(self) -> str:
        pieces: list[str] = []
        while (char := self._next()) not in ("", "|", ")"):
            piece = self._piece(char)
            least, most = self._count()
            pieces.append(piece * max(least, min(1, most)))
        return "".join(pieces)

    def _piece(self, char: str) -> str:
        self._at += 1
        match char:
            case "(":
                return self._group()
            case "[":
                return self._one_of(self._members())
            case ".":
                return self._one_of(_ANY)
            case "^" | "$":
                return ""
            case "\\":
                return self._one_of("".join(self._escape()))
            case _:
                return char

    def _group(self) -> str:
        for opening in ("?:", "?P<", "?<"):
            if self._pattern.startswith(opening, self._at):
                if self._pattern[self._at + len(opening) : self._at + len(opening) + 1] in ("=", "!"):
                    raise ValueError("a look-around")
                self._at = self._pattern.index(">", self._at) + 1 if opening != "?:" else self._at + 2
                break
        else:
            if self._next() == "?":
                raise ValueError("a look-around")
        text = self.alternatives()
        self._at += 1  # the closing parenthesis
        return text

    def _members(self) -> str:
        inverted = self._next() == "^"
        self._at += inverted
        members: list[str] = []
        first = True
        while (char := self._next()) != "]" or first:
            first = False
            if not char:
                raise ValueError("a class without an end")
            self._at += 1
            chosen = list(self._escape()) if char == "\\" else [char]
            if self._next() == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                end = self._next()
                self._at += 1
                last = next(self._escape()) if end == "\\" else end
                chosen = [chr(code) for code in range(ord(chosen[0]), min(ord(last), ord(chosen[0]) + 200) + 1)]
            members += chosen
        self._at += 1
        if inverted:
            return "".join(char for char in _ANY if char not in members)
        return "".join(members)

    def _escape(self) -> Iterator[str]:
        char = self._next()
        self._at += 1
        if char in _KINDS:
            yield from _KINDS[char]
        elif char in ("D", "W", "S"):
            yield from (other for other in _ANY if not re.match(f"\\{char.lower()}", other))
        elif char in ("b", "B", "A", "Z"):
            return
        elif char.isdigit():
            raise ValueError("a back-reference")
        else:
            yield _ESCAPED.get(char, char)

    def _one_of(self, members: str) -> str:
        return members[self._nth % len(members)] if members else ""

    def _count(self) -> tuple[int, int]:
        char = self._next()
        least, most = {"?": (0, 1), "*": (0, _MOST), "+": (1, _MOST)}.get(char, (1, 1))
        if char in ("?", "*", "+") and char:
            self._at += 1
        elif counted := re.compile(r"\{(\d+)(,?)(\d*)\}").match(self._pattern, self._at):
            self._at = counted.end()
            least = int(counted[1])
            most = int(counted[3]) if counted[3] else (_MOST if counted[2] else least)
        else:
            return 1, 1
        if self._next() in ("?", "+"):
            self._at += 1
        return min(least, _MOST), min(most, _MOST)

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]
