"""Schedules drawing: soon after a change, with bounded processor time, once a second during a countdown.

There is no periodic timer. Each timer fires once and is set after a change, or while something on the screen depends on
the time.
"""

from collections.abc import Callable
from time import monotonic, thread_time
from typing import Protocol

AT_ONCE_S = 0.005
"""Shortest delay; Textual timers cannot be zero."""
SOONEST_S = 0.1
"""Least seconds between two drawings of the conversation."""
PANEL_S = 0.25
"""Least seconds between two drawings of the panel."""
SHARE = 10
"""The next drawing waits this many times the processor time used since the last one. The time of the whole loop counts,
because Textual lays out and paints later."""
LATEST_S = 0.5
"""Longest such wait in seconds."""


class Timer(Protocol):
    """A timer of Textual."""

    def stop(self) -> None: ...


class HasTimers(Protocol):
    """An app of Textual."""

    def set_timer(self, delay: float, callback: Callable[[], None]) -> Timer: ...


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
        self._timers = timers
        self._draw_chat = draw_chat
        self._draw_panel = draw_panel
        self._moving = moving
        self._chat_due: Timer | None = None
        self._panel_due: Timer | None = None
        self._tick: Timer | None = None
        self._chat_pace = _Pace(SOONEST_S, clock, used)
        self._panel_pace = _Pace(PANEL_S, clock, used)

    def changed(self) -> None:
        """Draw soon."""
        if self._chat_due is None:
            self._chat_due = self._timers.set_timer(max(AT_ONCE_S, self._chat_pace.wait_s), self._chat)
        if self._panel_due is None:
            self._panel_due = self._timers.set_timer(max(AT_ONCE_S, self._panel_pace.wait_s), self._panel)

    def at_once(self) -> None:
        """Draw both now."""
        for timer in (self._chat_due, self._panel_due):
            if timer is not None:
                timer.stop()
        self._drawn_chat()
        self._drawn_panel()

    def stop(self) -> None:
        """Cancel all drawing."""
        for timer in (self._chat_due, self._panel_due, self._tick):
            if timer is not None:
                timer.stop()

    def _chat(self) -> None:
        if (wait := self._chat_pace.wait_s) > AT_ONCE_S:
            self._chat_due = self._timers.set_timer(wait, self._chat)
            return
        self._drawn_chat()

    def _drawn_chat(self) -> None:
        self._chat_due = None
        self._chat_pace.draws()
        self._draw_chat()

    def _panel(self) -> None:
        if (wait := self._panel_pace.wait_s) > AT_ONCE_S:
            self._panel_due = self._timers.set_timer(wait, self._panel)
            return
        self._drawn_panel()

    def _drawn_panel(self) -> None:
        self._panel_due = None
        self._panel_pace.draws()
        self._draw_panel()
        if self._tick is not None:
            self._tick.stop()
        delay = self._moving()
        self._tick = None if delay is None else self._timers.set_timer(max(AT_ONCE_S, delay), self._moved)

    def _moved(self) -> None:
        self._tick = None
        self.changed()
