"""Declared polls: they may repeat within their limits (docs/design/loops.md#polls)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from harness.events import Loop, Projection
from harness.policies.loops.digests import digest
from harness.policies.loops.observations import ObservedCall, Poll
from harness.policies.loops.repeats import CallMark, mark_of

MOST_POLLS = 16
"""Polls that are watched; the one that was asked longest ago leaves."""


@dataclass(frozen=True, slots=True)
class Watched:
    """An active poll."""

    action: str
    mark: CallMark
    limits: Poll
    """What the last call declared."""
    answer: str
    """Digest of the last result; a failure is another one than a success."""
    since: float
    """When this answer came for the first time."""
    at: float
    """When it was asked last."""
    same: int = 1
    """Times in a row that it gave this answer."""
    hurried: int = 0
    """Times in a row that it came too early."""

    @property
    def overdue(self) -> bool:
        """The same answer has come for longer than it may."""
        return self.at - self.since > self.limits.total_s


@dataclass(frozen=True, slots=True)
class PollsSnapshot:
    """The polls as they were at some moment."""

    watched: tuple[Watched, ...]
    answers: tuple[tuple[str, str], ...]


class Polls:
    """The polls that are under way."""

    def __init__(self) -> None:
        self._watched: dict[str, Watched] = {}
        """By action, the last asked one last."""
        self._answers: dict[str, str] = {}
        """By action the last answer, also of those that are not under way."""

    def observe(self, calls: Iterable[ObservedCall]) -> bool:
        """The polls of one step. Returns whether any of them had news."""
        news = False
        for call in {one.action: one for one in calls}.values():
            answer = digest(call.result, "ok" if call.ok else "failed")
            news = news or self._answers.get(call.action) != answer
            _newest(self._answers, call.action, answer)
            _newest(self._watched, call.action, _asked(self._watched.get(call.action), call, answer))
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
        self._watched = {one.action: one for one in snapshot.watched}
        self._answers = dict(snapshot.answers)


Value = TypeVar("Value")


def _newest(values: dict[str, Value], key: str, value: Value) -> None:
    """Keep a value as the newest of at most `MOST_POLLS`."""
    values.pop(key, None)
    values[key] = value
    if len(values) > MOST_POLLS:
        del values[next(iter(values))]


def _asked(before: Watched | None, call: ObservedCall, answer: str) -> Watched:
    limits = call.poll or Poll()
    since, same, hurried = call.at, 1, 0
    if before is not None:
        hurried = before.hurried + 1 if call.at - before.at < limits.every_s else 0
        if before.answer == answer:
            since, same = before.since, before.same + 1
    return Watched(call.action, mark_of(call), limits, answer, since, call.at, same, hurried)


def _loop(one: Watched, copies: int, *, weak: bool) -> Loop:
    return Loop(
        projection=Projection.POLL,
        signature=digest(Projection.POLL, one.action),
        period=1,
        copies=copies,
        summary=one.mark.summary,
        tools=(one.mark.tool,),
        failing=one.mark.failing,
        error=one.mark.error,
        weak=weak,
    )
