"""Lines of a command are merged, rate-limited and counted; each one is sent or counted exactly once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import MonitorEnd
from harness.policies.background.line_monitor import LineMonitor, MonitorLimits, decide, observed

LIMITS = MonitorLimits(interval_s=5, longest_interval_s=20, lines=3, notifications=4)


def test_lines_wait_for_the_interval_and_are_sent_together() -> None:
    monitor = observed(LineMonitor(until=1_000), ["one"], LIMITS)
    first = decide(monitor, 10, LIMITS, unread=False)
    assert first.batch is not None
    assert first.batch.lines == ("one",)
    monitor = observed(first.monitor, ["two", "three"], LIMITS)
    assert decide(monitor, 14.9, LIMITS, unread=False).batch is None
    assert decide(monitor, 15, LIMITS, unread=True).batch is None
    second = decide(monitor, 15, LIMITS, unread=False)
    assert second.batch is not None
    assert (second.batch.lines, second.monitor.interval_s) == (("two", "three"), 10)
    after_a_rest = decide(observed(second.monitor, ["four"], LIMITS), 60, LIMITS, unread=False)
    assert after_a_rest.monitor.interval_s == 5


def test_only_lines_with_one_of_the_words_count() -> None:
    monitor = observed(LineMonitor(until=9, words=("error", "Straße")), ["ERROR 1", "fine", "STRASSE", ""], LIMITS)
    assert monitor.pending == ("ERROR 1", "STRASSE")


def test_the_deadline_sends_what_is_left() -> None:
    step = decide(observed(LineMonitor(until=50, sent_at=49, interval_s=5), ["last"], LIMITS), 50, LIMITS, unread=True)
    assert step.batch is not None
    assert (step.batch.lines, step.end) == (("last",), MonitorEnd.DEADLINE)


@pytest.mark.parametrize("over", [False, True])
@given(st.lists(st.tuples(st.floats(0, 30), st.integers(0, 8), st.booleans()), max_size=60))
def test_a_busy_command_is_sent_less_and_less_and_every_line_is_accounted_for(
    over: bool, looks: list[tuple[float, int, bool]]
) -> None:
    monitor, now, written, accounted, sent_at = LineMonitor(until=10_000), 0.0, 0, 0, list[float]()
    for number, (passed, lines, unread) in enumerate(looks, 1):
        now += passed
        monitor = observed(monitor, [f"line {written + one}" for one in range(lines)], LIMITS)
        written += lines
        step = decide(monitor, now, LIMITS, unread=unread, over=over and number == len(looks))
        monitor = step.monitor
        if step.batch is not None:
            assert len(step.batch.lines) <= LIMITS.lines
            assert step.batch.lines[-1] == f"line {written - 1}"
            accounted += len(step.batch.lines) + step.batch.left_out
            assert not sent_at or now - sent_at[-1] >= LIMITS.interval_s or step.end is MonitorEnd.COMMAND_ENDED
            sent_at.append(now)
        if step.end is not None:
            break
    assert accounted + len(monitor.pending) + monitor.left_out == written
    assert len(sent_at) <= LIMITS.notifications
