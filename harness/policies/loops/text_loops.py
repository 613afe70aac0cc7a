"""Repetition inside one reply: the same phrase, line or paragraph without end (docs/design/loops.md#repeated-text).

The tail of the text repeats while it matches the text one period before (`TextTail`); the kind of the repeated unit
decides how long it may (`kind_of`). Legitimate repetition ends: a refrain, a rule, a promise written a hundred times.
So the limits are lengths rather than copies: a unit of three characters needs a thousand copies, a paragraph four.
Waiting costs a few hundred tokens.

Copies that differ only in digits, such as "Step 12: do the same", count as copies but may last much longer, because
lists look like that. A number that gains a digit begins a new repetition.
"""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

_BASE = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_ZERO, _NINE = 48, 57
_PLACES = 8
"""Most candidate periods that are compared; "passed" and "failed" in some order give several for each character."""
_FURTHEST = 1_024
"""Most characters that are compared for one."""


class TextTail:
    """The end of a text, and the period with which it repeats.

    A rolling hash of the last `sign` characters is looked up among those of the text before. Of the places with the
    same hash, the one that matches furthest back gives the period to follow; while the text matches at that distance, a
    character costs one comparison. At the first mismatch the next period is looked for. One digit matches any other;
    `exact` counts what matches exactly.
    """

    __slots__ = (
        *("_before", "_codes", "_dropped", "_folded", "_hash", "_last", "_leaving", "_longest", "_sign"),
        *("exact", "lag", "matched"),
    )

    def __init__(self, *, longest: int, sign: int) -> None:
        """Args:
        longest: characters of the longest period.
        sign: characters that must occur twice before a period is followed.
        """
        self._longest = longest
        self._sign = sign
        self._leaving = pow(_BASE, sign, _MASK + 1)
        self._codes: list[int] = []
        self._folded: list[int] = []
        """The same with one digit for all digits."""
        self._before: list[int] = []
        """For each character, where the same hash ended before it; -1: nowhere."""
        self._dropped = 0
        self._hash = 0
        self._last: dict[int, int] = {}
        """Where each hash of `sign` characters ended last."""
        self.lag = 0
        """The period in characters; 0: nothing repeats."""
        self.matched = 0
        """Characters at the end that match those `lag` before."""
        self.exact = 0
        """Those of them after the last digit that differs."""

    @property
    def size(self) -> int:
        """Characters pushed so far."""
        return self._dropped + len(self._codes)

    def push(self, code: int) -> None:
        """Add one character, as its code point."""
        codes, folded = self._codes, self._folded
        sign = _ZERO if _ZERO <= code <= _NINE else code
        codes.append(code)
        folded.append(sign)
        size = len(codes)
        hashed = self._hash * _BASE + sign
        if size > self._sign:
            hashed -= folded[-self._sign - 1] * self._leaving
        self._hash = hashed = hashed & _MASK
        if self.lag:
            before = size - 1 - self.lag
            if folded[before] != sign:
                self.lag = self.matched = self.exact = 0
            else:
                self.matched += 1
                self.exact = self.exact + 1 if codes[before] == code else 0
        self._before.append(self._last.get(hashed, -1))
        if size < self._sign:
            return
        self._last[hashed] = self._dropped + size
        if not self.lag and (places := self._places()):
            self._follow(self._best(places))
        if size >= 3 * self._longest:
            self._forget()

    def last(self, count: int) -> str:
        """The last `count` characters. At least two of the longest periods are kept."""
        return "".join(map(chr, self._codes[-count:] if count else ()))

    def _places(self) -> list[int]:
        """Distances at which the same hash occurred, nearest first."""
        size = self.size
        places: list[int] = []
        ended = self._before[-1]
        while len(places) < _PLACES and ended >= max(self._sign, size - self._longest):
            places.append(size - ended)
            ended = self._before[ended - 1 - self._dropped]
        return places

    def _best(self, places: list[int]) -> int:
        length = 2 * self._sign
        while len(places) > 1 and length <= _FURTHEST:
            end = self._folded[-length:]
            places = [lag for lag in places if self._folded[-length - lag : -lag] == end] or places[:1]
            length *= 2
        return places[0]

    def _follow(self, lag: int) -> None:
        self.lag = lag
        self.matched = self._sign
        self.exact = self._exact_of_sign()

    def _exact_of_sign(self) -> int:
        now, then = self._codes[-self._sign :], self._codes[-self._sign - self.lag : -self.lag]
        differing = [place for place in range(self._sign) if now[place] != then[place]]
        return self._sign - 1 - differing[-1] if differing else self._sign

    def _forget(self) -> None:
        """Keep two of the longest periods. This happens once in as many characters, so that its cost is spread."""
        gone = len(self._codes) - 2 * self._longest
        del self._codes[:gone]
        del self._folded[:gone]
        del self._before[:gone]
        self._dropped += gone
        oldest = self.size - self._longest
        self._last = {hashed: ended for hashed, ended in self._last.items() if ended > oldest}


_FENCE = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?P<mark>`{3,}(?!.*`)|~{3,})(?P<info>.*)")
_CODE = re.compile(r"(?:\t| {4})\s*+(?!(?:[-*+•]|\d+[.)])\s)\S")
_ROW = re.compile(
    r"""
      \s*\|                                     # a row of a table
    | [^|]*\|[^|]*\|                            # one without outer bars
    | [^\t]*\t[^\t]*\t                          # columns set apart by tabs
    | \s*(?: [{}\]] | \[\s*[\[{"\d] | "[^"]*"\s*: )   # JSON
    | \s*[^\s,;]+(?:[,;][^\s,;]*){2,}\s*$       # values set apart by commas or semicolons, without spaces
    """,
    re.VERBOSE,
)
_BLOB = re.compile(r"[!-~]+")
LONGEST_HEAD = 200
"""Most characters of a line that are examined."""


class TextUnit(Enum):
    """The kind of a repeated unit."""

    WORDS = "words"
    """Prose for a reader."""
    SIGNS = "signs"
    """No words: rules, dots, digits, blobs."""
    DATA = "data"
    """Only code, tables and rows, which repeat by nature."""


class Fence:
    """Whether each line of a text is inside a fenced code block. An unclosed block lasts to the end."""

    __slots__ = ("_mark",)

    def __init__(self, mark: str = "") -> None:
        self._mark = mark

    @property
    def open(self) -> str:
        """The mark that opened the current block; empty: none."""
        return self._mark

    def observe(self, line: str) -> bool:
        """Add the next line. Returns whether it belongs to a block, fences included."""
        fence = _FENCE.match(line)
        if fence is None:
            return bool(self._mark)
        mark, info = fence["mark"], fence["info"]
        if not self._mark:
            self._mark = mark
        elif mark.startswith(self._mark) and not info.strip():
            self._mark = ""
        return True


class Blocks:
    """The code block of each place of a text, as far back as `reach` characters."""

    __slots__ = ("_changes", "_fence", "_reach")

    def __init__(self, reach: int) -> None:
        self._reach = reach
        self._fence = Fence()
        self._changes: deque[tuple[int, str]] = deque([(0, "")])

    def observe(self, line: str, end: int) -> None:
        """Add the next line, which ends before `end`."""
        self._fence.observe(line)
        if self._fence.open != self._changes[-1][1]:
            self._changes.append((end, self._fence.open))
        while len(self._changes) > 1 and self._changes[1][0] < end - self._reach:
            self._changes.popleft()

    def at(self, place: int) -> str:
        """The mark of the block at the line that begins at `place`; empty: none."""
        return next((mark for since, mark in reversed(self._changes) if since <= place), "")


def kind_of(two: str, head: str, block_at: Callable[[int], str]) -> TextUnit:
    """The kind of a repeated unit.

    Args:
        two: two copies of it, with any beginning.
        head: the beginning of the current line.
        block_at: the mark of the code block at a line that begins that many characters after the beginning of `two`;
            empty: none.
    """
    unit = two[len(two) // 2 :]
    if "\n" in unit:
        start = two.index("\n") + 1  # lines of which the beginning or the end is not there cannot be told
        lines = two[start:].split("\n")[:-1]
        telling = _telling(lines, block_at(start))
    else:
        lines = [head]
        telling = [unit for _ in _telling(lines, block_at(len(two)))]
    words = "".join(telling)
    if len(telling) < len(lines) and not words.strip():
        return TextUnit.DATA
    letters = {letter for letter in words if letter.isalpha()}
    return TextUnit.SIGNS if len(letters) < 2 or _BLOB.fullmatch(unit) else TextUnit.WORDS


def _telling(lines: list[str], mark: str) -> list[str]:
    """The lines that are neither code nor rows, of a text that begins inside the block that `mark` opened, if any."""
    fence = Fence(mark)
    return [line for line in lines if not _repeats_by_nature(line[:LONGEST_HEAD], fence)]


def _repeats_by_nature(head: str, fence: Fence) -> bool:
    return fence.observe(head) or bool(_CODE.match(head) or _ROW.match(head))


_ENDS = re.compile(r"\n+|[.!?]\s+|[。！？]\n*")
_GAPS = re.compile(r"\s+")
_NEVER = 1 << 62
_WIDE = 0x2E80
"""East Asian characters from here on count twice."""


@dataclass(frozen=True, slots=True)
class TextLimits:
    """How long a reply may repeat itself."""

    length: int = 3_000
    """Characters of repeated sentences. Seventy lines of forty characters, which a user may ask for, stay below it."""
    copies: int = 4
    """Whole copies, if they are longer than that: a chapter that occurs twice may be a comparison."""
    length_of_signs: int = 12_000
    """The same without words: rules, dots, zeros, base64. Failing models write "!!!!" without end."""
    length_of_numbered: int = 12_000
    """The same for copies that differ in digits. Three hundred numbered lines of forty characters are a list."""
    longest_period: int = 8_192
    """Characters of the longest unit. Bounds the memory: at most five megabytes."""
    sign: int = 16
    """Characters that must occur twice before a period is followed: less than a sentence, more than a name."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """The reply repeats itself."""

    period: int
    """Characters of one copy."""
    copies: int
    unit: str
    keep: int
    """Characters of the reply worth keeping: up to the end of the line or sentence nearest to the end of the first
    copy."""
    seen: int
    """Characters of the reply up to the verdict."""


class RepeatedText:
    """Observes one reply as it is streamed. The sizes of its pieces make no difference."""

    __slots__ = ("_blocks", "_check_at", "_head", "_limits", "_reported", "_tail")

    def __init__(self, limits: TextLimits = TextLimits()) -> None:
        self._limits = limits
        self._tail = TextTail(longest=limits.longest_period, sign=limits.sign)
        self._blocks = Blocks(2 * limits.longest_period)
        self._head = ""
        """Beginning of the current line."""
        self._check_at = 0
        """Matched length at which the unit is examined next."""
        self._reported = False

    def feed(self, piece: str) -> Repetition | None:
        """Add the next piece. Returns the verdict once, with the piece that completes it."""
        if self._reported:
            return None
        for character in piece:
            if (found := self._take(character)) is not None:
                self._reported = True
                return found
        return None

    def _take(self, character: str) -> Repetition | None:
        tail = self._tail
        tail.push(ord(character))
        if character == "\n":
            self._blocks.observe(self._head, tail.size)
            self._head = ""
        elif len(self._head) < LONGEST_HEAD:
            self._head += character
        if not tail.lag:
            return None
        if tail.matched == self._limits.sign:  # a period to follow has just been found
            self._check_at = max((self._limits.copies - 1) * tail.lag, self._limits.length // 2)
        return self._judge() if tail.matched >= self._check_at else None

    def _judge(self) -> Repetition | None:
        tail = self._tail
        two = tail.last(2 * tail.lag)
        kind = kind_of(two, self._head, lambda place: self._blocks.at(tail.size - len(two) + place))
        exact, numbered = self._wanted(kind, two[tail.lag :])
        missing = min(exact - tail.exact, numbered - tail.matched)
        if missing > 0:
            self._check_at = tail.matched + min(missing, tail.matched)
            return None
        return Repetition(
            period=tail.lag,
            copies=tail.matched // tail.lag + 1,
            unit=two[tail.lag :],
            keep=self._keep(),
            seen=tail.size,
        )

    def _wanted(self, kind: TextUnit, unit: str) -> tuple[int, int]:
        """How much is to match to the letter, and how much where digits may differ."""
        limits, period = self._limits, len(unit)
        match kind:
            case TextUnit.WORDS:
                width = period + sum(ord(character) >= _WIDE for character in unit)
                exact, numbered = limits.length * period // width, limits.length_of_numbered * period // width
            case TextUnit.SIGNS:
                exact, numbered = limits.length_of_signs, _NEVER
            case TextUnit.DATA:
                exact = numbered = _NEVER
        least = (limits.copies - 1) * period
        return max(exact, least), max(numbered, least)

    def _keep(self) -> int:
        """The end of the first copy, moved to where a reader would have ended it: a cycle has no beginning."""
        tail = self._tail
        begun = tail.matched % tail.lag
        copy = tail.last(tail.lag + begun)[: tail.lag]
        end = tail.size - tail.matched
        for ends in (_ENDS, _GAPS):
            if places := [found.end() for found in ends.finditer(copy + copy)]:
                return end + min((place - tail.lag for place in places), key=abs)
        return end
