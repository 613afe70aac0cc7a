"""A learner's place in a run of a chapter: the beginning, its beats, the end.

The run goes ahead by itself; what is shown of it is up to the place. So going back is showing less, and nothing runs
again.
"""

from collections.abc import Sequence

from harness.lessons import Exchanged, Lesson, Moment, Take


class Walk:
    """Place 0 is the beginning, place n the nth beat, and the one after the last beat the end, where it is live."""

    def __init__(self, take: Take, place: int = 0) -> None:
        self.take = take
        self.place = place

    @property
    def lesson(self) -> Lesson:
        """The chapter."""
        return self.take.lesson

    @property
    def last(self) -> int:
        """The place that is the end."""
        return len(self.lesson.beats) + 1

    @property
    def at_end(self) -> bool:
        """Everything that happens is shown as it happens."""
        return self.place == self.last

    @property
    def on_beat(self) -> bool:
        """The place is a beat."""
        return 0 < self.place < self.last

    def has_come(self, place: int) -> bool:
        """The run has come to a place by now."""
        return len(self.take.beats) >= self._beats_before(place)

    async def reached(self, place: int) -> bool:
        """Wait until the run has come to a place; False if it never will."""
        return place < 1 or await self.take.reached(self._beats_before(place) - 1)

    def _beats_before(self, place: int) -> int:
        """How many beats have to be found for a place; the end begins with the last of them."""
        return min(place, self.last - 1)

    def end_of(self, place: int) -> int:
        """How many moments have happened at a place that was reached."""
        if place == self.last:
            return len(self.take.moments)
        if place < 1:
            return 0
        number = self.take.beats[place - 1].moment.number
        if number is None:
            raise ValueError("a beat is a moment that is kept")
        return number + 1

    @property
    def past(self) -> Sequence[Moment]:
        """What had happened before this place."""
        return self.take.moments[: self.end_of(self.place - 1)]

    @property
    def present(self) -> Sequence[Moment]:
        """What happened from the place before up to this one."""
        return self.take.moments[self.end_of(self.place - 1) : self.end_of(self.place)]

    @property
    def shown(self) -> Sequence[Moment]:
        """Everything up to this place."""
        return self.take.moments[: self.end_of(self.place)]

    def exchanges(self) -> tuple[Exchanged, ...]:
        """What went over the wire at this place; where nothing did, the last exchange before it."""
        here = tuple(moment.fact for moment in self.present if isinstance(moment.fact, Exchanged))
        if here:
            return here
        before = [moment.fact for moment in self.past if isinstance(moment.fact, Exchanged)]
        return tuple(before[-1:])
