"""When it is drawn, by a clock that a test moves."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from harness.ui.app.alarm import AT_ONCE_S, LATE_S
from harness.ui.app.redraw import LATEST_S, PANEL_S, SHARE, SOONEST_S, RedrawScheduler


@dataclass
class Alarm:
    """Fires once."""

    at: float
    callback: Callable[[], None]
    stopped: bool = False

    def cancel(self) -> None:
        self.stopped = True


@dataclass
class Time:
    """A clock, its alarms, and a log of redraws."""

    now: float = 100.0
    alarms: list[Alarm] = field(default_factory=list)
    chat: list[float] = field(default_factory=list)
    panel: list[float] = field(default_factory=list)
    chat_takes: float = 0.0
    used: float = 0.0
    moves_in: float | None = None
    losing: bool = False
    """Alarms that are set now never fire."""

    def after(self, delay: float, callback: Callable[[], None]) -> Alarm:
        assert delay >= AT_ONCE_S
        alarm = Alarm(self.now + delay, callback)
        if not self.losing:
            self.alarms.append(alarm)
        return alarm

    def draw_chat(self) -> None:
        self.chat.append(self.now)
        self.now += self.chat_takes
        self.used += self.chat_takes

    def draw_panel(self) -> None:
        self.panel.append(self.now)

    def refreshing(self) -> RedrawScheduler:
        return RedrawScheduler(
            self,
            self.draw_chat,
            self.draw_panel,
            lambda: self.moves_in,
            clock=lambda: self.now,
            used=lambda: self.used,
        )

    @property
    def set(self) -> list[Alarm]:
        """The alarms that are still to come."""
        return [alarm for alarm in self.alarms if not alarm.stopped]

    def until(self, moment: float) -> None:
        """Let time pass."""
        while due := [alarm for alarm in self.set if alarm.at <= moment]:
            first = min(due, key=lambda alarm: alarm.at)
            self.alarms.remove(first)
            self.now = max(self.now, first.at)
            first.callback()
        self.now = max(self.now, moment)


def test_nothing_changed_sets_no_timer() -> None:
    time = Time()
    time.refreshing()
    assert time.alarms == []


def test_a_change_is_drawn_at_once_and_then_nothing_is_left_waiting() -> None:
    time = Time()
    time.refreshing().changed()
    time.until(101)
    assert time.chat == time.panel == [100 + AT_ONCE_S]
    assert time.set == []


def test_what_a_user_asks_for_is_drawn_now_and_what_was_due_does_not_follow() -> None:
    time = Time()
    refreshing = time.refreshing()
    refreshing.changed()
    refreshing.at_once()
    refreshing.at_once()
    assert time.chat == time.panel == [100, 100]
    assert time.set == []
    refreshing.changed()
    time.until(110)
    assert time.chat[2:] == [100 + SOONEST_S]
    assert time.panel[2:] == [100 + PANEL_S]


def test_a_storm_is_drawn_a_few_times_and_its_last_change_is_among_them() -> None:
    time = Time()
    refreshing = time.refreshing()
    for number in range(1_000):
        time.until(100 + number / 1_000)
        refreshing.changed()
    time.until(110)
    assert len(time.chat) <= 1 / SOONEST_S + 2
    assert len(time.panel) <= 1 / PANEL_S + 2
    assert time.chat[-1] >= 100.999
    assert time.panel[-1] >= 100.999


def test_a_drawing_that_costs_much_is_not_repeated_before_a_multiple_of_that() -> None:
    time = Time(chat_takes=0.04)
    refreshing = time.refreshing()
    for number in range(1_000):
        time.until(100 + number / 100)
        refreshing.changed()
    begun = list(zip(time.chat, time.chat[1:], strict=False))
    assert all(later - before >= SHARE * 0.04 - AT_ONCE_S for before, later in begun)
    assert len(time.panel) < 10 / PANEL_S


def test_however_much_drawing_costs_it_is_drawn_in_the_end() -> None:
    time = Time(chat_takes=0.3)
    refreshing = time.refreshing()
    for number in range(1_000):
        time.until(100 + number / 100)
        refreshing.changed()
    begun = zip(time.chat, time.chat[1:], strict=False)
    assert all(later - before <= LATEST_S + 0.1 for before, later in begun)


def test_what_moves_is_drawn_when_it_does_by_one_timer_at_a_time_until_it_stops() -> None:
    time = Time(moves_in=1.0)
    refreshing = time.refreshing()
    refreshing.changed()
    time.until(100.5)
    at_rest = len(time.set)
    time.until(104.5)
    assert len(time.panel) == 5
    refreshing.changed()
    time.until(104.7)
    assert len(time.set) == at_rest
    time.moves_in = None
    time.until(110)
    assert time.set == []


def test_stopped_it_draws_no_more() -> None:
    time = Time(moves_in=1.0)
    refreshing = time.refreshing()
    refreshing.changed()
    time.until(100.5)
    refreshing.changed()
    refreshing.stop()
    drawn = len(time.chat), len(time.panel)
    assert time.set == []
    time.until(110)
    assert (len(time.chat), len(time.panel)) == drawn


def test_a_drawing_whose_alarm_is_lost_comes_with_the_next_change() -> None:
    time = Time(losing=True)
    refreshing = time.refreshing()
    refreshing.changed()
    time.losing = False
    time.until(101)
    assert time.chat == time.panel == []
    refreshing.changed()
    time.until(102)
    assert time.chat == time.panel == [101 + AT_ONCE_S]


def test_a_drawing_whose_alarm_is_lost_comes_within_a_second() -> None:
    time = Time()
    time.refreshing().changed()
    for lost in [alarm for alarm in time.set if alarm.at <= 100 + AT_ONCE_S]:
        time.alarms.remove(lost)
    time.until(101)
    assert time.chat == time.panel == [100 + AT_ONCE_S + LATE_S + AT_ONCE_S]


@given(st.lists(st.floats(0.001, 2.0), min_size=1, max_size=40), st.sampled_from((0.0, 0.01, 0.3)))
def test_every_change_is_drawn_soon_and_no_two_drawings_are_too_close(gaps: list[float], takes: float) -> None:
    time = Time(chat_takes=takes)
    refreshing = time.refreshing()
    changes = []
    for gap in gaps:
        time.until(time.now + gap)
        changes.append((time.now, len(time.chat), len(time.panel)))
        refreshing.changed()
    time.until(time.now + 10)
    latest = LATEST_S + 2 * takes + 3 * AT_ONCE_S  # a drawing that has begun, and one of the conversation before it
    for changed, chats, panels in changes:
        # The first drawing that comes after a change, maybe at the same moment by the clock, shows it.
        assert time.chat[chats] <= changed + latest
        assert time.panel[panels] <= changed + latest
    assert all(b - a >= SOONEST_S - 1e-9 for a, b in zip(time.chat, time.chat[1:], strict=False))
    assert all(b - a >= PANEL_S - 1e-9 for a, b in zip(time.panel, time.panel[1:], strict=False))
    assert time.set == []
