"""Waiting for the model, but not for ever: whichever comes first of the answer, silence and the user."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TypeVar

from harness.events import Event, SilenceHint
from harness.model.watchdog import Phase, Watchdog

T = TypeVar("T")


class Cause(Enum):
    """Why a wait was ended before its work was done."""

    SILENCE = "silence"
    INTERRUPT = "interrupt"
    RECONNECT = "reconnect"
    ENOUGH = "enough"


@dataclass(frozen=True, slots=True)
class Ended:
    """The work was cancelled."""

    cause: Cause
    reason: str
    """For the person, as the end of a sentence."""


class Patience:
    """Runs one awaitable in the caller's own task and cancels it when the watchdog or the user says so.

    Nothing is polled and nothing is armed per chunk: one timer looks at the watchdog when it is due
    and sleeps again if the deadline has moved on.
    """

    def __init__(
        self,
        watchdog: Watchdog,
        hint_s: float,
        emit: Callable[[Event], None],
        interrupt: asyncio.Event,
        reconnect: asyncio.Event | None,
        clock: Callable[[], float],
        *,
        enough: asyncio.Event | None = None,
    ) -> None:
        self._watchdog = watchdog
        self._hint_s = hint_s
        self._emit = emit
        self._wishes = {Cause.INTERRUPT: interrupt}
        if reconnect is not None:
            self._wishes[Cause.RECONNECT] = reconnect
        if enough is not None:
            self._wishes[Cause.ENOUGH] = enough
        self._clock = clock
        self._scope: asyncio.Timeout | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._wakes_at = 0.0
        self._next_hint = 0.0
        self._ended: Ended | None = None

    async def wait_for(self, work: Awaitable[T]) -> T | Ended:
        """The result of `work`, or why it was cancelled. Its errors and the caller's cancellation pass through."""
        try:
            async with asyncio.timeout(None) as self._scope:
                with self._watching():
                    return await work
        except TimeoutError:
            if self._ended is None:
                raise
            return self._ended

    def on_headers(self) -> None:
        """The response headers of a stream arrived."""
        self._watchdog.on_headers(self._clock())
        self._arm_if_sooner()

    def on_bytes(self) -> None:
        """Some bytes of the body arrived."""
        self._watchdog.on_bytes(self._clock())

    def on_event(self, phase: Phase) -> None:
        """An event other than a ping arrived; `phase` is where the stream stands after it."""
        self._watchdog.on_event(self._clock(), phase)
        self._arm_if_sooner()

    @contextmanager
    def _watching(self) -> Iterator[None]:
        waiters = [asyncio.create_task(event.wait()) for event in self._wishes.values()]
        for cause, waiter in zip(self._wishes, waiters, strict=True):
            waiter.add_done_callback(partial(self._wished, cause))
        self._arm()
        try:
            yield
        finally:
            self._scope = None
            for waiter in waiters:
                waiter.cancel()
            if self._timer is not None:
                self._timer.cancel()

    def _due(self) -> float:
        return min(self._watchdog.deadline().at, max(self._watchdog.hint_at(), self._next_hint))

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._wakes_at = self._due()
        delay = max(0.0, self._wakes_at - self._clock())
        self._timer = asyncio.get_running_loop().call_later(delay, self._look)

    def _arm_if_sooner(self) -> None:
        if self._due() < self._wakes_at:
            self._arm()

    def _look(self) -> None:
        now, deadline = self._clock(), self._watchdog.deadline()
        if now >= deadline.at:
            self._end(Cause.SILENCE, deadline.reason)
            return
        if now >= max(self._watchdog.hint_at(), self._next_hint):
            self._next_hint = now + self._hint_s
            self._emit(
                SilenceHint(
                    phase=self._watchdog.phase,
                    silent_s=self._watchdog.silent_s(now),
                    gives_up_in_s=deadline.at - now,
                )
            )
        self._arm()

    def _wished(self, cause: Cause, waiter: asyncio.Task[bool]) -> None:
        if not waiter.cancelled():
            silent_s = self._watchdog.silent_s(self._clock())
            reasons = {
                Cause.INTERRUPT: "interrupted",
                Cause.RECONNECT: f"reconnect asked after {silent_s:.0f} s of silence",
                Cause.ENOUGH: "the rest of the reply was not wanted",
            }
            self._end(cause, reasons[cause])

    def _end(self, cause: Cause, reason: str) -> None:
        if self._scope is not None and self._ended is None:
            self._ended = Ended(cause, reason)
            self._scope.reschedule(asyncio.get_running_loop().time())
