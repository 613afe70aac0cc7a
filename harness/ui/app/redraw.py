"""When to draw: soon after a change, never more often than it can be afforded, once a second while something moves.

Nothing ticks by itself. Each timer fires once and is set only because something changed, or because what is shown
changes with time: a countdown, or how long a tool has been running (terminal §5).
"""

from collections.abc import Callable
from time import monotonic, thread_time
from typing import Protocol

AT_ONCE_S = 0.005
"""A timer of Textual cannot wait for nothing; this is what somebody who looks takes for at once."""
SOONEST_S = 0.1
"""Seconds between two drawings at least: text streams smoothly, and a storm of events costs no more than a few."""
PANEL_S = 0.25
"""The same for the panel."""
SHARE = 8
"""Nothing is drawn again before this many times the processor time that was used since it was drawn. What is counted
is that of the whole loop, because most of a drawing happens later, when Textual lays out and paints."""
LATEST_S = 0.5
"""Unless that would be later than this."""


class Timer(Protocol):
    """What was set and has not fired."""

    def stop(self) -> None:
        """Do not call back."""
        ...


class HasTimers(Protocol):
    """An app, as far as it is needed here."""

    def set_timer(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Call back once, after `delay` seconds."""
        ...


class _Pace:
    """How often one thing is drawn."""

    def __init__(self, soonest_s: float, clock: Callable[[], float], used: Callable[[], float]) -> None:
        self._soonest_s = soonest_s
        self._clock = clock
        self._used = used
        self._drawn_at = -LATEST_S
        self._used_then = used()

    def draws(self) -> None:
        """It is drawn now."""
        self._drawn_at = self._clock()
        self._used_then = self._used()

    @property
    def wait_s(self) -> float:
        """Seconds until it may be drawn again, as far as that is known yet."""
        wanted = min(SHARE * (self._used() - self._used_then), LATEST_S)
        return self._drawn_at + max(self._soonest_s, wanted) - self._clock()


class Refreshing:
    """Calls one function to draw the conversation and one to draw the panel."""

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
            draw_chat: draws what changed in the conversation.
            draw_panel: draws the panel and the status line.
            moving: seconds until what is shown changes by itself; None: it does not.
            clock: seconds that only grow.
            used: seconds of processor time that the loop has taken.
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
        """Something happened; it will be drawn."""
        if self._chat_due is None:
            self._chat_due = self._timers.set_timer(max(AT_ONCE_S, self._chat_pace.wait_s), self._chat)
        if self._panel_due is None:
            self._panel_due = self._timers.set_timer(max(AT_ONCE_S, self._panel_pace.wait_s), self._panel)

    def at_once(self) -> None:
        """Draw both now: a person has asked to see something else."""
        for timer in (self._chat_due, self._panel_due):
            if timer is not None:
                timer.stop()
        self._drawn_chat()
        self._drawn_panel()

    def stop(self) -> None:
        """Draw no more."""
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
