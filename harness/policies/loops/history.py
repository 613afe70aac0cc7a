"""What the agent did last, for reports and screens. The detectors remember for themselves (resilience B2)."""

from collections import deque
from collections.abc import Iterator

from harness.policies.loops.observations import Call, Visit

Observation = Call | Visit


class History:
    """The last observations, oldest first; the oldest leave when it is full.

    Args:
        capacity: observations that are kept, at least 1.
    """

    def __init__(self, capacity: int = 100) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, not {capacity}")
        self._kept: deque[Observation] = deque(maxlen=capacity)
        self._recorded = 0

    def record(self, observation: Observation) -> None:
        """One more."""
        self._kept.append(observation)
        self._recorded += 1

    def last(self, count: int) -> tuple[Observation, ...]:
        """The last `count`, oldest first; fewer where there are fewer."""
        return tuple(self._kept)[-count:] if count > 0 else ()

    @property
    def dropped(self) -> int:
        """Observations that have left because it was full."""
        return self._recorded - len(self._kept)

    def clear(self) -> None:
        """Forget all of them."""
        self._kept.clear()
        self._recorded = 0

    def __iter__(self) -> Iterator[Observation]:
        return iter(tuple(self._kept))

    def __len__(self) -> int:
        return len(self._kept)
