"""Schedules drawing: soon after a change, with bounded processor time, once a second during a countdown.

There is no periodic timer. Each alarm rings once and is set after a change, or while something on the screen depends on
the time.
"""

from collections.abc import Callable
from time import monotonic, thread_time

from harness.ui.app.alarm import AT_ONCE_S, Alarm, HasTimers

SOONEST_S = 0.1
"""Least seconds between two drawings of the conversation."""
PANEL_S = 0.25
"""Least seconds between two drawings of the panel."""
SHARE = 10
"""The next drawing waits this many times the processor time used since the last one. The time of the whole loop counts,
because Textual lays out and paints later."""
LATEST_S = 0.5
"""Longest such wait in seconds."""


class _Pace:
    """The rate of one kind of drawing."""

    def __init__(self, soonest_s: float, clock: Callable[[], float], used: Callable[[], float]) -> None:
        self._soonest_s = soonest_s
        self._clock = clock
        self._used = used
        self._drawn_at = -LATEST_S
        self._used_then = used()

    def draws(self) -> None:
        self._drawn_at = self._clock()
        self._used_then = self._used()

    @property
    def wait_s(self) -> float:
        wanted = min(SHARE * (self._used() - self._used_then), LATEST_S)
        return self._drawn_at + max(self._soonest_s, wanted) - self._clock()


class RedrawScheduler:
    """Decides when the conversation and the panel are drawn."""

    def __init__(
        self,
        timers: HasTimers,
        draw_chat: Callable[[], None],
        draw_panel: Callable[[], None],
        moving: Callable[[], float | None],
        *,
        clock: Callable[[], float] = monotonic,
        used: Callable[[], float] = thread_time,
    ) -> None:
        """
        Args:
            timers: the app.
            draw_chat: draws changes of the conversation.
            draw_panel: draws the panel and the status line.
            moving: seconds until the shown times change; None: there are none.
            clock: a monotonic clock.
            used: processor time of the loop in seconds.
        """
        self._draw_chat = draw_chat
        self._draw_panel = draw_panel
        self._moving = moving
        self._chat_due = Alarm(timers, self._chat, clock=clock)
        self._panel_due = Alarm(timers, self._panel, clock=clock)
        self._tick = Alarm(timers, self.changed, clock=clock)
        self._chat_pace = _Pace(SOONEST_S, clock, used)
        self._panel_pace = _Pace(PANEL_S, clock, used)

    def changed(self) -> None:
        """Draw soon."""
        self._chat_due.expect(self._chat_pace.wait_s)
        self._panel_due.expect(self._panel_pace.wait_s)

    def at_once(self) -> None:
        """Draw both now."""
        self._drawn_chat()
        self._drawn_panel()

    def stop(self) -> None:
        """Cancel all drawing."""
        for alarm in (self._chat_due, self._panel_due, self._tick):
            alarm.stop()

    def _chat(self) -> None:
        if (wait := self._chat_pace.wait_s) > AT_ONCE_S:
            self._chat_due.set(wait)
        else:
            self._drawn_chat()

    def _drawn_chat(self) -> None:
        self._chat_due.stop()
        self._chat_pace.draws()
        self._draw_chat()

    def _panel(self) -> None:
        if (wait := self._panel_pace.wait_s) > AT_ONCE_S:
            self._panel_due.set(wait)
        else:
            self._drawn_panel()

    def _drawn_panel(self) -> None:
        self._panel_due.stop()
        self._panel_pace.draws()
        self._draw_panel()
        if (delay := self._moving()) is None:
            self._tick.stop()
        else:
            self._tick.set(delay)
