"""Streams of one projection: what repeats at the end of each, and from where on that is a loop (resilience 3.5)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from harness.escape.digests import digest
from harness.escape.tail import Tail, TailSnapshot
from harness.events import ErrorClass, Loop, Projection

MOST_SHOWN = 4
"""Steps of a circle that its summary names."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What one symbol stands for, for a person."""

    summary: str
    tools: tuple[str, ...] = ()
    failing: bool = False
    """Nothing in it succeeded."""
    error: ErrorClass | None = None
    step: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """How far a projection is from being a loop, for a screen."""

    projection: Projection
    period: int
    """Of what comes nearest to a loop; 0: nothing repeats."""
    matched: int
    """Symbols at the end that are the same as one period before them; for stagnation and polls, copies."""
    wanted: int
    """From where on that is a loop."""


@dataclass(frozen=True, slots=True)
class StreamSnapshot:
    """A stream as it was at some moment."""

    tail: TailSnapshot
    marks: tuple[Mark, ...]


class Stream:
    """One projection of what the agent does.

    Args:
        projection: which one.
        longest_period: symbols of the longest circle that is found.
        weak: its loops may be legitimate work.
        single: its symbols are single calls, of which one step may have several.
    """

    def __init__(
        self, projection: Projection, longest_period: int, *, weak: bool = False, single: bool = False
    ) -> None:
        self.projection = projection
        self.tail = Tail(longest_period)
        self._weak = weak
        self._single = single
        self._marks: deque[Mark] = deque(maxlen=longest_period)
        self._found: tuple[int, int, Loop] | None = None
        """The last loop with its period and the beginning of its run: while it goes on, it is the same loop."""

    @property
    def failing(self) -> bool:
        """Nothing in the last symbol succeeded."""
        return bool(self._marks) and self._marks[-1].failing

    def push(self, symbol: str | None, mark: Mark) -> None:
        """One more symbol; None equals nothing."""
        self.tail.push(symbol)
        self._marks.append(mark)

    def clear(self) -> None:
        """Forget everything."""
        self.tail.clear()
        self._marks.clear()
        self._found = None

    def loop(self, wanted: Sequence[int]) -> Loop | None:
        """The loop in which the stream ends.

        Args:
            wanted: for each period, from 1, the least matched length.
        """
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

    def nearest(self, wanted: Sequence[int]) -> Run:
        """What comes nearest to being a loop."""
        periods = self.tail.periods()
        if not periods:
            return Run(self.projection, 0, 0, wanted[1])
        period = max(periods, key=lambda one: (self.tail.run(one) / wanted[one], -one))
        return Run(self.projection, period, self.tail.run(period), wanted[period])

    def resize(self, longest_period: int) -> None:
        """Find circles of up to this many symbols from now on."""
        self.tail.resize(longest_period)
        self._marks = deque(self._marks, maxlen=longest_period)

    def snapshot(self) -> StreamSnapshot:
        """What can be given to `restore` later."""
        return StreamSnapshot(self.tail.snapshot(), tuple(self._marks))

    def restore(self, snapshot: StreamSnapshot) -> None:
        """Be as at the snapshot."""
        self.tail.restore(snapshot.tail)
        self._marks = deque(snapshot.marks, maxlen=self.tail.longest)
        self._found = None

    def _described(self, period: int) -> Loop:
        marks = list(self._marks)[-period:]
        return Loop(
            projection=self.projection,
            signature=digest(self.projection, least_rotation(self.tail.word(period))),
            period=len({mark.step for mark in marks}) if self._single else period,
            copies=0,
            summary=summary_of(marks),
            tools=tuple(dict.fromkeys(tool for mark in marks for tool in mark.tools)),
            failing=all(mark.failing for mark in marks),
            error=marks[-1].error if all(mark.failing for mark in marks) else None,
            weak=self._weak,
        )


def wanted_runs(longest: int, *, copies: int, copies_cycle: int, least: int = 1) -> tuple[int, ...]:
    """For each period up to the longest the matched length that makes a loop; at 0 there is none."""
    return (0, *(max(least, ((copies if p == 1 else copies_cycle) - 1) * p) for p in range(1, longest + 1)))


def least_rotation(word: Sequence[str]) -> str:
    """The same text for a circle wherever in it one begins: of all its rotations the first in the alphabet."""
    parts = [f"{len(symbol)}:{symbol};" for symbol in word]
    least = min(parts, default="")
    starts = [at for at, part in enumerate(parts) if part == least]
    return min(("".join(parts[at:]) + "".join(parts[:at]) for at in starts), default="")


def summary_of(marks: Sequence[Mark]) -> str:
    """One copy of a circle in one line."""
    shown = [mark.summary for mark in marks[:MOST_SHOWN]]
    more = len(marks) - len(shown)
    return " → ".join(shown) + (f" → {more} more" if more else "")
