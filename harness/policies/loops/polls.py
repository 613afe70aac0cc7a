"""Polls and waits: a call that is repeated until something happens is not a loop (docs/design/loops.md#polls).

A declared poll may repeat within its limits. Other calls are classified by their command lines (`CallKind`), and a
model that waits by polling is advised how to wait, then slowed down, then stopped:

| call | is part of a wait |
|---|---|
| asks for a status, or waits and then reads | always |
| waits and then works, such as `sleep 5; ./check` | while it succeeds |
| reads, such as `git status` | within three steps of a question, or `spaced_s` after the same answer |
| works | never; it ends the wait |

A wait lasts while its calls return nothing new. From the fourth equal answer on there is advice (at 4, 8, 16, …), a
pause that doubles at the others, and the end when the answer has been the same for `total_s`. Times are those of the
calls.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import TypeVar

from harness.events import Loop, Projection
from harness.policies.loops.digests import digest
from harness.policies.loops.observations import CallKind, ObservedCall, Poll
from harness.policies.loops.repeat_detector import CallMark, mark_of

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
        """The polls of one step. Returns whether any of them had a new answer."""
        new = False
        for call in {one.action: one for one in calls}.values():
            answer = digest(call.result, "ok" if call.ok else "failed")
            new = new or self._answers.get(call.action) != answer
            _newest(self._answers, call.action, answer)
            _newest(self._watched, call.action, _asked(self._watched.get(call.action), call, answer))
        return new

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


MOST_STEPS = 3
"""Steps after a question in which reads belong to the wait."""
MOST_WAITS = 16
"""Questions that are tracked; the least recent one is dropped."""
PATIENT = Poll(every_s=0.0, total_s=inf)
"""A part of a wait as the detectors see it: a poll that is never late."""


@dataclass(frozen=True, slots=True)
class WaitLimits:
    copies: int = 4
    """Equal answers in a row from which a wait is handled."""
    spaced_s: float = 10.0
    """Seconds between two reads with the same answer that make them a wait."""
    longest_pause_s: float = 60.0
    """Longest distance, in seconds, that is enforced between two questions."""
    total_s: float = 3_600.0
    """Seconds for which the same answer may return."""


@dataclass(frozen=True, slots=True)
class WaitAdvice:
    """Advise the model how to wait."""

    summary: str
    same: int
    """Equal answers in a row."""


@dataclass(frozen=True, slots=True)
class WaitPause:
    """Pause before the next model call."""

    summary: str
    same: int
    seconds: float


@dataclass(frozen=True, slots=True)
class WaitOver:
    """The wait has reached its limit."""

    summary: str
    same: int
    waited_s: float


@dataclass(frozen=True, slots=True)
class _Question:
    answer: str
    since: float
    """When this answer came for the first time."""
    at: float
    distance_s: float
    """Since the time before, without a pause of ours; 0: there was none."""
    same: int
    summary: str
    action: str
    paused_s: float = 0.0
    """The pause that followed."""


class Waits:
    """The waits of one agent."""

    def __init__(self) -> None:
        self._asked: dict[str, _Question] = {}
        """By action, the most recent question last."""
        self._looks = 0
        """Further steps in which reads belong to the wait."""
        self._now: tuple[str, ...] = ()
        """The questions of the last step."""

    def sorted(self, calls: Iterable[ObservedCall], spaced_s: float) -> tuple[ObservedCall, ...]:
        """The calls of one step for the detectors: parts of a wait become patient polls."""
        now: list[str] = []
        seen: list[ObservedCall] = []
        self._looks = max(0, self._looks - 1)
        for call in calls:
            if call.poll is not None:
                seen.append(call)
                continue
            if not self._is_wait(call, spaced_s):
                if call.kind is not CallKind.LOOKS:
                    self._looks = 0
                    self._asked.clear()
                elif call.ok:
                    self._note(call)
                seen.append(call)
                continue
            if call.kind is not CallKind.LOOKS:
                self._looks = MOST_STEPS + 1
            self._note(call)
            now.append(call.action)
            seen.append(replace(call, ok=True, error="", error_class=None, mutates=False, poll=PATIENT))
        self._now = tuple(now)
        return tuple(seen)

    def due(self, limits: WaitLimits) -> WaitAdvice | WaitPause | WaitOver | None:
        """What to do about the wait after the last step, if anything. Call it once after each step: a pause is taken as
        made."""
        asked = [self._asked[action] for action in self._now if action in self._asked]
        if not asked:
            return None
        one = min(asked, key=lambda each: each.same)  # a new answer of any of them is progress
        waited = one.at - one.since
        if one.same < limits.copies:
            return None
        if waited > limits.total_s:
            return WaitOver(one.summary, one.same, waited)
        doubled, rest = divmod(one.same, limits.copies)
        if not rest and doubled & (doubled - 1) == 0:
            return WaitAdvice(one.summary, one.same)
        wanted = min(limits.longest_pause_s, 2.0 ** min(one.same - limits.copies, 30))
        if one.distance_s >= wanted:
            return None
        pause = WaitPause(one.summary, one.same, wanted - one.distance_s)
        self._asked[one.action] = replace(one, paused_s=pause.seconds)
        return pause

    def forget(self) -> None:
        """Start again, after a prompt of the user."""
        self._asked.clear()
        self._looks = 0
        self._now = ()

    def _is_wait(self, call: ObservedCall, spaced_s: float) -> bool:
        match call.kind:
            case CallKind.ASKS:
                return True
            case CallKind.WAITS:
                return call.ok
            case CallKind.LOOKS:
                before = self._asked.get(call.action)
                again = before is not None and before.answer == _answer(call) and call.at - before.at >= spaced_s
                return self._looks > 0 or again
            case CallKind.WORKS:
                return False

    def _note(self, call: ObservedCall) -> None:
        before, answer = self._asked.pop(call.action, None), _answer(call)
        since, distance, same = call.at, 0.0, 1
        if before is not None:
            distance = max(0.0, call.at - before.at - before.paused_s)
            if before.answer == answer:
                since, same = before.since, before.same + 1
        self._asked[call.action] = _Question(answer, since, call.at, distance, same, call.summary, call.action)
        if len(self._asked) > MOST_WAITS:
            del self._asked[next(iter(self._asked))]


def _answer(call: ObservedCall) -> str:
    return digest(call.result, "ok" if call.ok else "failed")
