"""The ladder: what has been tried against each loop of the session, and what comes next (B14, B19, B20, B25).

    RETRY → NUDGE → EXPLORE ⇄ SUBSTITUTE → ROLLBACK ⇄ BREAKER → HUMAN → STOP

A loop climbs from the left. Each rung has a quota; one that is used up, or that cannot be applied now, is passed over.
What was tried stays known for the whole session, so that a loop that comes back goes on where it was. Only the two
pairs marked ⇄ are equally mild, and only their order may be changed by what was learnt.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from harness.events import ErrorClass, Loop, Projection, Rung
from harness.policies.loops.error_classes import after_retries
from harness.policies.loops.policy import EscapePolicy

PAIRS = ((Rung.EXPLORE, Rung.SUBSTITUTE), (Rung.ROLLBACK, Rung.BREAKER))
"""Rungs of equal mildness, in the order as shipped."""

Kind = tuple[Projection, bool]
"""What kind of loop: its projection, and whether it fails."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What could be done about a loop now, by those who would do it."""

    retry: bool = False
    """The call may be made again by the program: it is idempotent, and the breaker of its tool lets it through."""
    explore: tuple[str, ...] = ()
    """Ways out of the circle, as the agent is told them."""
    substitute: str = ""
    """The tool that could take the place of the one in the loop; empty: there is none."""
    rollback: bool = False
    """There is a checkpoint before the loop."""
    breaker: bool = False
    """There is a failing tool whose breaker could be opened."""
    human: bool = False
    """Somebody can be asked."""

    def applies(self, rung: Rung) -> bool:
        """Whether this rung could be taken, quotas aside."""
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
class Preferences:
    """For some kinds of loop, which of two equally mild rungs comes first; only what is not as shipped."""

    swapped: Mapping[Kind, frozenset[tuple[Rung, Rung]]] = field(default_factory=lambda: MappingProxyType({}))
    """The pairs of `PAIRS` that are taken the other way round."""

    def order(self, kind: Kind) -> tuple[Rung, ...]:
        """All rungs in the order in which a loop of this kind climbs them."""
        rungs = list(Rung)
        for pair in PAIRS:
            if pair in self.swapped.get(kind, ()):
                at = rungs.index(pair[0])
                rungs[at : at + 2] = pair[1], pair[0]
        return tuple(rungs)


@dataclass(frozen=True, slots=True)
class RungUse:
    """How much of a rung one loop has had."""

    rung: Rung
    used: int
    quota: int


class Ladder:
    """Where every loop of the session stands, by signature."""

    def __init__(self, policy: EscapePolicy, preferences: Preferences | None = None) -> None:
        self.policy = policy
        self.preferences = preferences or Preferences()
        self._used: dict[str, dict[Rung, int]] = {}

    def used(self, signature: str, rung: Rung) -> int:
        """How many of this rung the loop has had."""
        return self._used.get(signature, {}).get(rung, 0)

    def take(self, signature: str, rung: Rung) -> None:
        """A rung was taken, whatever came of it."""
        mine = self._used.setdefault(signature, {})
        mine[rung] = mine.get(rung, 0) + 1

    def give_back(self, signature: str, rung: Rung) -> None:
        """One of this rung does not count after all."""
        mine = self._used.setdefault(signature, {})
        mine[rung] = max(0, mine.get(rung, 0) - 1)

    def inherit(self, signature: str, before: str) -> None:
        """A loop took the place of another: what was tried against that one is as good as tried."""
        for rung, used in self._used.get(before, {}).items():
            mine = self._used.setdefault(signature, {})
            mine[rung] = max(used, mine.get(rung, 0))

    def next_rung(self, loop: Loop, abilities: Abilities) -> Rung | None:
        """The first rung that applies and is not used up; None only for a weak loop that has been nudged (Q4)."""
        return next((rung for rung in self._open(loop) if abilities.applies(rung)), None)

    def exhausted(self, loop: Loop) -> bool:
        """Nothing is left for this loop, whatever could be done: it is weak, and was nudged."""
        return loop.weak and self.used(loop.signature, Rung.NUDGE) >= self.policy.quota(Rung.NUDGE)

    def position(self, loop: Loop) -> tuple[RungUse, ...]:
        """Every rung in the order of this loop, with what is used of it."""
        rungs = (Rung.NUDGE,) if loop.weak else self.preferences.order((loop.projection, loop.failing))
        return tuple(RungUse(rung, self.used(loop.signature, rung), self.policy.quota(rung)) for rung in rungs)

    def _open(self, loop: Loop) -> Iterable[Rung]:
        """The rungs that this loop still has; a stop is never used up."""
        for one in self.position(loop):
            if one.rung is Rung.RETRY and not self._may_help(loop, one):
                continue
            if one.rung is Rung.STOP or one.used < one.quota:
                yield one.rung

    def _may_help(self, loop: Loop, retry: RungUse) -> bool:
        found = loop.error or ErrorClass.UNKNOWN
        return loop.failing and after_retries(found, retry.used, retry.quota) is not ErrorClass.PERSISTENT
