"""Is the end of a stream one word again and again? Exact, at every symbol, for every word up to a longest one.

The run of a lag p is how many symbols at the end are the same as the one p before them. The stream ends in k whole
copies of a word of p symbols exactly where the run of p is (k - 1) * p or more (resilience 3.5). How long a loop has
been going on costs nothing, and no window cuts it off (B2).

All lags are worked on at once: a set of lags is an integer, lag p its bit p. The lags at which a symbol matches follow
from its last occurrence, which knows its own: the last one lies q back, and whatever lay r before that one lies q + r
back. The runs are counted in binary, one integer for each binary digit of all of them, so that one more symbol is a
few additions with carry, and comparing every run with a length of its own is a few more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

MOST = 256
"""The longest word that any tail can look for."""
_DIVISORS = tuple(sum(1 << d for d in range(1, p) if p % d == 0) for p in range(MOST + 1))


class Wanted:
    """For each period the least run that makes a loop.

    Args:
        runs: at p, from 1 on, the one of period p; what stands at 0 does not matter.
    """

    __slots__ = ("digits", "runs")

    def __init__(self, runs: Sequence[int]) -> None:
        self.runs = tuple(runs)
        self.digits = tuple(
            sum((run >> digit & 1) << period for period, run in enumerate(self.runs) if period)
            for digit in range(max(self.runs, default=0).bit_length())
        )
        """The binary digits of all of them, lowest first."""


@dataclass(frozen=True, slots=True)
class TailSnapshot:
    """A tail as it was at some moment."""

    longest: int
    seen: int
    symbols: tuple[str | None, ...]
    matches: tuple[int, ...]
    digits: tuple[int, ...]


class Tail:
    """The end of one stream of symbols.

    Args:
        longest: symbols of the longest word that is looked for, at most `MOST`.
    """

    __slots__ = ("_digits", "_lags", "_matches", "_seen", "_symbols", "longest")

    def __init__(self, longest: int = 64) -> None:
        self.restore(TailSnapshot(longest, 0, (), (), ()))

    @property
    def seen(self) -> int:
        """Symbols so far."""
        return self._seen

    def clear(self) -> None:
        """Forget everything: the next symbol is the first one."""
        self.restore(TailSnapshot(self.longest, 0, (), (), ()))

    def push(self, symbol: str | None) -> None:
        """One more symbol. None is one that equals nothing, itself neither."""
        matches = 0
        lag = 0 if symbol is None else self.last(symbol)
        if lag:
            symbol = self._symbols[lag - 1]  # equal, and already in memory
            matches = (self._matches[lag - 1] | 1) << lag & self._lags
        if matches == self._alive:
            matches = self._alive  # as in a loop: one number in memory for all of it
        self._symbols.insert(0, symbol)
        self._matches.insert(0, matches)
        del self._symbols[self.longest :], self._matches[self.longest :]
        self._seen += 1
        self._count(matches)

    def last(self, symbol: str) -> int:
        """How many symbols ago it came last, 1 for the last one; 0: not among the last `longest` ones."""
        return self._symbols.index(symbol) + 1 if symbol in self._symbols else 0

    def run(self, period: int) -> int:
        """Symbols at the end that are the same as the one `period` before them."""
        return sum((digit >> period & 1) << place for place, digit in enumerate(self._digits))

    def copies(self, period: int) -> int:
        """Whole copies of a word of `period` symbols at the end; 1 where nothing repeats."""
        return self.run(period) // period + 1

    def since(self, period: int) -> int:
        """Number, from 0, of the symbol with which the run of `period` began. It stays while the run goes on."""
        return self._seen - self.run(period)

    def shortest(self, wanted: Wanted) -> int:
        """The period of the shortest word whose run is as long as wanted; 0: there is none.

        A word that is itself copies of a shorter one is none: "aa" three times is "a" six times.
        """
        if not self._digits:
            return 0
        enough = self._alive
        for run, least in zip_longest(self._digits, wanted.digits, fillvalue=0):
            differ = run ^ least  # where they do not, the lower digits have decided
            enough = enough & ~differ | run & differ
        return next((period for period in _lags(enough & self._alive) if self._primitive(period)), 0)

    def periods(self) -> tuple[int, ...]:
        """The periods that have a run, shortest first."""
        return tuple(_lags(self._alive))

    def word(self, period: int) -> tuple[str, ...]:
        """The last `period` symbols, oldest first; those that equal nothing are left out."""
        newest_first = self._symbols[:period]
        return tuple(symbol for symbol in reversed(newest_first) if symbol is not None)

    def resize(self, longest: int) -> None:
        """Look for words of up to `longest` symbols from now on. The runs of periods that stay are kept."""
        now = self.snapshot()
        lags = _all_lags(longest)
        matches = tuple(one & lags for one in now.matches[:longest])
        digits = tuple(digit & lags for digit in now.digits)
        self.restore(TailSnapshot(longest, now.seen, now.symbols[:longest], matches, digits))

    def snapshot(self) -> TailSnapshot:
        """What can be given to `restore` later."""
        return TailSnapshot(self.longest, self._seen, tuple(self._symbols), tuple(self._matches), tuple(self._digits))

    def restore(self, snapshot: TailSnapshot) -> None:
        """Be as at the snapshot, its longest period included."""
        if not 1 <= snapshot.longest <= MOST:
            raise ValueError(f"longest must be from 1 to {MOST}, not {snapshot.longest}")
        self.longest = snapshot.longest
        """Symbols of the longest word that is looked for."""
        self._lags = _all_lags(snapshot.longest)
        self._seen = snapshot.seen
        self._symbols = list(snapshot.symbols)
        """The last ones, newest first."""
        self._matches = list(snapshot.matches)
        """Of each of them the lags at which it matched."""
        self._digits = list(snapshot.digits)
        """The runs of all lags in binary, lowest digit first."""

    @property
    def _alive(self) -> int:
        return self._matches[0] if self._matches else 0

    def _count(self, matches: int) -> None:
        """One more for the lags that match; the others begin at 0 again."""
        counted, carry = [], matches
        for digit in self._digits:
            counted.append(digit & matches ^ carry)
            carry &= digit
        counted.append(carry)
        while counted and not counted[-1]:
            counted.pop()
        self._digits = counted

    def _primitive(self, period: int) -> bool:
        """No shorter word whose length divides the period has been coming for as long."""
        whole = self.run(period) + period
        return not any(self.run(one) + one >= whole for one in _lags(self._alive & _DIVISORS[period]))


def _all_lags(longest: int) -> int:
    return (2 << longest) - 2


def _lags(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
