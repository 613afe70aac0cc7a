"""How far the tail of a text repeats what stood one period before: constant time a character, bounded memory.

A rolling hash of the last few characters is looked up among those of the text before. Of the places where it stood,
the one that matches furthest back gives the period to follow, and as long as the text goes on matching at that
distance, following costs one comparison. At the first character that differs the next period is looked for.

One digit matches any other, so that "Step 12" matches "Step 13"; how much matches to the letter is counted besides.
"""

_BASE = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_ZERO, _NINE = 48, 57
_PLACES = 8
"""Most places that are compared. A circle of "passed" and "failed" in some order has several for each."""
_FURTHEST = 1_024
"""Most characters that are compared for it."""


class TextTail:
    """The end of a text, and the period with which it repeats."""

    __slots__ = (
        *("_before", "_codes", "_dropped", "_folded", "_hash", "_last", "_leaving", "_longest", "_sign"),
        *("exact", "lag", "matched"),
    )

    def __init__(self, *, longest: int, sign: int) -> None:
        """
        Args:
            longest: characters of the longest period.
            sign: characters that stand twice before a period is followed.
        """
        self._longest = longest
        self._sign = sign
        self._leaving = pow(_BASE, sign, _MASK + 1)
        self._codes: list[int] = []
        self._folded: list[int] = []
        """The same with one digit for all."""
        self._before: list[int] = []
        """For each character, where the same hash had ended before it; -1: nowhere."""
        self._dropped = 0
        self._hash = 0
        self._last: dict[int, int] = {}
        """Where each hash of `sign` characters ended last."""
        self.lag = 0
        """The period in characters; 0: nothing repeats."""
        self.matched = 0
        """Characters at the end that are what stood `lag` before."""
        self.exact = 0
        """Those of them after the last digit that is another."""

    @property
    def size(self) -> int:
        """Characters pushed so far."""
        return self._dropped + len(self._codes)

    def push(self, code: int) -> None:
        """Take one more character, as its code point."""
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
        """The last `count` characters: at least two of the longest periods are kept, or all there were."""
        return "".join(map(chr, self._codes[-count:] if count else ()))

    def _places(self) -> list[int]:
        """How far back the same sign stood, nearest first."""
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
        """Keep two of the longest periods. It happens once in as many characters, so that each of them pays little."""
        gone = len(self._codes) - 2 * self._longest
        del self._codes[:gone]
        del self._folded[:gone]
        del self._before[:gone]
        self._dropped += gone
        oldest = self.size - self._longest
        self._last = {hashed: ended for hashed, ended in self._last.items() if ended > oldest}
