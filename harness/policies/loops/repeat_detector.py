"""Repetition at the end of a stream of symbols, and the streams of the projections
(docs/design/loops.md#tail-repetition)."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.events import ErrorClass, Loop, Projection
from harness.policies.loops.digests import digest
from harness.policies.loops.observations import ObservedCall

MOST = 256
"""The longest word that any tail can look for."""

Wanted = tuple[int, ...]
"""By period, the least matched length that makes a loop; the entry at 0 is unused."""


@dataclass(frozen=True, slots=True)
class TailSnapshot:
    """A tail at some moment."""

    longest: int
    seen: int
    symbols: tuple[str | None, ...]
    runs: tuple[int, ...]


class RepeatTail:
    """The end of one stream of symbols, and how long it has repeated with each period.

    The run of a period is the number of symbols at the end that equal the symbol one period before. The stream ends in
    k whole copies of a word of p symbols exactly when the run of p is at least (k - 1) * p
    (docs/design/loops.md#tail-repetition).

    Args:
        longest: symbols of the longest word that is looked for, at most `MOST`.
    """

    __slots__ = ("_runs", "_symbols", "longest", "seen")

    def __init__(self, longest: int = 64) -> None:
        self.longest = longest
        self.clear()

    def clear(self) -> None:
        """Forget everything: the next symbol is the first one."""
        self.restore(TailSnapshot(self.longest, 0, (), (0,) * (self.longest + 1)))

    def push(self, symbol: str | None) -> None:
        """Add a symbol. None equals nothing, not even itself."""
        symbols, runs = self._symbols, self._runs
        for lag in range(1, self.longest + 1):
            same = symbol is not None and lag <= len(symbols) and symbols[-lag] == symbol
            runs[lag] = runs[lag] + 1 if same else 0
        symbols.append(symbol)
        del symbols[: -self.longest]
        self.seen += 1

    def last(self, symbol: str) -> int:
        """How many symbols ago it came last, 1 for the last one; 0: not among the last `longest` ones."""
        return next((ago for ago, one in enumerate(reversed(self._symbols), 1) if one == symbol), 0)

    def run(self, period: int) -> int:
        """Symbols at the end that equal the one `period` before them."""
        return self._runs[period]

    def copies(self, period: int) -> int:
        """Whole copies of a word of `period` symbols at the end; 1: nothing repeats."""
        return self._runs[period] // period + 1

    def since(self, period: int) -> int:
        """Number, from 0, of the symbol with which the run of `period` began."""
        return self.seen - self._runs[period]

    def shortest(self, wanted: Wanted) -> int:
        """The period of the shortest word whose run is as long as wanted; 0: there is none.

        A word that consists of copies of a shorter one does not count: "aa" three times is "a" six times.
        """
        periods = (period for period in self.periods() if self._runs[period] >= wanted[period])
        return next((period for period in periods if self._primitive(period)), 0)

    def periods(self) -> tuple[int, ...]:
        """The periods that have a run, shortest first."""
        return tuple(period for period, run in enumerate(self._runs) if run)

    def word(self, period: int) -> tuple[str, ...]:
        """The last `period` symbols, oldest first, without those that equal nothing."""
        return tuple(symbol for symbol in self._symbols[-period:] if symbol is not None)

    def resize(self, longest: int) -> None:
        """Look for words of up to `longest` symbols from now on. The runs of remaining periods are kept."""
        runs = (*self._runs, *[0] * longest)[: longest + 1]
        self.restore(TailSnapshot(longest, self.seen, tuple(self._symbols[-longest:]), runs))

    def snapshot(self) -> TailSnapshot:
        """The state, for `restore`."""
        return TailSnapshot(self.longest, self.seen, tuple(self._symbols), tuple(self._runs))

    def restore(self, snapshot: TailSnapshot) -> None:
        """Return to a snapshot, its longest period included."""
        if not 1 <= snapshot.longest <= MOST:
            raise ValueError(f"longest must be from 1 to {MOST}, not {snapshot.longest}")
        self.longest, self.seen = snapshot.longest, snapshot.seen
        self._symbols = list(snapshot.symbols)
        """The last ones, oldest first."""
        self._runs = list(snapshot.runs)

    def _primitive(self, period: int) -> bool:
        """No shorter word whose length divides the period has repeated for as long."""
        whole = self._runs[period] + period
        shorter = (one for one in range(1, period // 2 + 1) if period % one == 0 and self._runs[one])
        return not any(self._runs[one] + one >= whole for one in shorter)


MOST_SHOWN = 4
"""Steps of a cycle, or calls of a step, that a summary names."""


LONGEST_SUMMARY = 80
"""Characters of one call in a summary."""


@dataclass(frozen=True, slots=True)
class CallMark:
    """The description of one call."""

    summary: str
    tool: str
    failing: bool = False
    error: ErrorClass | None = None
    """Of its failure."""
    step: int = 0


@dataclass(frozen=True, slots=True)
class RepeatRun:
    """How near a projection is to a loop, for display."""

    projection: Projection
    period: int
    """Period that is nearest to a loop; 0: nothing repeats."""
    matched: int
    """Matched length; for stagnation and polls, copies."""
    wanted: int
    """Matched length of a loop."""


@dataclass(frozen=True, slots=True)
class StreamSnapshot:
    """A stream at some moment."""

    tail: TailSnapshot
    marks: tuple[tuple[CallMark, ...], ...]


class RepeatStream:
    """One projection of the agent's behaviour.

    Args:
        projection: which one.
        longest_period: symbols of the longest cycle that is found.
        weak: its loops may be legitimate work.
        single: its symbols are single calls; one step may have several.
    """

    def __init__(
        self, projection: Projection, longest_period: int, *, weak: bool = False, single: bool = False
    ) -> None:
        self.projection = projection
        self.tail = RepeatTail(longest_period)
        self._weak = weak
        self._single = single
        self._marks: list[tuple[CallMark, ...]] = []
        """The calls of each of the last symbols, newest first."""
        self._found: tuple[int, int, Loop] | None = None
        """The last loop with its period and the beginning of its run. As long as both are the same, it is the same
        loop."""

    @property
    def failing(self) -> bool:
        """Whether nothing in the last symbol succeeded."""
        return bool(self._marks) and _failing(self._marks[0])

    def push(self, symbol: str | None, marks: tuple[CallMark, ...] = ()) -> None:
        """Add a symbol and its calls; None equals nothing. A symbol without calls is its own name."""
        self.tail.push(symbol)
        self._marks.insert(0, marks)
        del self._marks[self.tail.longest :]

    def clear(self) -> None:
        self.tail.clear()
        self._marks.clear()
        self._found = None

    def loop(self, wanted: Wanted) -> Loop | None:
        """The loop at the end of the stream, if any."""
        period = self.tail.shortest(wanted)
        if not period:
            return None
        since, copies = self.tail.since(period), self.tail.copies(period)
        if self._found is None or self._found[:2] != (period, since):
            self._found = (period, since, self._described(period))
        one = self._found[2]
        return Loop(
            one.projection, one.signature, one.period, copies, one.summary, one.tools, one.failing, one.error, one.weak
        )

    def nearest(self, wanted: Wanted) -> RepeatRun:
        """The run that is nearest to a loop."""
        periods = self.tail.periods()
        if not periods:
            return RepeatRun(self.projection, 0, 0, wanted[1])
        period = max(periods, key=lambda one: (self.tail.run(one) / wanted[one], -one))
        return RepeatRun(self.projection, period, self.tail.run(period), wanted[period])

    def resize(self, longest_period: int) -> None:
        """Find cycles of up to this many symbols from now on."""
        self.tail.resize(longest_period)
        del self._marks[longest_period:]

    def snapshot(self) -> StreamSnapshot:
        return StreamSnapshot(self.tail.snapshot(), tuple(self._marks))

    def restore(self, snapshot: StreamSnapshot) -> None:
        self.tail.restore(snapshot.tail)
        self._marks = list(snapshot.marks)
        self._found = None

    def _described(self, period: int) -> Loop:
        word = self.tail.word(period)
        marks = self._marks[period - 1 :: -1]
        calls = [mark for step in marks for mark in step]
        failing = _failing(calls)
        steps = [_joined(" + ", [mark.summary for mark in step]) for step in marks]
        summaries = [summary or name for summary, name in zip(steps, word, strict=True)]
        return Loop(
            projection=self.projection,
            signature=digest(self.projection, *least_rotation(word)),
            period=len({mark.step for mark in calls}) if self._single else period,
            copies=0,
            summary=_joined(" → ", summaries),
            tools=tuple(dict.fromkeys([mark.tool for mark in calls])),
            failing=failing,
            error=calls[-1].error if failing else None,
            weak=self._weak,
        )


def wanted_runs(longest: int, *, copies: int, copies_cycle: int, least: int = 1) -> Wanted:
    """For each period up to the longest, the matched length of a loop."""
    each = (max(least, ((copies if p == 1 else copies_cycle) - 1) * p) for p in range(1, longest + 1))
    return (0, *each)


def least_rotation(word: Sequence[str]) -> tuple[str, ...]:
    """The alphabetically first rotation, which is the same wherever a cycle begins."""
    least = min(word, default="")
    # The first one begins with as many of the least as there are in a row.
    starts = [at for at, symbol in enumerate(word) if symbol == least and word[at - 1] != least]
    return min((*word[at:], *word[:at]) for at in starts) if starts else tuple(word)


def mark_of(call: ObservedCall) -> CallMark:
    error = None if call.ok else call.error_class
    return CallMark((call.summary or call.tool)[:LONGEST_SUMMARY], call.tool, not call.ok, error, call.step)


def _failing(marks: Sequence[CallMark]) -> bool:
    return bool(marks) and all(mark.failing for mark in marks)


def _joined(between: str, parts: Sequence[str]) -> str:
    more = len(parts) - MOST_SHOWN
    return between.join([*parts[:MOST_SHOWN], f"{more} more"] if more > 0 else parts)
