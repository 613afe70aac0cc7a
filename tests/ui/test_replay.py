"""The playhead against a naive one that looks at every record each time."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import JournalError
from harness.events import (
    AgentEnd,
    BreakerChanged,
    BreakerState,
    CascadeChanged,
    CascadePhase,
    ChangeReason,
    CommandEnd,
    CompactionStarted,
    DropReason,
    Event,
    Fault,
    FaultKind,
    FaultOccurred,
    ModelSwitched,
    Notice,
    OutputCapChanged,
    RetryScheduled,
    Rung,
    StepStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
    WorkDropped,
)
from harness.journal.follow import Record
from harness.ui.replay import FASTEST, LONGEST_GAP_S, SLOWEST, ReplayPlayer, is_incident
from tests.ui import work
from tests.ui.loops import FOUND, LEFT, REPORT, took
from tests.whole import WHOLE

QUIET = Notice("info", "all is well")
TROUBLE = ModelSwitched("one", "other", "overloaded")


def records(*parts: tuple[float, Event]) -> list[Record]:
    """One record for each pair of a gap in seconds and an event."""
    at, made = 1_000.0, list[Record]()
    for number, (gap, event) in enumerate(parts, start=1):
        at += gap
        made.append(Record(number, at, event))
    return made


STORY = records(
    (0, TurnStarted(1, "begin")),
    (0.5, StepStarted(1)),
    (1, QUIET),
    (60, TROUBLE),
    (0.5, StepStarted(2)),
    (0.5, TROUBLE),
    (0, QUIET),
)


def test_records_come_in_their_rhythm_and_a_long_silence_is_short() -> None:
    player = ReplayPlayer(STORY)
    player.play(10.0)
    assert [len(player.due(now)) for now in (10.0, 10.25, 10.5, 11.5)] == [1, 0, 1, 1]
    assert player.shortened_s == 60
    assert player.wait_s(11.5) == LONGEST_GAP_S
    assert [len(player.due(now)) for now in (13.25, 13.5)] == [0, 1]
    assert player.shortened_s == 0


def test_in_a_shortened_silence_the_shown_time_runs_faster_and_ends_right() -> None:
    player = ReplayPlayer(STORY)
    player.play(0.0)
    player.due(1.5)
    begin = STORY[2].at
    assert [player.recorded_at(now) for now in (1.5, 2.5, 3.5, 9.0)] == [begin, begin + 30, begin + 60, begin + 60]


def test_it_stops_at_the_end_and_begins_anew_when_played_again() -> None:
    player = ReplayPlayer(STORY)
    player.play(0.0)
    assert len(player.due(1_000.0)) == len(STORY)
    assert (player.playing, player.over, player.wait_s(1_000.0)) == (False, True, None)
    player.play(1_001.0)
    assert player.due(1_001.0) == STORY[:1]


def test_nothing_moves_while_it_is_paused() -> None:
    player = ReplayPlayer(STORY)
    player.play(0.0)
    player.due(1.0)
    player.pause(1.0)
    assert (player.due(500.0), player.wait_s(500.0)) == ((), None)
    player.play(500.0)
    assert player.wait_s(500.0) == 0.5


def test_a_change_of_speed_counts_from_where_it_is_made() -> None:
    player = ReplayPlayer(STORY)
    player.play(0.0)
    player.due(0.25)
    player.set_speed(0.25, 0.25)
    assert player.wait_s(0.25) == 1.0
    player.set_speed(1e9, 0.25)
    assert player.speed == FASTEST
    player.set_speed(-1, 0.25)
    assert player.speed == SLOWEST


def test_a_step_is_sought_by_its_number() -> None:
    player = ReplayPlayer(STORY)
    player.seek(2, 0.0)
    assert (player.position, player.step, player.last_step) == (4, 1, 2)
    with pytest.raises(JournalError, match="has no step 3; its steps are 1 to 2"):
        player.seek(3, 0.0)
    with pytest.raises(JournalError, match="it has none at all"):
        ReplayPlayer(STORY[:1]).seek(1, 0.0)


def test_a_clock_that_was_set_back_costs_no_time() -> None:
    player = ReplayPlayer([Record(1, 1_000.0, QUIET), Record(2, 500.0, QUIET), Record(3, 501.0, QUIET)])
    player.play(0.0)
    assert len(player.due(0.0)) == 2
    assert (player.recorded_at(0.0), player.wait_s(0.0)) == (500.0, 1.0)


def test_a_session_without_records_is_over_at_once() -> None:
    player = ReplayPlayer([])
    player.play(0.0)
    assert (player.due(1.0), player.over, player.playing) == ([], True, False)
    assert (player.next_incident(0.0), player.previous_incident(0.0), player.recorded_at(0.0)) == (False, False, 0.0)


FAULT = FaultOccurred(Fault(FaultKind.OVERLOADED, "Overloaded"), "one", 1)
RETRY = RetryScheduled("model", FaultKind.OVERLOADED, 1, 10, 1.0, 0.0, 529, None, "")
OPENED = BreakerChanged("bash", BreakerState.CLOSED, BreakerState.OPEN, ChangeReason.THRESHOLD, 3, 2, 1)
CLOSED = BreakerChanged("bash", BreakerState.HALF_OPEN, BreakerState.CLOSED, ChangeReason.PROBE_SUCCEEDED, 0, 3, 1)
CASCADE = CascadeChanged("disk", CascadePhase.SYSTEMIC, ("bash",), "the disk is full", 1)


def ended(code: TransitionCode) -> TurnEnded:
    return TurnEnded(1, code, "", "", Usage(), 0.0, 1, 1, 0.0)


@pytest.mark.parametrize(
    "event",
    [
        *(FAULT, RETRY, OPENED, CASCADE, TROUBLE, CompactionStarted("auto", 1), OutputCapChanged(1, 2, "cut")),
        *(ended(TransitionCode.API_ERROR), ended(TransitionCode.FAILURE_BUDGET_PAUSED)),
        *(FOUND, took(Rung.NUDGE), REPORT, ended(TransitionCode.LOOP_STOPPED)),
        *(
            work.ended("a1", AgentEnd.STUCK),
            work.quiet("b1"),
            work.over("b1", 1),
            work.over("b1", None, CommandEnd.LOST),
        ),
        WorkDropped("a1", 1, DropReason.PAUSED, deferred=False),
    ],
)
def test_trouble_and_what_is_done_about_it_is_an_incident(event: Event) -> None:
    assert is_incident(event)


@pytest.mark.parametrize(
    "event",
    [
        *(QUIET, CLOSED, LEFT, StepStarted(1), OutputCapChanged(2, 1, "back"), ended(TransitionCode.COMPLETED)),
        *(work.created("a1"), work.ended("a1"), work.ended("a1", AgentEnd.CANCELLED), work.put_off("a1", 1)),
        *(work.over("b1"), work.over("b1", -15, CommandEnd.STOPPED)),
    ],
)
def test_what_goes_as_it_should_is_none(event: Event) -> None:
    assert not is_incident(event)


# ── against the naive one ───────────────────────────────────────────────────────────────────────


class Naive:
    """A naive playhead: no index, no bisection, each answer counted from the first record."""

    def __init__(self, story: Sequence[Record]) -> None:
        self.story = story
        self.position, self.tape, self.speed, self.playing = 0, 0.0, 1.0, False

    def place(self, index: int) -> float:
        gaps = [max(0.0, self.story[i].at - self.story[i - 1].at) for i in range(1, index + 1)]
        return sum(min(gap, 2.0) for gap in gaps)

    def after(self, seconds: float) -> None:
        if not self.playing:
            return
        self.tape += seconds * self.speed
        self.position = sum(1 for index in range(len(self.story)) if self.place(index) <= self.tape)
        self.playing = self.position < len(self.story)

    def go(self, position: int) -> None:
        self.position = position
        self.tape = self.place(position - 1) if position else 0.0
        self.playing = self.playing and position < len(self.story)

    def go_if_any(self, position: int | None) -> None:
        if position is not None:
            self.go(position)

    def press(self, key: str) -> None:
        stops = [i for i, record in enumerate(self.story) if isinstance(record.event, StepStarted)]
        troubles = [i + 1 for i, record in enumerate(self.story) if record.event is TROUBLE]
        match key:
            case "play":
                if self.position == len(self.story):
                    self.go(0)
                self.playing = True
            case "pause":
                self.playing = False
            case "start":
                self.go(0)
            case "end":
                self.go(len(self.story))
            case "step_forward":
                self.go(min([*(i for i in stops if i > self.position), len(self.story)]))
            case "step_back":
                self.go(max([0, *(i for i in stops if i < self.position)]))
            case "next_incident":
                self.go_if_any(min([i for i in troubles if i > self.position], default=None))
            case "previous_incident":
                self.go_if_any(max([i for i in troubles if i < self.position], default=None))
            case _:
                self.speed = float(key)


QUARTERS = st.integers(-2, 40).map(lambda quarters: quarters / 4)
"""Seconds that floats hold exactly, as their sums and products with the speeds."""
KEYS = ["play", "pause", "start", "end", "step_forward", "step_back", "next_incident", "previous_incident"]
SPEEDS = ["0.25", "1.0", "4.0", "32.0"]


@settings(max_examples=500 if WHOLE else 120)
@given(
    st.lists(st.tuples(QUARTERS, st.sampled_from([QUIET, TROUBLE, "step"])), max_size=12),
    st.lists(st.one_of(QUARTERS.map(abs), st.sampled_from([*KEYS, *KEYS, *SPEEDS])), max_size=25),
)
def test_whatever_is_pressed_and_however_long_it_is_waited_the_playheads_agree(
    parts: list[tuple[float, Event | str]], course: list[float | str]
) -> None:
    number = iter(range(1, 100))
    story = records(*((gap, StepStarted(next(number)) if isinstance(event, str) else event) for gap, event in parts))
    player, naive, now, shown = ReplayPlayer(story), Naive(story), 50.0, list[Record]()
    for happening in course:
        before = player.position
        match happening:
            case float(seconds):
                now += seconds
                naive.after(seconds)
                events = player.due(now)
                assert list(events) == story[before : player.position]
                shown = [*shown, *events]
            case str(speed) if speed in SPEEDS:
                naive.press(speed)
                player.set_speed(float(speed), now)
            case key:
                naive.press(str(key))
                found = getattr(player, str(key))(now)
                assert found is None or found == (player.position != before)
        if player.position < before or len(shown) < player.position:
            shown = story[: player.position]
        assert (player.position, player.playing) == (naive.position, naive.playing)
        assert shown == story[: player.position]
        assert player.step == sum(isinstance(record.event, StepStarted) for record in story[: player.position])
        if (wait := player.wait_s(now)) is not None:
            assert wait == max(0.0, naive.place(naive.position) - naive.tape) / naive.speed
        shown_at = [record.at for record in story[max(0, player.position - 1) : player.position + 1]]
        assert not story or min(shown_at) <= player.recorded_at(now) <= max(shown_at)
