"""A wait is no loop: whoever asks again and again how something stands is told how to wait, then held up, then ended.

Calls are sorted by what their command lines do (`Kind`), which is a fact that is handed in:

| call | is part of a wait |
|---|---|
| it asks how something stands, or it waits and then only looks | always |
| it waits and then works, such as `sleep 5; ./check` | while it succeeds |
| it only looks, such as `git status` | within three steps of a question, or `spaced_s` after the same answer |
| it works | never; it ends the wait |

A wait goes on while its calls bring nothing new. From the fourth same answer on there is something to do about it:
advice at 4, 8, 16, … answers, a pause that doubles at the others, and the end when the same answer has come for
`total_s`. There is no clock here: times are those of the calls.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

from harness.policies.loops.digests import digest
from harness.policies.loops.observations import Call, Kind, Poll

MOST_STEPS = 3
"""Steps after a question for which looks belong to the wait."""
MOST_WAITS = 16
"""Questions that are watched; the one that was asked longest ago leaves."""
PATIENT = Poll(every_s=0.0, total_s=inf)
"""How the detectors of loops see a part of a wait: as a poll that is never late."""


@dataclass(frozen=True, slots=True)
class WaitLimits:
    """The numbers of waits."""

    copies: int = 4
    """Same answers in a row from which on something is done."""
    spaced_s: float = 10.0
    """Seconds between two looks with the same answer from which on they are a wait."""
    longest_pause_s: float = 60.0
    """Seconds to which the distance of two questions is stretched."""
    total_s: float = 3_600.0
    """Seconds for which the same answer may come."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Tell the model how to wait."""

    summary: str
    same: int
    """Times in a row that the same answer came."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before the model is asked again."""

    summary: str
    same: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Over:
    """The wait has had its time."""

    summary: str
    same: int
    waited_s: float


@dataclass(frozen=True, slots=True)
class _Asked:
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
        self._asked: dict[str, _Asked] = {}
        """By action, what was asked last at the end."""
        self._looks = 0
        """Further steps for which mere looks belong to the wait."""
        self._now: tuple[str, ...] = ()
        """What was asked in the last step."""

    def sorted(self, calls: Iterable[Call], spaced_s: float) -> tuple[Call, ...]:
        """The calls of one step as the detectors of loops are to see them: parts of a wait as patient polls."""
        now: list[str] = []
        seen: list[Call] = []
        self._looks = max(0, self._looks - 1)
        for call in calls:
            if call.poll is not None:
                seen.append(call)
                continue
            if not self._is_wait(call, spaced_s):
                if call.kind is not Kind.LOOKS:
                    self._looks = 0
                    self._asked.clear()
                elif call.ok:
                    self._note(call)
                seen.append(call)
                continue
            if call.kind is not Kind.LOOKS:
                self._looks = MOST_STEPS + 1
            self._note(call)
            now.append(call.action)
            seen.append(replace(call, ok=True, error="", error_class=None, mutates=False, poll=PATIENT))
        self._now = tuple(now)
        return tuple(seen)

    def due(self, limits: WaitLimits) -> Advice | Pause | Over | None:
        """What to do about the wait after the last step; None: nothing, or the agent does not wait.

        To be asked once after each step: a pause is taken to be made.
        """
        asked = [self._asked[action] for action in self._now if action in self._asked]
        if not asked:
            return None
        one = min(asked, key=lambda each: each.same)  # news of any of them is news
        waited = one.at - one.since
        if one.same < limits.copies:
            return None
        if waited > limits.total_s:
            return Over(one.summary, one.same, waited)
        doubled, rest = divmod(one.same, limits.copies)
        if not rest and doubled & (doubled - 1) == 0:
            return Advice(one.summary, one.same)
        wanted = min(limits.longest_pause_s, 2.0 ** min(one.same - limits.copies, 30))
        if one.distance_s >= wanted:
            return None
        pause = Pause(one.summary, one.same, wanted - one.distance_s)
        self._asked[one.action] = replace(one, paused_s=pause.seconds)
        return pause

    def forget(self) -> None:
        """Begin anew: the user said something."""
        self._asked.clear()
        self._looks = 0
        self._now = ()

    def _is_wait(self, call: Call, spaced_s: float) -> bool:
        match call.kind:
            case Kind.ASKS:
                return True
            case Kind.WAITS:
                return call.ok
            case Kind.LOOKS:
                before = self._asked.get(call.action)
                again = before is not None and before.answer == _answer(call) and call.at - before.at >= spaced_s
                return self._looks > 0 or again
            case Kind.WORKS:
                return False

    def _note(self, call: Call) -> None:
        before, answer = self._asked.pop(call.action, None), _answer(call)
        since, distance, same = call.at, 0.0, 1
        if before is not None:
            distance = max(0.0, call.at - before.at - before.paused_s)
            if before.answer == answer:
                since, same = before.since, before.same + 1
        self._asked[call.action] = _Asked(answer, since, call.at, distance, same, call.summary, call.action)
        if len(self._asked) > MOST_WAITS:
            del self._asked[next(iter(self._asked))]


def _answer(call: Call) -> str:
    return digest(call.result, "ok" if call.ok else "failed")
