"""One interaction repeated among others while nothing changes: a weak sign of a loop."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from harness.events import Loop, Projection
from harness.policies.loops.digests import digest
from harness.policies.loops.repeats import CallMark


@dataclass(frozen=True, slots=True)
class StagnationSnapshot:
    """The window as it was at some moment."""

    steps: tuple[tuple[str, ...], ...]
    last: tuple[tuple[str, tuple[str, CallMark]], ...]


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
        self._last: dict[str, tuple[str, CallMark]] = {}
        """By action its interaction and its description."""

    def observe(self, step: Mapping[str, tuple[str, CallMark]], *, changed: bool) -> None:
        """Add a step.

        Args:
            step: by action its interaction and its description; without polls.
            changed: a call of it changed something. Such a step is not part of the window.
        """
        if changed:
            self.clear()
            return
        if any(self._last.get(action, now)[0] != now[0] for action, now in step.items()):
            self.clear()
        if len(self._steps) == self._steps.maxlen:
            self._drop()
        self._last.update(step)
        self._steps.append(tuple(step))
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
        return StagnationSnapshot(tuple(self._steps), tuple(self._last.items()))

    def restore(self, snapshot: StagnationSnapshot) -> None:
        """Be as at the snapshot; the window stays as long as it is now."""
        window = self._steps.maxlen or 1
        self.clear()
        self._last = dict(snapshot.last)
        self._steps = deque(snapshot.steps, maxlen=max(window, len(snapshot.steps)))
        for step in snapshot.steps:
            for action in step:
                self._counts[action] = self._counts.get(action, 0) + 1
        self.resize(window)

    def _drop(self) -> None:
        for action in self._steps.popleft():
            self._counts[action] -= 1
            if not self._counts[action]:
                del self._counts[action], self._last[action]

    def _loop(self, action: str) -> Loop:
        _, mark = self._last[action]
        return Loop(
            projection=Projection.STAGNATION,
            signature=digest(Projection.STAGNATION, action),
            period=1,
            copies=self._counts[action],
            summary=mark.summary,
            tools=(mark.tool,),
            failing=mark.failing,
            error=mark.error,
            weak=True,
        )
