"""The open conversations, with a breaker for each (docs/design/admission.md#conversation-breakers).

It is the breaker of the tools with another key and seconds instead of steps. A healthy conversation needs no entry.

`WatchList` chooses the conversations of each scan, if there are more than places (docs/design/admission.md#watch-list).
Most places go to the most recently active conversations; some are reserved for the longest unwatched of the others.
With them none waits longer than ceil(N / reserved) scans.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from harness.events import AdmissionEvent, ConversationBreakerChanged, WorkEnd
from harness.policies.breakers.breaker import HALF_OPEN, OPEN, Breaker, BreakerLimits

UNTROUBLED = Breaker()
"""Breaker of a conversation without failures."""


class ConversationBreakers:
    """The breakers of all conversations. Moments are Unix time in seconds.

    Args:
        limits: the numbers of the breakers, in seconds.
        sweep_every_s: between two sweeps.
        emit: receives each change of a breaker.
    """

    def __init__(self, limits: BreakerLimits, sweep_every_s: float, emit: Callable[[AdmissionEvent], None]) -> None:
        self._limits, self._sweep_every_s, self._emit = limits, sweep_every_s, emit
        self._known: dict[str, None] = {}
        self._breakers: dict[str, Breaker] = {}
        """Breakers of conversations whose last result was a failure."""
        self._swept = 0.0

    def configure(self, limits: BreakerLimits, sweep_every_s: float) -> None:
        """Use other numbers from the next failure and the next sweep on."""
        self._limits, self._sweep_every_s = limits, sweep_every_s

    # ── coming and going ────────────────────────────────────────────────────────────────────────

    def add(self, key: str, now: float) -> None:
        if not self._known:
            self._swept = now
        self._known.setdefault(key)

    def remove(self, key: str) -> bool:
        """Forget a conversation. Returns whether it was known."""
        self._breakers.pop(key, None)
        return key in self._known and self._known.pop(key) is None

    def clear(self) -> None:
        self._known.clear()
        self._breakers.clear()

    @property
    def sweep_at(self) -> float | None:
        """Moment of the next sweep; None: there are no conversations."""
        return self._swept + self._sweep_every_s if self._known else None

    def gone(self, existing: Collection[str], now: float) -> tuple[str, ...]:
        """Known conversations that no longer exist. The next sweep is a whole interval from now."""
        self._swept = now
        there = frozenset(existing)
        return tuple(key for key in self._known if key not in there)

    # ── how they fare ───────────────────────────────────────────────────────────────────────────

    def started(self, key: str, now: float) -> None:
        """Work starts; after a pause it is the one attempt."""
        breaker = self.breaker(key)
        if breaker.state is OPEN:
            self._put(key, breaker.probing(now, self._limits))

    def ended(self, key: str, ending: WorkEnd, now: float) -> None:
        """Work ended. Ignored for an unknown conversation."""
        breaker = self.breaker(key)
        if key not in self._known:
            return
        match ending:
            case WorkEnd.SUCCEEDED:
                self._put(key, breaker.succeeded())
            case WorkEnd.FAILED:
                self._put(key, breaker.failed(now, self._limits))
            case WorkEnd.CANCELLED:
                if breaker.state is HALF_OPEN:
                    self._put(key, breaker.released(now))

    def breaker(self, key: str) -> Breaker:
        return self._breakers.get(key, UNTROUBLED)

    def is_paused(self, key: str, now: float) -> bool:
        return (until := self.paused_until(key)) is not None and now < until

    def paused_until(self, key: str) -> float | None:
        """The end of its last pause; None: no pause, or its attempt is running."""
        return self.breaker(key).due

    @property
    def paused(self) -> tuple[str, ...]:
        """Those whose breaker is open."""
        return tuple(key for key, breaker in self._breakers.items() if breaker.state is OPEN)

    @property
    def with_failures(self) -> int:
        """Number of conversations with failures."""
        return len(self._breakers)

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __len__(self) -> int:
        return len(self._known)

    def _put(self, key: str, breaker: Breaker) -> None:
        before = self.breaker(key)
        if breaker == before:
            return
        if breaker.failures:
            self._breakers[key] = breaker
        else:
            self._breakers.pop(key, None)
        self._emit(
            ConversationBreakerChanged(key, before.state, breaker.state, breaker.why, breaker.failures, breaker.due)
        )


@dataclass(frozen=True, slots=True)
class _Watched:
    activity: float
    since: int
    """Number of the scan that included it last, or after which it was added."""
    arrival: int
    """Order of arrival, if two have waited equally long."""


class WatchList:
    """The conversations and their last scans.

    Args:
        cap: conversations in one scan; 0: none.
        reserved: places for the longest unwatched; at least one unless the cap is 0.
    """

    def __init__(self, cap: int, reserved: int) -> None:
        self._cap, self._reserved = cap, reserved
        self._watched: dict[str, _Watched] = {}
        self._scans = 0
        self._came = 0

    def configure(self, cap: int, reserved: int) -> None:
        """Use other numbers from the next scan on."""
        self._cap, self._reserved = cap, reserved

    def add(self, key: str, at: float) -> None:
        """Add a conversation; a known one was active."""
        if key in self._watched:
            self.active(key, at)
            return
        self._came += 1
        self._watched[key] = _Watched(at, self._scans, self._came)

    def active(self, key: str, at: float) -> None:
        """A known conversation was active at this moment."""
        if (one := self._watched.get(key)) and at > one.activity:
            self._watched[key] = replace(one, activity=at)

    def remove(self, key: str) -> None:
        self._watched.pop(key, None)

    def clear(self) -> None:
        self._watched.clear()

    def scan(self) -> tuple[str, ...]:
        """The conversations to look at now, the most recently active first, the longest unwatched last."""
        self._scans += 1
        chosen = self._chosen()
        for key in chosen:
            self._watched[key] = replace(self._watched[key], since=self._scans)
        return chosen

    def __len__(self) -> int:
        return len(self._watched)

    def _chosen(self) -> tuple[str, ...]:
        newest = sorted(self._watched.items(), key=lambda entry: (-entry[1].activity, *_waited(entry[1])))
        if len(newest) > self._cap:
            busy, others = newest[: self._cap - self._reserved], newest[self._cap - self._reserved :]
            newest = busy + sorted(others, key=lambda entry: _waited(entry[1]))[: self._reserved]
        return tuple(key for key, _ in newest)


def _waited(one: _Watched) -> tuple[int, int]:
    return one.since, one.arrival
