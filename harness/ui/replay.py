"""A playhead in a recorded session.

Nothing here waits: `now` is passed in as monotonic seconds, `due` returns the records to show now, and `wait_s` says
when to ask again. A view shows `records[:position]`: it adds what `due` returns, and starts over after a jump
backwards.

Jumps by steps end right before a `StepStarted`, or at either end. So the beginning of step n + 1 is the end of step n.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from harness.base.errors import JournalError
from harness.events import (
    AgentEnd,
    AgentEnded,
    BreakerChanged,
    BreakerState,
    CascadeChanged,
    CommandEnd,
    CommandEnded,
    CommandQuiet,
    CompactionStarted,
    Event,
    FaultOccurred,
    Intervened,
    LoopFound,
    ModelSwitched,
    OutputCapChanged,
    PauseReported,
    RetryScheduled,
    StepStarted,
    StuckReported,
    TransitionCode,
    TurnEnded,
    WorkDropped,
)
from harness.journal.follow import Record

LONGEST_GAP_S = 2.0
"""Longer silences are shortened to this when played at speed 1."""
SLOWEST, FASTEST = 0.25, 32.0


class ReplayPlayer:
    """Plays records in their original rhythm. Starts at the beginning, paused."""

    def __init__(self, records: Sequence[Record], *, speed: float = 1.0) -> None:
        self.records = records
        self.position = 0
        """Number of records played."""
        self.playing = False
        self.speed = _possible_speed(speed)
        """Seconds of the record that pass in one second, 0.25 to 32."""
        befores = pairwise([*records[:1], *records])
        self._gaps = [max(0.0, later.at - earlier.at) for earlier, later in befores]
        """For each record the seconds since the previous one; 0 if the clock was set back."""
        self._due = list(accumulate(min(gap, LONGEST_GAP_S) for gap in self._gaps))
        """For each record its place on the tape, on which long gaps are shortened."""
        steps = [(index, one.event.step) for index, one in enumerate(records) if isinstance(one.event, StepStarted)]
        self._begins = [index for index, _ in steps]
        self._numbers = [number for _, number in steps]
        self._incidents = [index for index, record in enumerate(records) if is_incident(record.event)]
        self._tape = 0.0
        """Place on the tape at the moment `_since`."""
        self._since = 0.0

    # ── what is played ──────────────────────────────────────────────────────────────────────────

    @property
    def over(self) -> bool:
        """Whether everything has been played."""
        return self.position == len(self.records)

    @property
    def step(self) -> int:
        """The step of the playhead; 0 before the first."""
        begun = bisect_left(self._begins, self.position)
        return self._numbers[begun - 1] if begun else 0

    @property
    def last_step(self) -> int:
        """The highest step; 0 if there is none."""
        return max(self._numbers, default=0)

    @property
    def shortened_s(self) -> float:
        """The original length in seconds of the silence before the next record, if it is shortened; else 0."""
        gap = 0.0 if self.over else self._gaps[self.position]
        return gap if gap > LONGEST_GAP_S else 0.0

    def due(self, now: float) -> Sequence[Record]:
        """The records due since the last call, which count as played. Pauses at the end."""
        if not self.playing:
            return ()
        begin, self.position = self.position, bisect_right(self._due, self._tape_at(now))
        if self.over:
            self.pause(now)
        return self.records[begin : self.position]

    def wait_s(self, now: float) -> float | None:
        """Seconds until the next record is due, at least 0; None while nothing plays."""
        if not self.playing or self.over:
            return None
        return max(0.0, (self._due[self.position] - self._tape_at(now)) / self.speed)

    def recorded_at(self, now: float) -> float:
        """The Unix time at the playhead, for countdowns; it runs faster in a shortened silence."""
        if not self.position:
            return self.records[0].at if self.records else 0.0
        shown = self.records[self.position - 1].at
        if self.over:
            return shown
        tape = max(0.0, self._tape_at(now) - self._due[self.position - 1])
        gap = self._gaps[self.position]
        return shown + min(gap, tape * max(1.0, gap / LONGEST_GAP_S))

    # ── playing ─────────────────────────────────────────────────────────────────────────────────

    def play(self, now: float) -> None:
        """Play from here; at the end, from the beginning."""
        if self.over:
            self.start(now)
        self._tape, self._since, self.playing = self._tape_at(now), now, True

    def pause(self, now: float) -> None:
        """Stop at this place."""
        self._tape, self._since, self.playing = self._tape_at(now), now, False

    def set_speed(self, speed: float, now: float) -> None:
        """Play with this speed, or the nearest one possible."""
        self._tape, self._since, self.speed = self._tape_at(now), now, _possible_speed(speed)

    # ── jumping: continues to play, unless at the end ──────────────────────────────────────────

    def start(self, now: float) -> None:
        """Go before the first record."""
        self._go(0, now)

    def end(self, now: float) -> None:
        """Go after the last record."""
        self._go(len(self.records), now)

    def seek(self, step: int, now: float) -> None:
        """Go to the beginning of a step. Raises JournalError with the range of steps."""
        if step not in self._numbers:
            known = f"its steps are {min(self._numbers)} to {self.last_step}" if self._numbers else "it has none at all"
            raise JournalError(f"The session has no step {step}; {known}.")
        self._go(self._begins[self._numbers.index(step)], now)

    def step_forward(self, now: float) -> None:
        """Go to the beginning of the next step; after the last one, to the end."""
        index = bisect_right(self._begins, self.position)
        self._go(self._begins[index] if index < len(self._begins) else len(self.records), now)

    def step_back(self, now: float) -> None:
        """Go to the nearest earlier beginning of a step; before the first one, to the start."""
        index = bisect_left(self._begins, self.position)
        self._go(self._begins[index - 1] if index else 0, now)

    def next_incident(self, now: float) -> bool:
        """Go right after the next incident; False if there is none."""
        index = bisect_left(self._incidents, self.position)
        if index == len(self._incidents):
            return False
        self._go(self._incidents[index] + 1, now)
        return True

    def previous_incident(self, now: float) -> bool:
        """Go right after the incident before the one shown last; False if there is none."""
        index = bisect_left(self._incidents, self.position - 1)
        if not index:
            return False
        self._go(self._incidents[index - 1] + 1, now)
        return True

    def _go(self, position: int, now: float) -> None:
        self.position = position
        self._tape, self._since = (self._due[position - 1] if position else 0.0), now
        self.playing = self.playing and not self.over

    def _tape_at(self, now: float) -> float:
        return self._tape + (max(0.0, now - self._since) * self.speed if self.playing else 0.0)


def _possible_speed(speed: float) -> float:
    return min(max(speed, SLOWEST), FASTEST)


def is_incident(event: Event) -> bool:
    """Whether the event is a failure or a reaction to one, and so worth jumping to."""
    match event:
        case FaultOccurred() | RetryScheduled() | ModelSwitched() | CompactionStarted():
            return True
        case CascadeChanged() | PauseReported():
            return True
        case LoopFound() | Intervened() | StuckReported():
            return True
        case BreakerChanged(before=before, after=BreakerState.OPEN):
            return before is not BreakerState.OPEN
        case AgentEnded(end=end):
            return end not in (AgentEnd.ANSWERED, AgentEnd.CANCELLED)
        case CommandEnded(end=end, exit_code=code):
            return end is not CommandEnd.STOPPED and (end is not CommandEnd.EXITED or code != 0)
        case CommandQuiet():
            return True
        case WorkDropped(deferred=deferred):
            return not deferred
        case OutputCapChanged():
            return event.to_cap > event.from_cap
        case TurnEnded(code=code):
            return code is not TransitionCode.COMPLETED
        case _:
            return False
