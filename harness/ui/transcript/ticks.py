"""Turns of scheduled prompts that had nothing to report; a transcript shows such a turn as one line."""

from harness.base.external_text import counted
from harness.events import (
    NOTHING_TO_REPORT,
    ArrivalKind,
    Arrived,
    Delivered,
    Event,
    JobFired,
    MessageAdded,
    Origin,
    TransitionCode,
    TurnEnded,
    TurnStarted,
)
from harness.ui.lines.line import Line, Tone


class TickFold:
    """Where the current turn begins in a transcript, if a scheduled prompt alone began it."""

    def __init__(self) -> None:
        self._fires: dict[int, JobFired] = {}
        """By the number of the arrival."""
        self._fired: dict[str, JobFired] = {}
        """By id: those that have not arrived yet."""
        self._first: int | None = None
        """Index of the first entry of the turn; None: a prompt began it, or no turn runs."""
        self._fire: JobFired | None = None
        self._counts: dict[str, int] = {}

    def on_event(self, event: Event, entries: int) -> None:
        """Process an event of a transcript with so many entries, before it is shown."""
        match event:
            case JobFired(fire=id):
                self._fired[id] = event
            case Arrived(number=number, kind=ArrivalKind.SCHEDULED, source=id) if id in self._fired:
                self._fires[number] = self._fired.pop(id)
            case TurnStarted(prompt=prompt):
                self._first, self._fire = None if prompt else entries, None
            case MessageAdded(origin=Origin.STEERING):
                self._first, self._fire = None, None  # what the user said stays
            case Delivered(numbers=numbers) if self._first is not None:
                fires = [self._fires.pop(number, None) for number in numbers]
                self._fire = fires[0] if len(fires) == 1 and self._fire is None else None
                self._first = None if self._fire is None else self._first

    def quiet(self, event: TurnEnded) -> tuple[int, JobFired] | None:
        """The first entry of the turn that has ended, and its fire, if there was nothing to report."""
        first, fire = self._first, self._fire
        self._first = self._fire = None
        if first is None or fire is None or event.code is not TransitionCode.COMPLETED:
            return None
        return (first, fire) if event.answer.strip() == NOTHING_TO_REPORT else None

    def line(self, job: str, *, again: bool) -> Line:
        """The line that replaces the turn; `again`: it replaces the line before, too."""
        self._counts[job] = self._counts.get(job, 0) + 1 if again else 1
        times = f", {counted(self._counts[job], 'time')}" if self._counts[job] > 1 else ""
        return Line("·", f"{job}: nothing to report{times}", Tone.QUIET)
