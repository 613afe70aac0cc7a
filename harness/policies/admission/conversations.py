"""The conversations there are, and for each a breaker of its own.

It is the breaker of the tools with another key and other distances: seconds instead of steps. Five failures in a row
open it; the conversation rests for a minute, is given one attempt, and rests twice as long if that fails. The others
do not notice. Nothing is kept of a conversation that is well, but that it is there.
"""

from collections.abc import Callable, Collection

from harness.events import ConversationBreakerChanged, Ending, GateEvent
from harness.policies.breakers.breaker import HALF_OPEN, OPEN, Breaker, BreakerLimits

UNTROUBLED = Breaker()
"""Of a conversation that nothing is known of."""


class Conversations:
    """Who may be worked for. Moments are Unix time in seconds.

    Args:
        limits: the numbers of the breakers, in seconds.
        sweep_every_s: between two looks for conversations that are gone.
        tell: hears of every change of a breaker.
    """

    def __init__(self, limits: BreakerLimits, sweep_every_s: float, tell: Callable[[GateEvent], None]) -> None:
        self._limits, self._sweep_every_s, self._tell = limits, sweep_every_s, tell
        self._known: dict[str, None] = {}
        self._breakers: dict[str, Breaker] = {}
        """Of those with a failure in their last row."""
        self._swept = 0.0

    def configure(self, limits: BreakerLimits, sweep_every_s: float) -> None:
        """Other numbers from the next failure and the next sweep on."""
        self._limits, self._sweep_every_s = limits, sweep_every_s

    # ── coming and going ────────────────────────────────────────────────────────────────────────

    def add(self, key: str, now: float) -> None:
        """A conversation begins."""
        if not self._known:
            self._swept = now
        self._known.setdefault(key)

    def remove(self, key: str) -> bool:
        """A conversation is over. Says whether it was known."""
        self._breakers.pop(key, None)
        return key in self._known and self._known.pop(key) is None

    def clear(self) -> None:
        """All of them are."""
        self._known.clear()
        self._breakers.clear()

    @property
    def sweep_at(self) -> float | None:
        """When to look next for those that are gone; None: there is nothing to look for."""
        return self._swept + self._sweep_every_s if self._known else None

    def gone(self, existing: Collection[str], now: float) -> tuple[str, ...]:
        """Those that are known and do not exist any more. The next look is a whole interval from now."""
        self._swept = now
        there = frozenset(existing)
        return tuple(key for key in self._known if key not in there)

    # ── how they fare ───────────────────────────────────────────────────────────────────────────

    def started(self, key: str, now: float) -> None:
        """Work begins for a conversation; after a pause it is its one attempt."""
        breaker = self.breaker(key)
        if breaker.state is OPEN:
            self._put(key, breaker.probing(now, self._limits))

    def ended(self, key: str, ending: Ending, now: float) -> None:
        """Work for a conversation is over. Of one that is not known any more nothing is noted."""
        breaker = self.breaker(key)
        if key not in self._known:
            return
        match ending:
            case Ending.SUCCEEDED:
                self._put(key, breaker.succeeded())
            case Ending.FAILED:
                self._put(key, breaker.failed(now, self._limits))
            case Ending.CANCELLED:
                if breaker.state is HALF_OPEN:
                    self._put(key, breaker.released(now))

    def breaker(self, key: str) -> Breaker:
        """Where a conversation stands."""
        return self._breakers.get(key, UNTROUBLED)

    def rests(self, key: str, now: float) -> bool:
        """It is paused, and its attempt is not due yet."""
        return (until := self.rests_until(key)) is not None and now < until

    def rests_until(self, key: str) -> float | None:
        """The end of its last pause; None: it has none, or its attempt is under way."""
        return self.breaker(key).due

    @property
    def resting(self) -> tuple[str, ...]:
        """Those whose breaker is open."""
        return tuple(key for key, breaker in self._breakers.items() if breaker.state is OPEN)

    @property
    def troubled(self) -> int:
        """Those of whom more is known than that they are there."""
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
        self._tell(
            ConversationBreakerChanged(key, before.state, breaker.state, breaker.why, breaker.failures, breaker.due)
        )
