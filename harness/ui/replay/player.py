"""A recorded session and a playhead in it.

Time is handed in, in any seconds that only grow (`time.monotonic`), and nothing here waits: ask `due` which
records to show now and `wait_s` when to ask again. A view shows `records[:position]`; it adds what `due`
returns, and begins anew after a jump that made `position` smaller.

Every position that a jump by steps can reach lies right before a `StepStarted`, or at either end. So the
beginning of step n + 1 is the end of step n with all that belongs to it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from harness.base.errors import JournalError
from harness.events import StepStarted
from harness.journal.follow import Record
from harness.ui.replay.incidents import is_incident

LONGEST_GAP_S = 2.0
"""Longer silences of the record last this long when it is played at speed 1."""
SLOWEST, FASTEST = 0.25, 32.0


class Player:
    """Plays records in the rhythm in which they were written. Starts at the beginning, paused."""

    def __init__(self, records: Sequence[Record], *, speed: float = 1.0) -> None:
        self.records = records
        self.position = 0
        """How many records have been played."""
        self.playing = False
        self.speed = _within_reach(speed)
        """Seconds of the record that pass in one second, 0.25 to 32."""
        befores = pairwise([*records[:1], *records])
        self._gaps = [max(0.0, later.at - earlier.at) for earlier, later in befores]
        """For each record the seconds since the one before; a clock that was set back counts as no time."""
        self._due = list(accumulate(min(gap, LONGEST_GAP_S) for gap in self._gaps))
        """For each record its place on the tape, on which long gaps are short."""
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
        """Number of the step that the playhead is in; 0 before the first."""
        begun = bisect_left(self._begins, self.position)
        return self._numbers[begun - 1] if begun else 0

    @property
    def last_step(self) -> int:
        """The highest number of a step; 0 if the record has none."""
        return max(self._numbers, default=0)

    @property
    def shortened_s(self) -> float:
        """Seconds that the silence before the next record really lasted, if it is played shorter; else 0."""
        gap = 0.0 if self.over else self._gaps[self.position]
        return gap if gap > LONGEST_GAP_S else 0.0

    def due(self, now: float) -> Sequence[Record]:
        """The records whose time has come since the last call; they count as played. Pauses at the end."""
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
        """The Unix time that the playhead shows, for countdowns; in a shortened silence it runs faster."""
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
        """Go on from here; at the end, from the beginning."""
        if self.over:
            self.start(now)
        self._tape, self._since, self.playing = self._tape_at(now), now, True

    def pause(self, now: float) -> None:
        """Stand still."""
        self._tape, self._since, self.playing = self._tape_at(now), now, False

    def set_speed(self, speed: float, now: float) -> None:
        """Play from here on with this speed, or the nearest that there is."""
        self._tape, self._since, self.speed = self._tape_at(now), now, _within_reach(speed)

    # ── jumping: it plays on, unless it came to the end ─────────────────────────────────────────

    def start(self, now: float) -> None:
        """Go before the first record."""
        self._go(0, now)

    def end(self, now: float) -> None:
        """Go behind the last record."""
        self._go(len(self.records), now)

    def seek(self, step: int, now: float) -> None:
        """Go to where a step begins. Raises JournalError with the steps there are."""
        if step not in self._numbers:
            known = f"its steps are {min(self._numbers)} to {self.last_step}" if self._numbers else "it has none at all"
            raise JournalError(f"The session has no step {step}; {known}.")
        self._go(self._begins[self._numbers.index(step)], now)

    def step_forward(self, now: float) -> None:
        """Go to where the next step begins; behind the last one, to the end."""
        index = bisect_right(self._begins, self.position)
        self._go(self._begins[index] if index < len(self._begins) else len(self.records), now)

    def step_back(self, now: float) -> None:
        """Go to where the step before this place began; before the first one, to the start."""
        index = bisect_left(self._begins, self.position)
        self._go(self._begins[index - 1] if index else 0, now)

    def next_incident(self, now: float) -> bool:
        """Go right behind the next incident; False: there is none, and the playhead stays."""
        index = bisect_left(self._incidents, self.position)
        if index == len(self._incidents):
            return False
        self._go(self._incidents[index] + 1, now)
        return True

    def previous_incident(self, now: float) -> bool:
        """Go right behind the incident before the one shown last; False: there is none, and the playhead stays."""
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


def _within_reach(speed: float) -> float:
    return min(max(speed, SLOWEST), FASTEST)
