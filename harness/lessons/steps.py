"""What happened in a run, in its order, and where its beats are."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.lessons.lesson import Beat, Fact


@dataclass(frozen=True, slots=True)
class Moment:
    """One fact of a run."""

    number: int | None
    """Its place in the run, from 0; None for what is shown and not kept, such as a piece of streamed text."""
    at: float
    """Unix time in seconds."""
    fact: Fact


@dataclass(frozen=True, slots=True)
class BeatAt:
    """A beat that was found."""

    beat: Beat
    moment: Moment


class BeatFinder:
    """Finds the beats of a lesson in its run: each is the first fact that fits, after the one of the beat before."""

    def __init__(self, beats: Sequence[Beat]) -> None:
        self._beats = tuple(beats)
        self._found: list[BeatAt] = []

    @property
    def found(self) -> tuple[BeatAt, ...]:
        """So far, in order."""
        return tuple(self._found)

    @property
    def missing(self) -> Beat | None:
        """The beat that is waited for; None when all are found."""
        return self._beats[len(self._found)] if len(self._found) < len(self._beats) else None

    def take(self, moment: Moment) -> BeatAt | None:
        """Look at the next moment; the beat that it is, if it is one."""
        if self.missing is None or moment.number is None or not self.missing.fits(moment.fact):
            return None
        self._found.append(BeatAt(self.missing, moment))
        return self._found[-1]
