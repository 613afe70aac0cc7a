"""The position of a learner in a recording.

The run continues independently; the position limits the moments shown. Going back shows less and runs nothing again.
"""

from collections.abc import Sequence

from chapters.course import Lesson, Moment, Recording, WireExchange


class LessonPosition:
    """Place 0 is the beginning, place n the nth step, and the place after the last step the live end."""

    def __init__(self, recording: Recording, place: int = 0) -> None:
        self.recording = recording
        self.place = place

    @property
    def lesson(self) -> Lesson:
        """The chapter."""
        return self.recording.lesson

    @property
    def last(self) -> int:
        """The place of the end."""
        return len(self.lesson.steps) + 1

    @property
    def at_end(self) -> bool:
        """Whether the place is the end."""
        return self.place == self.last

    @property
    def on_step(self) -> bool:
        """Whether the place is a step."""
        return 0 < self.place < self.last

    def has_come(self, place: int) -> bool:
        """Whether the run has reached a place."""
        return len(self.recording.steps) >= self._steps_before(place)

    async def reached(self, place: int) -> bool:
        """Wait until the run reaches a place; returns False if it never does."""
        return place < 1 or await self.recording.reached(self._steps_before(place) - 1)

    def _steps_before(self, place: int) -> int:
        return min(place, self.last - 1)

    def end_of(self, place: int) -> int:
        """Number of moments up to a reached place."""
        if place == self.last:
            return len(self.recording.moments)
        if place < 1:
            return 0
        number = self.recording.steps[place - 1].moment.number
        if number is None:
            raise ValueError("a step is a recorded moment")
        return number + 1

    @property
    def past(self) -> Sequence[Moment]:
        """Moments before this place."""
        return self.recording.moments[: self.end_of(self.place - 1)]

    @property
    def present(self) -> Sequence[Moment]:
        """Moments since the previous place."""
        return self.recording.moments[self.end_of(self.place - 1) : self.end_of(self.place)]

    @property
    def shown(self) -> Sequence[Moment]:
        """Moments up to this place."""
        return self.recording.moments[: self.end_of(self.place)]

    def exchanges(self) -> tuple[WireExchange, ...]:
        """Requests at this place, or the last one before it."""
        here = tuple(moment.fact for moment in self.present if isinstance(moment.fact, WireExchange))
        if here:
            return here
        before = [moment.fact for moment in self.past if isinstance(moment.fact, WireExchange)]
        return tuple(before[-1:])

    def compared(self) -> tuple[tuple[WireExchange, WireExchange | None], ...]:
        """The same requests, each with the one before it in its conversation, or else the one before it at all."""
        earlier = [moment.fact for moment in self.shown if isinstance(moment.fact, WireExchange)]
        return tuple((one, _compared_with(one, earlier[: one.number - 1])) for one in self.exchanges())


def _compared_with(one: WireExchange, earlier: Sequence[WireExchange]) -> WireExchange | None:
    alike = (other for other in reversed(earlier) if _opening(other) == _opening(one))
    return next(alike, earlier[-1] if earlier else None)


def _opening(one: WireExchange) -> object:
    sent = one.sent.get("messages")
    return sent[0] if isinstance(sent, list) and sent else None
