"""The ladder of interventions against a loop, and what the session has taught about its order.

    RETRY → NUDGE → EXPLORE ⇄ SUBSTITUTE → ROLLBACK ⇄ BREAKER → HUMAN → STOP

A loop climbs from the left. Each rung has a quota; one that is used up or impossible is skipped. Uses are remembered
for the session, so a loop that returns continues at its rung. Only the two pairs marked ⇄ are equally mild, and
experience may change their order. See docs/design/loops.md#ladder.

What a rung achieved is counted for each kind of loop while the session lasts; a resumed session counts again.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.events import ErrorClass, Loop, Projection, Rung
from harness.policies.loops.error_classes import after_retries
from harness.policies.loops.limits import LoopLimits

PAIRS = ((Rung.EXPLORE, Rung.SUBSTITUTE), (Rung.ROLLBACK, Rung.BREAKER))
"""Equally mild rungs, in their default order."""
ENOUGH = 3
"""Uses of the first rung of a pair before the other may come first."""

Kind = tuple[Projection, bool]
"""The kind of a loop: its projection, and whether it fails."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """The interventions that are possible for a loop now."""

    retry: bool = False
    """The program may repeat the call: it is idempotent, and the breaker of its tool is closed."""
    explore: tuple[str, ...] = ()
    """Paths out of the cycle, as text for the agent."""
    substitute: str = ""
    """The tool that could replace the one in the loop; empty: none."""
    rollback: bool = False
    """There is a checkpoint before the loop."""
    breaker: bool = False
    """A tool fails whose breaker could be opened."""
    human: bool = False
    """A user can be asked."""

    def applies(self, rung: Rung) -> bool:
        """Whether this rung is possible, apart from quotas."""
        match rung:
            case Rung.RETRY:
                return self.retry
            case Rung.EXPLORE:
                return bool(self.explore)
            case Rung.SUBSTITUTE:
                return bool(self.substitute)
            case Rung.ROLLBACK:
                return self.rollback
            case Rung.BREAKER:
                return self.breaker
            case Rung.HUMAN:
                return self.human
            case Rung.NUDGE | Rung.STOP:
                return True


@dataclass(frozen=True, slots=True)
class RungUse:
    """Uses of one rung for one loop."""

    rung: Rung
    used: int
    quota: int


class Ladder:
    """The uses of all rungs since the last prompt of the user, for every loop, by signature."""

    def __init__(self, policy: LoopLimits) -> None:
        self.policy = policy
        self._used: dict[str, dict[Rung, int]] = {}
        self._results: dict[tuple[Kind, Rung], tuple[int, int]] = {}
        """How often a rung ended a loop of this kind, and how often it was tried."""

    def learn(self, loop: Loop, rung: Rung, *, freed: bool) -> None:
        """A rung was tried against a loop; `freed`: the loop ended after it."""
        key = (loop.projection, loop.failing), rung
        ended, tried = self._results.get(key, (0, 0))
        self._results[key] = (ended + 1, tried) if freed else (ended, tried + 1)

    def order(self, kind: Kind) -> tuple[Rung, ...]:
        """All rungs for a loop of this kind: of equally mild ones first what has ended more of them."""
        rungs = list(Rung)
        for first, second in PAIRS:
            tried = self._results.get((kind, first), (0, 0))[1]
            if tried >= ENOUGH and self._rate(kind, second) > self._rate(kind, first):
                at = rungs.index(first)
                rungs[at : at + 2] = second, first
        return tuple(rungs)

    def _rate(self, kind: Kind, rung: Rung) -> float:
        """Estimated probability that it ends a loop; one half if nothing is known (rule of succession)."""
        ended, tried = self._results.get((kind, rung), (0, 0))
        return (ended + 1) / (tried + 2)

    def forget(self) -> None:
        """Reset the counts of used rungs, after a user prompt."""
        self._used.clear()

    def used(self, signature: str, rung: Rung) -> int:
        return self._used.get(signature, {}).get(rung, 0)

    def take(self, signature: str, rung: Rung) -> None:
        """Count a use of a rung, whatever its effect."""
        mine = self._used.setdefault(signature, {})
        mine[rung] = mine.get(rung, 0) + 1

    def give_back(self, signature: str, rung: Rung) -> None:
        """Do not count one use of this rung."""
        mine = self._used.setdefault(signature, {})
        mine[rung] = max(0, mine.get(rung, 0) - 1)

    def inherit(self, signature: str, before: str) -> None:
        """A loop replaced another: the uses for that one count for it, too."""
        for rung, used in self._used.get(before, {}).items():
            mine = self._used.setdefault(signature, {})
            mine[rung] = max(used, mine.get(rung, 0))

    def next_rung(self, loop: Loop, abilities: Abilities) -> Rung | None:
        """The first possible rung that is not used up; None only for a weak loop that was nudged."""
        return next((rung for rung in self._open(loop) if abilities.applies(rung)), None)

    def exhausted(self, loop: Loop) -> bool:
        """Whether nothing is left for this loop: it is weak and was nudged."""
        return loop.weak and self.used(loop.signature, Rung.NUDGE) >= self.policy.quota(Rung.NUDGE)

    def position(self, loop: Loop) -> tuple[RungUse, ...]:
        """Every rung in the order for this loop, with its uses."""
        rungs = (Rung.NUDGE,) if loop.weak else self.order((loop.projection, loop.failing))
        return tuple(RungUse(rung, self.used(loop.signature, rung), self.policy.quota(rung)) for rung in rungs)

    def _open(self, loop: Loop) -> Iterable[Rung]:
        """The rungs that are left for this loop; a stop is never used up."""
        for one in self.position(loop):
            if one.rung is Rung.RETRY and not self._may_help(loop, one):
                continue
            if one.rung is Rung.STOP or one.used < one.quota:
                yield one.rung

    def _may_help(self, loop: Loop, retry: RungUse) -> bool:
        found = loop.error or ErrorClass.UNKNOWN
        return loop.failing and after_retries(found, retry.used, retry.quota) is not ErrorClass.PERSISTENT
