"""Scores of tools from before a call: advice that grows old (seed 000, step 10; A24)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from harness.events import Score


@dataclass(frozen=True, slots=True)
class Scored:
    """What a check said, and until when it is believed."""

    score: Score
    until: int
    """First step in which it is not believed any more."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores that were given, by tool."""

    given: Mapping[str, Scored] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, tool: str, step: int) -> Score | None:
        """The score that is believed in this step; None: the tool has to be checked, or has no check."""
        scored = self.given.get(tool)
        return scored.score if scored and step < scored.until else None

    def with_score(self, tool: str, score: Score, until: int) -> "Scores":
        """The scores after a check."""
        return Scores({**self.given, tool: Scored(score, until)})
