"""The numbers of the admission controller in one frozen, checked object."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf
from types import MappingProxyType

from harness.policies.breakers.breaker import BreakerLimits

RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "max_concurrent": (0, 1_000),
        "max_queue_size": (0, 10_000),
        "watch_cap": (0, 10_000),
        "reserved_percent": (1, 100),
        "failures_in_a_row": (1, 100),
        "pause_s": (0.001, 86_400.0),
        "longest_pause_s": (0.001, 86_400.0),
        "sweep_every_s": (0.001, 86_400.0),
    }
)
"""Range of each number."""


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """How much may run, wait and be watched. Raises ValueError, with one sentence, for a number out of range."""

    max_concurrent: int = 5
    """Running work; 0: none."""
    max_queue_size: int = 20
    """Queued work; 0: none."""
    watch_cap: int = 50
    """Conversations in one scan; 0: none."""
    reserved_percent: int = 20
    """Share of the watch cap for the longest unwatched conversations; at least one place."""
    failures_in_a_row: int = 5
    """Consecutive failures that pause a conversation."""
    pause_s: float = 60.0
    """The first pause, doubled for each further one until an attempt succeeds."""
    longest_pause_s: float = 300.0
    sweep_every_s: float = 60.0
    """Between two sweeps for conversations that no longer exist."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            least, most = RANGES[one.name]
            whole = isinstance(one.default, int)
            if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
                raise ValueError(f"{one.name} must be a {'whole number' if whole else 'number'}, not {value!r}")
            if not least <= value <= most:
                raise ValueError(f"{one.name} must be from {least} to {most}, not {value}")
        if self.longest_pause_s < self.pause_s:
            raise ValueError(f"longest_pause_s must be at least pause_s, which is {self.pause_s}")

    @property
    def reserved(self) -> int:
        """Places of a scan for the longest unwatched conversations."""
        return -(-self.watch_cap * self.reserved_percent // 100)

    @property
    def breaker(self) -> BreakerLimits:
        """The numbers of a conversation's breaker, in seconds. No attempt is lost: all work ends."""
        pauses = [self.pause_s]
        while pauses[-1] < self.longest_pause_s:
            pauses.append(min(pauses[-1] * 2, self.longest_pause_s))
        return BreakerLimits(self.failures_in_a_row, tuple(pauses), inf)
