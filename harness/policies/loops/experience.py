"""Which rung frees which kind of loop: what was learnt, and which of two equally mild rungs comes first by it.

An experience is a value; whoever keeps it in a file writes `as_json` and reads it with `from_json`. It stays small
whatever happens: a count that has grown large is halved together with what it counts against, so that what is long
past weighs less and less.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from harness.events import Event, Intervened, Json, LoopFound, LoopLeft, Projection, Rung
from harness.policies.loops.ladder import PAIRS, Kind, Preferences

ENOUGH = 3
"""Times that the rung that comes first was tried before the other one may take its place."""
MOST_TRIED = 100
"""From where on counts are halved."""
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Tally:
    """How a rung has fared with one kind of loop."""

    freed: int = 0
    """Times that the loop was left, with this rung as the last one taken."""
    tried: int = 0

    def noted(self, *, tried: int = 0, freed: int = 0) -> "Tally":
        """The tally after one more."""
        more = Tally(min(self.freed + freed, self.tried + tried), self.tried + tried)
        return more if more.tried <= MOST_TRIED else Tally(more.freed // 2, more.tried // 2)

    @property
    def rate(self) -> float:
        """How likely it is to free; a half where nothing is known (rule of succession)."""
        return (self.freed + 1) / (self.tried + 2)


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that was learnt."""

    kind: Kind
    rung: Rung
    freed: bool
    """The loop was left after this rung; False: the rung was taken."""


@dataclass(frozen=True, slots=True)
class Experience:
    """For each kind of loop, how each rung has fared."""

    tallies: Mapping[tuple[Kind, Rung], Tally] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, kind: Kind, rung: Rung) -> Tally:
        """How this rung has fared with loops of this kind."""
        return self.tallies.get((kind, rung), Tally())

    def noted(self, kind: Kind, rung: Rung, *, freed: bool) -> "Experience":
        """The experience after a rung was taken, or after a loop was left by one that had been taken."""
        tally = self.of(kind, rung).noted(freed=1) if freed else self.of(kind, rung).noted(tried=1)
        return Experience(MappingProxyType({**self.tallies, (kind, rung): tally}))

    def preferences(self) -> Preferences:
        """The pairs of equally mild rungs of which the second has fared better than the first."""
        kinds = {kind for kind, _ in self.tallies}
        swapped = {kind: frozenset(pair for pair in PAIRS if self._swaps(kind, *pair)) for kind in kinds}
        return Preferences(MappingProxyType({kind: pairs for kind, pairs in swapped.items() if pairs}))

    def as_json(self) -> Json:
        """Plain values, in an order that does not change."""
        lines = {
            f"{projection.value} {'failing' if failing else 'working'} {rung.value}": [tally.freed, tally.tried]
            for ((projection, failing), rung), tally in sorted(self.tallies.items())
        }
        return {"format": FORMAT, "tallies": lines}

    @classmethod
    def from_json(cls, value: object) -> "Experience":
        """What `as_json` gave. Raises ValueError, with one sentence, for anything else."""
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
    """Listens to the events of a session, and adds to an experience."""

    def __init__(self, experience: Experience | None = None) -> None:
        self.experience = experience or Experience()
        self._kinds: dict[str, Kind] = {}
        """Of the loops under way, by signature."""
        self._news: list[Note] = []

    def see(self, event: Event) -> None:
        """An event of the session, in its order."""
        match event:
            case LoopFound(loop=loop):
                self._kinds[loop.signature] = loop.projection, loop.failing
            case Intervened(applied=True) if kind := self._kinds.get(event.signature):
                self._note(Note(kind, event.rung, freed=False))
            case LoopLeft(signature=signature, freed_by=rung) if kind := self._kinds.pop(signature, None):
                if rung is not None:
                    self._note(Note(kind, rung, freed=True))

    def take(self) -> tuple[Note, ...]:
        """What was learnt since this was asked last."""
        news, self._news = tuple(self._news), []
        return news

    def _note(self, note: Note) -> None:
        self.experience = self.experience.noted(note.kind, note.rung, freed=note.freed)
        self._news.append(note)


def _read(name: str, tally: object) -> tuple[tuple[Kind, Rung], Tally]:
    match (*name.split(), tally):
        case (str(projection), "failing" | "working" as how, str(rung), [int(freed), int(tried)]) if (
            0 <= freed <= tried <= MOST_TRIED
        ):
            return ((Projection(projection), how == "failing"), Rung(rung)), Tally(freed, tried)
        case _:
            raise ValueError(f"{name} with {tally} is no tally of a rung")
