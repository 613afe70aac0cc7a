"""When to draw: soon after a change, never more often than it can be afforded, once a second while something moves.

Nothing ticks by itself. Each timer fires once and is set only because something changed, or because what is shown
changes with time: a countdown, or how long a tool has been running (terminal §5).
"""

from collections.abc import Callable
from time import monotonic
from typing import Protocol

AT_ONCE_S = 0.005
"""A timer of Textual cannot wait for nothing; this is what somebody who looks takes for at once."""
SOONEST_S = 0.1
"""Seconds between two drawings at least: text streams smoothly, and a storm of events costs no more than a few."""
PANEL_S = 0.25
"""The same for the panel."""
SHARE = 8
"""A drawing that took long is not repeated before this many times its duration."""


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


class Refreshing:
    """Calls one function to draw the conversation and one to draw the panel."""

    def __init__(
        self,
        timers: HasTimers,
        draw_chat: Callable[[], float],
        draw_panel: Callable[[], None],
        moving: Callable[[], float | None],
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """
        Args:
            timers: the app.
            draw_chat: draws what changed and returns what it took, in seconds.
            draw_panel: draws the panel and the status line.
            moving: seconds until what is shown changes by itself; None: it does not.
            clock: seconds that only grow.
        """
        self._timers = timers
        self._draw_chat = draw_chat
        self._draw_panel = draw_panel
        self._moving = moving
        self._clock = clock
        self._chat_due: Timer | None = None
        self._panel_due: Timer | None = None
        self._tick: Timer | None = None
        self._chat_not_before = 0.0
        self._panel_not_before = 0.0

    def changed(self) -> None:
        """Something happened; it will be drawn."""
        now = self._clock()
        if self._chat_due is None:
            self._chat_due = self._timers.set_timer(max(AT_ONCE_S, self._chat_not_before - now), self._chat)
        if self._panel_due is None:
            self._panel_due = self._timers.set_timer(max(AT_ONCE_S, self._panel_not_before - now), self._panel)

    def stop(self) -> None:
        """Draw no more."""
        for timer in (self._chat_due, self._panel_due, self._tick):
            if timer is not None:
                timer.stop()

    def _chat(self) -> None:
        self._chat_due = None
        took = self._draw_chat()
        self._chat_not_before = self._clock() + max(SOONEST_S, SHARE * took)

    def _panel(self) -> None:
        self._panel_due = None
        began = self._clock()
        self._draw_panel()
        ended = self._clock()
        self._panel_not_before = ended + max(PANEL_S, SHARE * (ended - began))
        if self._tick is not None:
            self._tick.stop()
        delay = self._moving()
        self._tick = None if delay is None else self._timers.set_timer(max(AT_ONCE_S, delay), self._moved)

    def _moved(self) -> None:
        self._tick = None
        self.changed()
