"""Declared polls: they may repeat, but neither faster than they say nor for ever (resilience B10)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from harness.escape.digests import digest
from harness.escape.observations import Call, Poll
from harness.events import Loop, Projection

MOST_POLLS = 16
"""Polls that are watched; the one that was asked longest ago leaves."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What is known of one poll."""

    call: Call
    """The last one."""
    since: float
    """When its last result came for the first time."""
    same: int = 1
    """Times in a row that it gave this result."""
    hurried: int = 0
    """Times in a row that it came too early."""

    @property
    def limits(self) -> Poll:
        """What the last call declared."""
        return self.call.poll or Poll()

    @property
    def overdue(self) -> bool:
        """The same result has come for longer than it may."""
        return self.call.at - self.since > self.limits.total_s


@dataclass(frozen=True, slots=True)
class PollsSnapshot:
    """The polls as they were at some moment."""

    watched: tuple[Watched, ...]
    answers: tuple[tuple[str, tuple[str, bool]], ...]


class Polls:
    """The polls that are under way."""

    def __init__(self) -> None:
        self._watched: dict[str, Watched] = {}
        """By action, the last asked one last."""
        self._answers: dict[str, tuple[str, bool]] = {}
        """By action the last result, and whether it was a success."""

    def see(self, calls: Iterable[Call]) -> bool:
        """The polls of one step. Returns whether any of them had news."""
        news = False
        for call in {one.action: one for one in calls}.values():
            news = news or self._answers.get(call.action) != (call.result, call.ok)
            _newest(self._answers, call.action, (call.result, call.ok))
            _newest(self._watched, call.action, _asked(self._watched.get(call.action), call))
        return news

    def restart(self) -> None:
        """Other work was done: all waiting begins anew."""
        self._watched.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._watched.clear()
        self._answers.clear()

    def loops(self, copies: int) -> tuple[Loop, ...]:
        """The polls that are beyond their limits: those that took too long before those that came too early.

        Args:
            copies: times in a row from which on coming too early counts.
        """
        overdue = [_loop(one, one.same, weak=False) for one in self._watched.values() if one.overdue]
        hurried = [
            _loop(one, one.hurried, weak=True)
            for one in self._watched.values()
            if one.hurried >= copies and not one.overdue
        ]
        return (*overdue, *hurried)

    def most_hurried(self) -> int:
        """Times in a row that the most hurried poll came too early."""
        return max((one.hurried for one in self._watched.values()), default=0)

    def snapshot(self) -> PollsSnapshot:
        """What can be given to `restore` later."""
        return PollsSnapshot(tuple(self._watched.values()), tuple(self._answers.items()))

    def restore(self, snapshot: PollsSnapshot) -> None:
        """Be as at the snapshot."""
        self._watched = {one.call.action: one for one in snapshot.watched}
        self._answers = dict(snapshot.answers)


Value = TypeVar("Value")


def _newest(values: dict[str, Value], key: str, value: Value) -> None:
    """Keep a value as the newest of at most `MOST_POLLS`."""
    values.pop(key, None)
    values[key] = value
    if len(values) > MOST_POLLS:
        del values[next(iter(values))]


def _asked(before: Watched | None, call: Call) -> Watched:
    if before is None:
        return Watched(call, call.at)
    early = call.at - before.call.at < (call.poll or Poll()).every_s
    hurried = before.hurried + 1 if early else 0
    if (before.call.result, before.call.ok) == (call.result, call.ok):
        return replace(before, call=call, same=before.same + 1, hurried=hurried)
    return Watched(call, call.at, hurried=hurried)


def _loop(one: Watched, copies: int, *, weak: bool) -> Loop:
    call = one.call
    return Loop(
        projection=Projection.POLL,
        signature=digest(Projection.POLL, call.action),
        period=1,
        copies=copies,
        summary=call.summary or call.tool,
        tools=(call.tool,),
        failing=not call.ok,
        error=call.error_class if not call.ok else None,
        weak=weak,
    )
