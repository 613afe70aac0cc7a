"""Is the end of a stream one word again and again? Exact, at every symbol, for every word up to a longest one.

For each lag p the tail knows since when every symbol has been the same as the one p before it. That many symbols are
the run of p, and the stream ends in k whole copies of a word of p symbols exactly where run(p) >= (k - 1) * p
(resilience 3.5). How long a loop has been going on costs nothing, and no window cuts it off (B2).

The last `longest` symbols lie in a ring. Each symbol that is in it has a set of bits, one for each of its places, so
that turning this set by the place of a new symbol gives all lags at which it matches at once. Only where a run begins
is there anything to write down. A symbol that is new costs next to nothing, and so does a loop that goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TailSnapshot:
    """A tail as it was at some moment."""

    longest: int
    seen: int
    symbols: tuple[str | None, ...]
    alive: int
    since: tuple[int, ...]


class Tail:
    """The end of one stream of symbols.

    Args:
        longest: symbols of the longest word that is looked for.
    """

    __slots__ = ("_alive", "_longest", "_places", "_seen", "_since", "_symbols")

    def __init__(self, longest: int = 64) -> None:
        self._longest = longest
        self.clear()

    @property
    def longest(self) -> int:
        """Symbols of the longest word that is looked for."""
        return self._longest

    @property
    def seen(self) -> int:
        """Symbols so far."""
        return self._seen

    def clear(self) -> None:
        """Forget everything: the next symbol is the first one."""
        self._seen = 0
        self._symbols: list[str | None] = [None] * self._longest
        """The ring. It is filled downwards, so that the symbol p before lies p further up."""
        self._places: dict[str, int] = {}
        """Of each symbol of the ring the places, as bits."""
        self._alive = 0
        """Bit p: the last symbol was the same as the one p before it."""
        self._since = [0] * (self._longest + 1)
        """At p: the number of the symbol with which the run of p began; only where p is alive."""

    def push(self, symbol: str | None) -> None:
        """One more symbol. None is one that equals nothing, itself neither."""
        place = -self._seen % self._longest
        bit = 1 << place
        places = 0
        if symbol is not None:
            places = self._places.get(symbol, 0)
            self._start_runs(self._matches(places, place))
        else:
            self._alive = 0
        oldest = self._symbols[place]
        if oldest is not None and oldest != symbol:
            self._leave(oldest, bit)
        if symbol is not None:
            self._places[symbol] = places | bit
        self._symbols[place] = symbol
        self._seen += 1

    def knows(self, symbol: str) -> bool:
        """Whether it is among the last `longest` symbols."""
        return symbol in self._places

    def run(self, period: int) -> int:
        """Symbols at the end that are the same as the one `period` before them."""
        return self._seen - self._since[period] if self._alive >> period & 1 else 0

    def copies(self, period: int) -> int:
        """Whole copies of a word of `period` symbols at the end; 1 where nothing repeats."""
        return self.run(period) // period + 1

    def shortest(self, wanted: Sequence[int]) -> int:
        """The period of the shortest word whose run is as long as wanted; 0: there is none.

        A word that is itself copies of a shorter one is none: "aa" three times is "a" six times.

        Args:
            wanted: at p, from 1 to `longest`, the least run of p.
        """
        for period in self.periods():
            if self.run(period) >= wanted[period] and self._primitive(period):
                return period
        return 0

    def periods(self) -> list[int]:
        """The periods that have a run, shortest first."""
        found, alive = [], self._alive
        while alive:
            lowest = alive & -alive
            found.append(lowest.bit_length() - 1)
            alive ^= lowest
        return found

    def since(self, period: int) -> int:
        """Number, from 0, of the symbol with which the run of `period` began. It stays while the run goes on."""
        return self._since[period]

    def word(self, period: int) -> tuple[str, ...]:
        """The last `period` symbols, oldest first; those that equal nothing are left out."""
        newest = -(self._seen - 1) % self._longest
        symbols = (self._symbols[(newest + back) % self._longest] for back in range(period - 1, -1, -1))
        return tuple(symbol for symbol in symbols if symbol is not None)

    def snapshot(self) -> TailSnapshot:
        """What can be given to `restore` later."""
        return TailSnapshot(self._longest, self._seen, tuple(self._symbols), self._alive, tuple(self._since))

    def restore(self, snapshot: TailSnapshot) -> None:
        """Be as at the snapshot, its longest period included."""
        self._longest, self._seen, self._alive = snapshot.longest, snapshot.seen, snapshot.alive
        self._symbols, self._since, self._places = list(snapshot.symbols), list(snapshot.since), {}
        for place, symbol in enumerate(snapshot.symbols):
            if symbol is not None:
                self._places[symbol] = self._places.get(symbol, 0) | 1 << place

    def resize(self, longest: int) -> None:
        """Look for words of up to `longest` symbols from now on. The runs of periods that stay are kept."""
        before = self.snapshot()
        kept = min(before.seen, before.longest)
        last = [before.symbols[-(before.seen - back) % before.longest] for back in range(kept, 0, -1)]
        self._longest = longest
        self.clear()
        self._seen = before.seen - kept
        for symbol in last:
            self.push(symbol)
        stay = min(longest, before.longest)
        self._alive = before.alive & ((2 << stay) - 1)
        self._since[: stay + 1] = before.since[: stay + 1]

    def _matches(self, places: int, place: int) -> int:
        """The lags, as bits, from a symbol at `place` to its earlier places."""
        turned = (places >> place) | (places << (self._longest - place)) & (1 << self._longest) - 1
        return turned & ~1 | (turned & 1) << self._longest  # what is about to be overwritten is `longest` before

    def _start_runs(self, matches: int) -> None:
        begun = matches & ~self._alive
        while begun:
            lowest = begun & -begun
            self._since[lowest.bit_length() - 1] = self._seen
            begun ^= lowest
        self._alive = matches

    def _leave(self, symbol: str, bit: int) -> None:
        left = self._places[symbol] & ~bit
        if left:
            self._places[symbol] = left
        else:
            del self._places[symbol]

    def _primitive(self, period: int) -> bool:
        begin = self._since[period] - period
        return not any(
            period % shorter == 0 and self._alive >> shorter & 1 and self._since[shorter] - shorter <= begin
            for shorter in range(1, period // 2 + 1)
        )
