"""One interaction again and again among others, while nothing is changed: a weak sign of going in circles (3.5)."""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass

from harness.escape.digests import digest
from harness.escape.observations import Call
from harness.events import Loop, Projection


@dataclass(frozen=True, slots=True)
class StagnationSnapshot:
    """The window as it was at some moment."""

    steps: tuple[Mapping[str, Call], ...]


class Stagnation:
    """The interactions of the last steps.

    Args:
        window: steps that are looked at.
    """

    def __init__(self, window: int) -> None:
        self._steps: deque[Mapping[str, Call]] = deque(maxlen=window)
        """Of each step the calls that are not polls, by interaction."""
        self._counts: Counter[str] = Counter()

    def see(self, calls: Mapping[str, Call]) -> None:
        """One more step with its calls by interaction. A call that changed something begins a new window."""
        if any(call.mutates and call.ok for call in calls.values()):
            self.clear()
            return
        if len(self._steps) == self._steps.maxlen:
            self._drop()
        self._steps.append(calls)
        for interaction in calls:
            self._counts[interaction] += 1

    def clear(self) -> None:
        """Forget everything."""
        self._steps.clear()
        self._counts.clear()

    def loops(self, copies: int) -> tuple[Loop, ...]:
        """The interactions that came `copies` times, most often first."""
        if len(self._steps) < copies:
            return ()
        often = [(count, name) for name, count in self._counts.items() if count >= copies]
        return tuple(self._loop(name, count) for count, name in sorted(often, reverse=True))

    def most(self) -> int:
        """How often the most frequent interaction came."""
        return max(self._counts.values(), default=0)

    def resize(self, window: int) -> None:
        """Look at this many steps from now on."""
        self._refill(list(self._steps), window)

    def snapshot(self) -> StagnationSnapshot:
        """What can be given to `restore` later."""
        return StagnationSnapshot(tuple(self._steps))

    def restore(self, snapshot: StagnationSnapshot, window: int) -> None:
        """Be as at the snapshot."""
        self._refill(list(snapshot.steps), window)

    def _refill(self, steps: list[Mapping[str, Call]], window: int) -> None:
        self._steps = deque(steps[-window:], maxlen=window)
        self._counts = Counter(interaction for step in self._steps for interaction in step)

    def _drop(self) -> None:
        for interaction in self._steps.popleft():
            self._counts[interaction] -= 1
            if not self._counts[interaction]:
                del self._counts[interaction]

    def _loop(self, interaction: str, count: int) -> Loop:
        call = next(step[interaction] for step in reversed(self._steps) if interaction in step)
        return Loop(
            projection=Projection.STAGNATION,
            signature=digest(Projection.STAGNATION, call.action),
            period=1,
            copies=count,
            summary=call.summary or call.tool,
            tools=(call.tool,),
            failing=not call.ok,
            error=call.error_class if not call.ok else None,
            weak=True,
        )
