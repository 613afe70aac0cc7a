"""A model that degenerates inside one reply: the same phrase, line or paragraph without an end.

What is looked at is the tail of the text: it repeats when it goes on matching what stood one period before
(`text_tail`), and what a repeated unit is decides how long that may last (`text_units`). Nothing legitimate is long
and says nothing new: a refrain, a laugh, a rule, a promise written a hundred times all end before the limits do,
whereas a model that has fallen into a circle stays there. So the limits are lengths rather than copies, and a unit of
three characters needs a thousand copies where a paragraph needs four. The price of waiting is a few hundred tokens.

Copies that differ in their digits alone, such as "Step 12: do the same", are taken for copies too, but must go on for
much longer, because lists are made like that. A number that grows by a digit begins a new circle.
"""

import re
from dataclasses import dataclass

from harness.policies.loops.text_tail import TextTail
from harness.policies.loops.text_units import LONGEST_HEAD, Blocks, Unit, kind_of

_ENDS = re.compile(r"\n+|[.!?]\s+|[。！？]\n*")
"""Of lines and sentences."""
_GAPS = re.compile(r"\s+")
_NEVER = 1 << 62
"""Longer than any reply."""
_WIDE = 0x2E80
"""From here on, characters are those of East Asia, which say as much as two."""


@dataclass(frozen=True, slots=True)
class TextLimits:
    """How long a reply may repeat itself."""

    length: int = 3_000
    """Characters of sentences that repeat what stood one period before, wide ones counted twice. Seventy times a line
    of forty characters, which somebody may have asked for, stay below it."""
    copies: int = 4
    """Whole copies, where they are longer than that: a chapter that comes twice may be meant as a comparison."""
    length_of_signs: int = 12_000
    """The same for what has no words: rules, dots, zeros, blobs of base64. Failing models write "!!!!" for ever."""
    length_of_numbered: int = 12_000
    """The same for copies that differ in their digits. Three hundred numbered lines of forty characters are a list."""
    longest_period: int = 8_192
    """Characters of the longest unit that is looked for. Memory is bounded by it: at most five megabytes."""
    sign: int = 16
    """Characters that must stand twice before a period is followed: fewer than make a sentence, more than a name."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """The reply repeats itself."""

    period: int
    """Characters of one copy."""
    copies: int
    """Whole copies so far."""
    unit: str
    """One copy, as long as it is."""
    keep: int
    """Characters of the reply that are worth keeping: up to the end of the line or sentence that is nearest to the end
    of the first copy."""
    seen: int
    """Characters of the reply up to and with the one that completed the verdict."""


class RepeatedText:
    """Watches one reply as it is streamed. How it is cut into pieces makes no difference."""

    __slots__ = ("_blocks", "_check_at", "_head", "_limits", "_tail", "_told")

    def __init__(self, limits: TextLimits = TextLimits()) -> None:
        self._limits = limits
        self._tail = TextTail(longest=limits.longest_period, sign=limits.sign)
        self._blocks = Blocks(2 * limits.longest_period)
        self._head = ""
        """How the line begins."""
        self._check_at = 0
        """How much is to match before a unit is looked at again."""
        self._told = False

    def feed(self, piece: str) -> Repetition | None:
        """Take the next piece of the reply.

        Returns:
            The verdict, once, with the piece that completes it; what comes after it is not looked at.
        """
        if self._told:
            return None
        for character in piece:
            if (found := self._take(character)) is not None:
                self._told = True
                return found
        return None

    def _take(self, character: str) -> Repetition | None:
        tail = self._tail
        tail.push(ord(character))
        if character == "\n":
            self._blocks.see(self._head, tail.size)
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

    def _wanted(self, kind: Unit, unit: str) -> tuple[int, int]:
        """How much is to match to the letter, and how much where digits may differ."""
        limits, period = self._limits, len(unit)
        match kind:
            case Unit.WORDS:
                width = period + sum(ord(character) >= _WIDE for character in unit)
                exact, numbered = limits.length * period // width, limits.length_of_numbered * period // width
            case Unit.SIGNS:
                exact, numbered = limits.length_of_signs, _NEVER
            case Unit.DATA:
                exact = numbered = _NEVER
        least = (limits.copies - 1) * period
        return max(exact, least), max(numbered, least)

    def _keep(self) -> int:
        """The end of the first copy, moved to where a reader would have ended it: a circle has no beginning."""
        tail = self._tail
        begun = tail.matched % tail.lag
        copy = tail.last(tail.lag + begun)[: tail.lag]
        end = tail.size - tail.matched
        for ends in (_ENDS, _GAPS):
            if places := [found.end() for found in ends.finditer(copy + copy)]:
                return end + min((place - tail.lag for place in places), key=abs)
        return end
