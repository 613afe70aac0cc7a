"""One interaction again and again among others, while nothing changes: a weak sign of going in circles (3.5)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from harness.escape.digests import digest
from harness.escape.observations import Call
from harness.events import Loop, Projection


@dataclass(frozen=True, slots=True)
class StagnationSnapshot:
    """The window as it was at some moment."""

    steps: tuple[tuple[str, ...], ...]
    last: tuple[Call, ...]


class Stagnation:
    """The interactions of the last steps since something changed.

    Something changed when a call says so, and also when a call gives another result than it gave before.

    Args:
        window: steps that are looked at.
    """

    def __init__(self, window: int) -> None:
        self._steps: deque[tuple[str, ...]] = deque(maxlen=window)
        """The actions of each step; in the window each of them has one result."""
        self._counts: dict[str, int] = {}
        self._last: dict[str, Call] = {}
        """By action its last call."""

    def see(self, calls: Sequence[Call]) -> None:
        """The calls of one more step, without polls. One that changed something is itself no part of the window."""
        if any(call.mutates and call.ok for call in calls):
            self.clear()
            return
        if any(self._gave_another_result(call) for call in calls):
            self.clear()
        if len(self._steps) == self._steps.maxlen:
            self._drop()
        self._last.update({call.action: call for call in calls})
        self._steps.append(tuple({call.action: None for call in calls}))
        for action in self._steps[-1]:
            self._counts[action] = self._counts.get(action, 0) + 1

    def clear(self) -> None:
        """Forget everything."""
        self._steps.clear()
        self._counts.clear()
        self._last.clear()

    def loops(self, copies: int) -> tuple[Loop, ...]:
        """The interactions that came `copies` times, the most frequent first."""
        if len(self._steps) < copies:
            return ()
        often = [action for action, count in self._counts.items() if count >= copies]
        return tuple(self._loop(action) for action in sorted(often, key=lambda one: (-self._counts[one], one)))

    def most(self) -> int:
        """How often the most frequent interaction came."""
        return max(self._counts.values(), default=0)

    def resize(self, window: int) -> None:
        """Look at this many steps from now on."""
        while len(self._steps) > window:
            self._drop()
        self._steps = deque(self._steps, maxlen=window)

    def snapshot(self) -> StagnationSnapshot:
        """What can be given to `restore` later."""
        return StagnationSnapshot(tuple(self._steps), tuple(self._last.values()))

    def restore(self, snapshot: StagnationSnapshot) -> None:
        """Be as at the snapshot; the window stays as long as it is now."""
        window = self._steps.maxlen or 1
        self.clear()
        self._last = {call.action: call for call in snapshot.last}
        self._steps = deque(snapshot.steps, maxlen=max(window, len(snapshot.steps)))
        for step in snapshot.steps:
            for action in step:
                self._counts[action] = self._counts.get(action, 0) + 1
        self.resize(window)

    def _gave_another_result(self, call: Call) -> bool:
        before = self._last.get(call.action)
        return before is not None and (before.result, before.ok) != (call.result, call.ok)

    def _drop(self) -> None:
        for action in self._steps.popleft():
            self._counts[action] -= 1
            if not self._counts[action]:
                del self._counts[action], self._last[action]

    def _loop(self, action: str) -> Loop:
        call = self._last[action]
        return Loop(
            projection=Projection.STAGNATION,
            signature=digest(Projection.STAGNATION, action),
            period=1,
            copies=self._counts[action],
            summary=call.summary or call.tool,
            tools=(call.tool,),
            failing=not call.ok,
            error=call.error_class if not call.ok else None,
            weak=True,
        )
