"""Which rung ends which kind of loop: results over sessions, and the order of equally mild rungs that follows.

An `Experience` is a value; `as_json` and `from_json` store it. It stays small: a count that has grown large is halved
together with its total, so that old results weigh less.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from harness.events import Event, Intervened, Json, LoopFound, LoopLeft, Projection, Rung
from harness.policies.loops.ladder import PAIRS, Kind, Preferences

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
        self._news: list[RungResult] = []

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
        news, self._news = tuple(self._news), []
        return news

    def _note(self, note: RungResult) -> None:
        self.experience = self.experience.noted(note.kind, note.rung, freed=note.freed)
        self._news.append(note)


def _read(name: str, tally: object) -> tuple[tuple[Kind, Rung], RungTally]:
    match (*name.split(), tally):
        case (str(projection), "failing" | "working" as how, str(rung), [int(freed), int(tried)]) if (
            0 <= freed <= tried <= MOST_TRIED
        ):
            return ((Projection(projection), how == "failing"), Rung(rung)), RungTally(freed, tried)
        case _:
            raise ValueError(f"{name} with {tally} is no tally of a rung")
