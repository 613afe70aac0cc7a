"""The ladder of interventions against a loop, and what experience says about its order.

    RETRY → NUDGE → EXPLORE ⇄ SUBSTITUTE → ROLLBACK ⇄ BREAKER → HUMAN → STOP

A loop climbs from the left. Each rung has a quota; one that is used up or impossible is skipped. Uses are remembered
for the session, so a loop that returns continues at its rung. Only the two pairs marked ⇄ are equally mild, and
experience may change their order. See docs/design/loops.md#ladder.

An `Experience` is a value: results of rungs over sessions. `as_json` and `from_json` store it. It stays small: a count
that has grown large is halved together with its total, so that old results weigh less.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from harness.events import ErrorClass, Event, Intervened, Json, Loop, LoopFound, LoopLeft, Projection, Rung
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
    """The uses of all rungs since the last prompt of the user, for every loop, by signature."""

    def __init__(self, policy: LoopLimits, preferences: Preferences | None = None) -> None:
        self.policy = policy
        self.preferences = preferences or Preferences()
        self._used: dict[str, dict[Rung, int]] = {}

    def forget(self) -> None:
        """Start again, after a prompt of the user."""
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


ENOUGH = 3
"""Uses of the first rung of a pair before the other may come first."""
MOST_TRIED = 100
"""Counts above this are halved."""
FORMAT = 1


@dataclass(frozen=True, slots=True)
class RungTally:
    """The results of a rung against one kind of loop."""

    freed: int = 0
    """Times that the loop ended with this rung as the last one used."""
    tried: int = 0

    def noted(self, *, tried: int = 0, freed: int = 0) -> "RungTally":
        """The tally after one more result."""
        more = RungTally(min(self.freed + freed, self.tried + tried), self.tried + tried)
        return more if more.tried <= MOST_TRIED else RungTally(more.freed // 2, more.tried // 2)

    @property
    def rate(self) -> float:
        """Estimated probability that it ends a loop; one half if nothing is known (rule of succession)."""
        return (self.freed + 1) / (self.tried + 2)


@dataclass(frozen=True, slots=True)
class RungResult:
    """One result."""

    kind: Kind
    rung: Rung
    freed: bool
    """The loop ended after this rung; False: the rung was used."""


@dataclass(frozen=True, slots=True)
class Experience:
    """For each kind of loop, the results of each rung."""

    tallies: Mapping[tuple[Kind, Rung], RungTally] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, kind: Kind, rung: Rung) -> RungTally:
        return self.tallies.get((kind, rung), RungTally())

    def noted(self, kind: Kind, rung: Rung, *, freed: bool) -> "Experience":
        """The experience after a rung was used, or after a loop ended because of one."""
        tally = self.of(kind, rung).noted(freed=1) if freed else self.of(kind, rung).noted(tried=1)
        return Experience(MappingProxyType({**self.tallies, (kind, rung): tally}))

    def preferences(self) -> Preferences:
        """The pairs whose second rung has had better results than the first."""
        kinds = {kind for kind, _ in self.tallies}
        swapped = {kind: frozenset(pair for pair in PAIRS if self._swaps(kind, *pair)) for kind in kinds}
        return Preferences(MappingProxyType({kind: pairs for kind, pairs in swapped.items() if pairs}))

    def as_json(self) -> Json:
        """Plain values in a stable order."""
        lines = {
            f"{projection.value} {'failing' if failing else 'working'} {rung.value}": [tally.freed, tally.tried]
            for ((projection, failing), rung), tally in sorted(self.tallies.items())
        }
        return {"format": FORMAT, "tallies": lines}

    @classmethod
    def from_json(cls, value: object) -> "Experience":
        """The inverse of `as_json`. Raises ValueError, with one sentence, for anything else."""
        match value:
            case {"format": 1, "tallies": dict(lines)}:
                return cls(MappingProxyType(dict(_read(name, tally) for name, tally in lines.items())))
            case {"format": int(number)} if number != FORMAT:
                raise ValueError(f"this was written in format {number}, and only {FORMAT} is known")
            case _:
                raise ValueError("this is no experience with loops")

    def _swaps(self, kind: Kind, first: Rung, second: Rung) -> bool:
        before, after = self.of(kind, first), self.of(kind, second)
        return before.tried >= ENOUGH and after.rate > before.rate


class Learner:
    """Adds the events of a session to an experience."""

    def __init__(self, experience: Experience | None = None) -> None:
        self.experience = experience or Experience()
        self._kinds: dict[str, Kind] = {}
        """Of the active loops, by signature."""
        self._results: list[RungResult] = []

    def on_event(self, event: Event) -> None:
        match event:
            case LoopFound(loop=loop):
                self._kinds[loop.signature] = loop.projection, loop.failing
            case Intervened(applied=True) if kind := self._kinds.get(event.signature):
                self._note(RungResult(kind, event.rung, freed=False))
            case LoopLeft(signature=signature, freed_by=rung) if kind := self._kinds.pop(signature, None):
                if rung is not None:
                    self._note(RungResult(kind, rung, freed=True))

    def take(self) -> tuple[RungResult, ...]:
        """The results since the last call."""
        results, self._results = tuple(self._results), []
        return results

    def _note(self, note: RungResult) -> None:
        self.experience = self.experience.noted(note.kind, note.rung, freed=note.freed)
        self._results.append(note)


def _read(name: str, tally: object) -> tuple[tuple[Kind, Rung], RungTally]:
    match (*name.split(), tally):
        case (str(projection), "failing" | "working" as how, str(rung), [int(freed), int(tried)]) if (
            0 <= freed <= tried <= MOST_TRIED
        ):
            return ((Projection(projection), how == "failing"), Rung(rung)), RungTally(freed, tried)
        case _:
            raise ValueError(f"{name} with {tally} is no tally of a rung")
