"""Streams of one projection: what repeats at the end of each, and from where on that is a loop (resilience 3.5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.events import ErrorClass, Loop, Projection
from harness.policies.loops.digests import digest
from harness.policies.loops.observations import Call
from harness.policies.loops.tail import Tail, TailSnapshot, Wanted

MOST_SHOWN = 4
"""Steps of a circle, or calls of a step, that a summary names."""


LONGEST_SUMMARY = 80
"""Characters of one call in it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One call as a person is told of it."""

    summary: str
    tool: str
    failing: bool = False
    error: ErrorClass | None = None
    """Of its failure."""
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
    marks: tuple[tuple[Mark, ...], ...]


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
        self._marks: list[tuple[Mark, ...]] = []
        """The calls of each of the last symbols, newest first."""
        self._found: tuple[int, int, Loop] | None = None
        """The last loop with its period and the beginning of its run: while it goes on, it is the same loop."""

    @property
    def failing(self) -> bool:
        """Nothing in the last symbol succeeded."""
        return bool(self._marks) and _failing(self._marks[0])

    def push(self, symbol: str | None, marks: tuple[Mark, ...] = ()) -> None:
        """One more symbol, and the calls that it stands for; None equals nothing. A symbol of no calls names itself."""
        self.tail.push(symbol)
        self._marks.insert(0, marks)
        del self._marks[self.tail.longest :]

    def clear(self) -> None:
        """Forget everything."""
        self.tail.clear()
        self._marks.clear()
        self._found = None

    def loop(self, wanted: Wanted) -> Loop | None:
        """The loop in which the stream ends."""
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

    def nearest(self, wanted: Wanted) -> Run:
        """What comes nearest to being a loop."""
        periods = self.tail.periods()
        if not periods:
            return Run(self.projection, 0, 0, wanted.runs[1])
        period = max(periods, key=lambda one: (self.tail.run(one) / wanted.runs[one], -one))
        return Run(self.projection, period, self.tail.run(period), wanted.runs[period])

    def resize(self, longest_period: int) -> None:
        """Find circles of up to this many symbols from now on."""
        self.tail.resize(longest_period)
        del self._marks[longest_period:]

    def snapshot(self) -> StreamSnapshot:
        """What can be given to `restore` later."""
        return StreamSnapshot(self.tail.snapshot(), tuple(self._marks))

    def restore(self, snapshot: StreamSnapshot) -> None:
        """Be as at the snapshot."""
        self.tail.restore(snapshot.tail)
        self._marks = list(snapshot.marks)
        self._found = None

    def _described(self, period: int) -> Loop:
        word = self.tail.word(period)
        marks = self._marks[period - 1 :: -1]
        calls = [mark for step in marks for mark in step]
        failing = _failing(calls)
        return Loop(
            projection=self.projection,
            signature=digest(self.projection, *least_rotation(word)),
            period=len({mark.step for mark in calls}) if self._single else period,
            copies=0,
            summary=_joined(" → ", [_summary(step) or name for step, name in zip(marks, word, strict=True)]),
            tools=tuple(dict.fromkeys([mark.tool for mark in calls])),
            failing=failing,
            error=calls[-1].error if failing else None,
            weak=self._weak,
        )


def wanted_runs(longest: int, *, copies: int, copies_cycle: int, least: int = 1) -> Wanted:
    """For each period up to the longest the matched length that makes a loop."""
    each = (max(least, ((copies if p == 1 else copies_cycle) - 1) * p) for p in range(1, longest + 1))
    return Wanted((0, *each))


def least_rotation(word: Sequence[str]) -> tuple[str, ...]:
    """The same for a circle wherever in it one begins: of all its rotations the first in the alphabet."""
    least = min(word, default="")
    # The first one begins with as many of the least as there are in a row.
    starts = [at for at, symbol in enumerate(word) if symbol == least and word[at - 1] != least]
    return min((*word[at:], *word[:at]) for at in starts) if starts else tuple(word)


def mark_of(call: Call) -> Mark:
    """What one call stands for."""
    error = None if call.ok else call.error_class
    return Mark((call.summary or call.tool)[:LONGEST_SUMMARY], call.tool, not call.ok, error, call.step)


def _failing(marks: Sequence[Mark]) -> bool:
    return bool(marks) and all(mark.failing for mark in marks)


def _summary(step: Sequence[Mark]) -> str:
    return _joined(" + ", [mark.summary for mark in step])


def _joined(between: str, parts: Sequence[str]) -> str:
    more = len(parts) - MOST_SHOWN
    return between.join([*parts[:MOST_SHOWN], f"{more} more"] if more > 0 else parts)
