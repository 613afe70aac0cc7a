"""Polls and waits: a call that is repeated until something happens is not a loop (docs/design/loops.md#polls).

A declared poll may repeat within its limits. Other calls are classified by their command lines (`CallKind`), and a
model that waits by polling is advised how to wait, then slowed down, then stopped:

| call | is part of a wait |
|---|---|
| asks for a status, or waits and then reads | always |
| waits and then works, such as `sleep 5; ./check` | while it succeeds |
| reads, such as `git status` | within three steps of a question, or `wait_spaced_s` after the same answer |
| works | never; it ends the wait |

A wait lasts while its calls return nothing new. From the fourth equal answer on there is advice (at 4, 8, 16, …), a
pause that doubles at the others, and the end when the answer has been the same for `wait_total_s`. Times are those of
the calls.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from math import inf

from harness.events import Loop, Projection
from harness.policies.loops.digests import digest
from harness.policies.loops.limits import LoopLimits
from harness.policies.loops.observations import CallKind, ObservedCall, Poll
from harness.policies.loops.repeat_detector import mark_of

MOST_ASKED = 16
"""Calls whose answers are compared; the one that was made longest ago is dropped."""
MOST_STEPS = 3
"""Reads belong to the wait for this many steps after a question."""
PATIENT = Poll(every_s=0.0, total_s=inf)
"""A part of a wait as the detectors see it: a poll that is never late."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A repeated call: the last one, and how often in a row it gave this answer."""

    call: ObservedCall
    answer: str
    """Digest of the result; a failure differs from a success."""
    since: float
    """When this answer came for the first time."""
    same: int = 1
    """Times in a row that it gave this answer; 0: other work was done since, and all waiting begins anew."""
    hurried: int = 0
    """Times in a row that it came earlier than its poll allows."""
    distance_s: float = 0.0
    """Since the time before, without a pause of ours; 0: there was none."""
    paused_s: float = 0.0
    """The pause that followed."""

    @property
    def waited_s(self) -> float:
        return self.call.at - self.since


class Answers(dict[str, Asked]):
    """The last answers, by action; the newest last."""

    def note(self, call: ObservedCall) -> bool:
        """Note a call. Returns whether its answer differs from the one before."""
        before, answer = self.pop(call.action, None), _answer(call)
        now = Asked(call, answer, call.at)
        if before is not None and before.same:
            distance = call.at - before.call.at
            hurried = before.hurried + 1 if distance < (call.poll or PATIENT).every_s else 0
            now = replace(now, hurried=hurried, distance_s=max(0.0, distance - before.paused_s))
            if before.answer == answer:
                now = replace(now, since=before.since, same=before.same + 1)
        self[call.action] = now
        if len(self) > MOST_ASKED:
            del self[next(iter(self))]
        return before is None or before.answer != answer


class Polls:
    """The declared polls of one agent."""

    def __init__(self) -> None:
        self._asked = Answers()

    def observe(self, calls: Iterable[ObservedCall]) -> bool:
        """Observe the polls of one step. Returns whether any of them had a new answer."""
        changed = [self._asked.note(call) for call in {one.action: one for one in calls}.values()]
        return any(changed)

    def restart(self) -> None:
        """Other work was done: all waiting begins anew."""
        for action, one in self._asked.items():
            if one.same:
                self._asked[action] = replace(one, same=0, hurried=0)

    def clear(self) -> None:
        self._asked.clear()

    def loops(self, copies: int) -> tuple[Loop, ...]:
        """The polls beyond their limits: those that took too long before those that came too early.

        Args:
            copies: times in a row from which on coming too early counts.
        """
        overdue = {action for action, one in self._asked.items() if one.same and one.waited_s > _limits(one).total_s}
        hurried = [one for action, one in self._asked.items() if one.hurried >= copies and action not in overdue]
        late = [_loop(one, one.same, weak=False) for action, one in self._asked.items() if action in overdue]
        return (*late, *(_loop(one, one.hurried, weak=True) for one in hurried))

    def most_hurried(self) -> int:
        """Times in a row that the most hurried poll came too early."""
        return max((one.hurried for one in self._asked.values()), default=0)

    def snapshot(self) -> tuple[Asked, ...]:
        """The state, for `restore`."""
        return tuple(self._asked.values())

    def restore(self, snapshot: tuple[Asked, ...]) -> None:
        self._asked = Answers((one.call.action, one) for one in snapshot)


class WaitMeasure(Enum):
    """The measure against a wait."""

    ADVISE = "the model is advised how to wait"
    PAUSE = "a pause before the next model call"
    END = "the turn ends"


@dataclass(frozen=True, slots=True)
class WaitDue:
    """A measure that is due."""

    measure: WaitMeasure
    summary: str
    """The call in one line."""
    same: int
    """Equal answers in a row."""
    seconds: float = 0.0
    """Of the pause; at the end, how long the answer has been the same."""


class Waits:
    """The waits of one agent."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start again, after a prompt of the user."""
        self._asked = Answers()
        self._looks = 0
        """Reads belong to the wait for this many further steps."""
        self._now: list[str] = []
        """The questions of the last step."""

    def sorted(self, calls: Iterable[ObservedCall], spaced_s: float) -> tuple[ObservedCall, ...]:
        """The calls of one step for the detectors: parts of a wait become patient polls."""
        self._looks = max(0, self._looks - 1)
        self._now = []
        return tuple([call if call.poll is not None else self._sorted(call, spaced_s) for call in calls])

    def due(self, limits: LoopLimits) -> WaitDue | None:
        """What to do about the wait after the last step, if anything. Call it once after each step: a pause is taken as
        made."""
        asked = [self._asked[action] for action in self._now if action in self._asked]
        one = min(asked, key=lambda each: each.same, default=None)  # a new answer of any of them is progress
        copies = limits.thresholds.poll_copies
        if one is None or one.same < copies:
            return None
        summary = one.call.summary
        if one.waited_s > limits.wait_total_s:
            return WaitDue(WaitMeasure.END, summary, one.same, one.waited_s)
        doubled, rest = divmod(one.same, copies)
        if not rest and doubled & (doubled - 1) == 0:
            return WaitDue(WaitMeasure.ADVISE, summary, one.same)
        wanted = min(limits.wait_pause_s, 2.0 ** min(one.same - copies, 30)) - one.distance_s
        if wanted <= 0:
            return None
        self._asked[one.call.action] = replace(one, paused_s=wanted)
        return WaitDue(WaitMeasure.PAUSE, summary, one.same, wanted)

    def _sorted(self, call: ObservedCall, spaced_s: float) -> ObservedCall:
        reads = call.kind is CallKind.LOOKS
        if not self._is_wait(call, spaced_s):
            if not reads:
                self._looks = 0
                self._asked.clear()
            elif call.ok:
                self._asked.note(call)
            return call
        if not reads:
            self._looks = MOST_STEPS + 1
        self._asked.note(call)
        self._now.append(call.action)
        return replace(call, ok=True, error="", error_class=None, mutates=False, poll=PATIENT)

    def _is_wait(self, call: ObservedCall, spaced_s: float) -> bool:
        match call.kind:
            case CallKind.ASKS:
                return True
            case CallKind.WAITS:
                return call.ok
            case CallKind.LOOKS:
                before = self._asked.get(call.action)
                same = before is not None and before.answer == _answer(call)
                return self._looks > 0 or (same and before is not None and call.at - before.call.at >= spaced_s)
            case CallKind.WORKS:
                return False


def _answer(call: ObservedCall) -> str:
    return digest(call.result, "ok" if call.ok else "failed")


def _limits(one: Asked) -> Poll:
    return one.call.poll or PATIENT


def _loop(one: Asked, copies: int, *, weak: bool) -> Loop:
    mark, action = mark_of(one.call), one.call.action
    said = (mark.summary, (mark.tool,), mark.failing, mark.error, weak)
    return Loop(Projection.POLL, digest(Projection.POLL, action), 1, copies, *said)
