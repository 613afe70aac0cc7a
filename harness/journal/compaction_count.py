"""How often a history was made shorter: folded from the events, live and when a session is gone on with."""

from dataclasses import dataclass, replace

from harness.events import CompactionEnded, Event


@dataclass(frozen=True, slots=True)
class Shortenings:
    """What was done to the history of one session to make room."""

    drains: int = 0
    """Times that old tool results were put into files (lessons s08)."""
    summaries: int = 0
    cuts: int = 0
    """Times that the oldest part was left out, because no summary could be had (recovery E3)."""
    drained: frozenset[str] = frozenset()
    """Ids of the calls whose results point to a file. Kept from the events: a text can claim anything."""

    def after(self, event: Event) -> "Shortenings":
        """The same once this event has happened."""
        match event:
            case CompactionEnded(drained=ids) if ids:
                return replace(self, drains=self.drains + 1, drained=self.drained.union(ids))
            case CompactionEnded(method="summary", succeeded=True):
                return replace(self, summaries=self.summaries + 1)
            case CompactionEnded(method="truncation", tokens_before=before, tokens_after=after) if after < before:
                return replace(self, cuts=self.cuts + 1)
            case _:
                return self
