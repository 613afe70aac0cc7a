"""The ladder of interventions: uses of each rung against each loop of the session, and the next one.

    RETRY → NUDGE → EXPLORE ⇄ SUBSTITUTE → ROLLBACK ⇄ BREAKER → HUMAN → STOP

A loop climbs from the left. Each rung has a quota; one that is used up or impossible is skipped. Uses are remembered
for the session, so a loop that returns continues at its rung. Only the two pairs marked ⇄ are equally mild, and
experience may change their order. See docs/design/loops.md#ladder.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from harness.events import ErrorClass, Loop, Projection, Rung
from harness.policies.loops.error_classes import after_retries
from harness.policies.loops.limits import LoopLimits

PAIRS = ((Rung.EXPLORE, Rung.SUBSTITUTE), (Rung.ROLLBACK, Rung.BREAKER))
"""Equally mild rungs, in their default order."""

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
class Preferences:
    """For some kinds of loop, which of two equally mild rungs comes first; only where it differs from the default."""

    swapped: Mapping[Kind, frozenset[tuple[Rung, Rung]]] = field(default_factory=lambda: MappingProxyType({}))
    """The pairs of `PAIRS` that are swapped."""

    def order(self, kind: Kind) -> tuple[Rung, ...]:
        """All rungs in the order for a loop of this kind."""
        rungs = list(Rung)
        for pair in PAIRS:
            if pair in self.swapped.get(kind, ()):
                at = rungs.index(pair[0])
                rungs[at : at + 2] = pair[1], pair[0]
        return tuple(rungs)


@dataclass(frozen=True, slots=True)
class RungUse:
    """Uses of one rung for one loop."""

    rung: Rung
    used: int
    quota: int


class Ladder:
    """The uses of all rungs for every loop of the session, by signature."""

    def __init__(self, policy: LoopLimits, preferences: Preferences | None = None) -> None:
        self.policy = policy
        self.preferences = preferences or Preferences()
        self._used: dict[str, dict[Rung, int]] = {}

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
        rungs = (Rung.NUDGE,) if loop.weak else self.preferences.order((loop.projection, loop.failing))
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
