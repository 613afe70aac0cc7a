"""A call after a delay that cannot get lost.

A one-shot timer of Textual skips its only call if its time has passed before its task looks at the clock, as on a busy
machine. So an alarm uses the timers of the event loop, rings again a second later until it was heard, and is armed once
more by a change that finds it overdue.
"""

from collections.abc import Callable
from time import monotonic
from typing import Protocol

AT_ONCE_S = 0.005
"""Shortest delay; further changes may join the first one meanwhile."""
LATE_S = 0.9
"""Seconds between the rings of an alarm that was not heard."""
OVERDUE_S = 0.25
"""Seconds after which a change no longer relies on an alarm that is due."""


class TimerHandle(Protocol):
    """A call that can be cancelled, as of asyncio."""

    def cancel(self) -> None: ...


class HasTimers(Protocol):
    """A `TerminalApp`."""

    def after(self, delay: float, callback: Callable[[], None]) -> TimerHandle: ...


class Alarm:
    """Calls back once per setting."""

    def __init__(
        self, timers: HasTimers, callback: Callable[[], None], *, clock: Callable[[], float] = monotonic
    ) -> None:
        self._timers = timers
        self._callback = callback
        self._clock = clock
        self._due: float | None = None
        self._setting = object()
        self._handles: list[TimerHandle] = []

    def set(self, delay: float) -> None:
        """Call back after `delay` seconds instead of at the time set before."""
        self.stop()
        self._setting = object()
        self._arm(max(AT_ONCE_S, delay))

    def expect(self, delay: float) -> None:
        """Call back after `delay` seconds unless it is set; if it is overdue, soon."""
        if self._due is None:
            self.set(delay)
        elif self._clock() - self._due > OVERDUE_S:
            self._arm(AT_ONCE_S)  # the ring that is due still counts, or a busy loop could put it off forever

    def stop(self) -> None:
        """Do not call back."""
        self._due = None
        for handle in self._handles:
            handle.cancel()
        self._handles = []

    def _arm(self, delay: float) -> None:
        setting = self._setting

        def ring() -> None:
            if self._due is not None and setting is self._setting:
                self.stop()
                self._callback()

        def again() -> None:
            if self._due is not None and setting is self._setting:
                self._arm(AT_ONCE_S)

        self._due = self._clock() + delay
        self._handles += [self._timers.after(delay, ring), self._timers.after(delay + LATE_S, again)]
