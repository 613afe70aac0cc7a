"""Give up on a silent connection, or when the user interrupts.

`Watchdog` is pure: times go in, a deadline comes out. How long silence is normal depends on the phase of the reply
(docs/design/model-calls.md#silence). `AbortableWait` enforces the deadline.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Literal, TypeVar

from harness.events import Event, SilenceEnded, SilenceHint

T = TypeVar("T")
LATE_S = 0.5
"""A check of the deadline that is later than this found the program held up; it waits as long once more."""
Phase = Literal["waiting", "thinking", "content"]
"""Position in a stream: no block open, inside thinking, inside any other block."""


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """Limits of silence, in seconds."""

    headers_s: float = 60.0
    """Until the response headers, for an empty prompt."""
    headers_s_per_10k_tokens: float = 1.0
    """Added to `headers_s` for every 10,000 estimated input tokens."""
    quiet_bytes_s: float = 180.0
    """Without a byte, before the first block or inside thinking."""
    quiet_event_s: float = 300.0
    """Without an event other than a ping, before the first block or inside thinking."""
    content_bytes_s: float = 45.0
    """Without a byte, inside a text or tool_use block."""
    content_event_s: float = 120.0
    """Without an event other than a ping, inside a text or tool_use block."""
    hint_s: float = 20.0
    """Without an event, until the user sees a hint."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """When the request is given up unless something arrives first."""

    at: float
    """Seconds, on the watchdog's clock."""
    reason: str
    """Ends the sentence "The model was given up: …"."""


class Watchdog:
    """Tracks one request. The caller reports what arrived and when; `deadline` may move either way."""

    def __init__(self, limits: WatchLimits, estimated_tokens: int, now: float) -> None:
        self._limits = limits
        self._headers_limit = limits.headers_s + limits.headers_s_per_10k_tokens * estimated_tokens / 10_000
        self._headers_seen = False
        self._phase: Phase = "waiting"
        self._last_byte = now
        self._last_event = now

    def on_headers(self, now: float) -> None:
        """The response headers of a stream arrived."""
        self._headers_seen = True
        self._last_byte = now
        self._last_event = now

    def on_bytes(self, now: float) -> None:
        """Bytes of the body arrived, possibly a ping or a comment."""
        self._last_byte = now

    def on_event(self, now: float, phase: Phase) -> None:
        """An event other than a ping arrived; `phase` is the position of the stream after it."""
        self._last_event = now
        self._phase = phase

    def deadline(self) -> Deadline:
        """The earliest limit that the current silence will reach."""
        limits = self._limits
        if not self._headers_seen:
            reason = f"no answer began within {self._headers_limit:.4g} s"
            return Deadline(self._last_event + self._headers_limit, reason)
        if self._phase == "content":
            bytes_limit, event_limit, where = limits.content_bytes_s, limits.content_event_s, "in the middle of a block"
        else:
            bytes_limit, event_limit, where = limits.quiet_bytes_s, limits.quiet_event_s, "before its next block"
            if self._phase == "thinking":
                where = "while thinking"
        by_bytes, by_event = self._last_byte + bytes_limit, self._last_event + event_limit
        if by_bytes <= by_event:
            return Deadline(by_bytes, f"nothing arrived for {bytes_limit:.4g} s {where}")
        return Deadline(by_event, f"only keep-alives arrived for {event_limit:.4g} s {where}")

    def hint_at(self) -> float:
        """When to show the user that nothing is arriving."""
        return self._last_event + self._limits.hint_s

    def silent_s(self, now: float) -> float:
        """Seconds since the last event other than a ping."""
        return now - self._last_event

    @property
    def phase(self) -> str:
        """ "connecting" until the response headers, then as in `Phase`."""
        return self._phase if self._headers_seen else "connecting"


class AbortCause(Enum):
    """Why a wait was aborted."""

    SILENCE = "silence"
    INTERRUPT = "interrupt"
    RECONNECT = "reconnect"
    ENOUGH = "enough"


@dataclass(frozen=True, slots=True)
class Aborted:
    """A wait was aborted."""

    cause: AbortCause
    reason: str
    """For the user, as the end of a sentence."""


class AbortableWait:
    """Runs one awaitable in the caller's task and cancels it when the watchdog or the user says so.

    One timer checks the watchdog when its deadline is due and sleeps again if the deadline has moved; nothing is polled
    or scheduled per chunk.
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
        self._signals = {AbortCause.INTERRUPT: interrupt}
        if reconnect is not None:
            self._signals[AbortCause.RECONNECT] = reconnect
        if enough is not None:
            self._signals[AbortCause.ENOUGH] = enough
        self._clock = clock
        self._scope: asyncio.Timeout | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._wakes_at = 0.0
        self._next_hint = 0.0
        self._hinted = False
        """A hint was given, and nothing but pings has arrived since."""
        self._asked_again = 0.0
        """The deadline at which a late check waited once more."""
        self._aborted: Aborted | None = None

    async def wait_for(self, work: Awaitable[T]) -> T | Aborted:
        """The result of `work`, or why it was cancelled. Its errors and the caller's cancellation pass through."""
        try:
            async with asyncio.timeout(None) as self._scope:
                with self._watching():
                    return await work
        except TimeoutError:
            if self._aborted is None:
                raise
            return self._aborted

    def on_headers(self) -> None:
        """The response headers of a stream arrived."""
        self._watchdog.on_headers(self._clock())
        self._schedule_if_sooner()

    def on_bytes(self) -> None:
        """Bytes of the body arrived."""
        self._watchdog.on_bytes(self._clock())

    def on_event(self, phase: Phase) -> None:
        """An event other than a ping arrived; `phase` is the position of the stream after it."""
        self._watchdog.on_event(self._clock(), phase)
        self._schedule_if_sooner()
        if self._hinted:
            self._hinted = False
            self._emit(SilenceEnded())

    @contextmanager
    def _watching(self) -> Iterator[None]:
        waiters = [asyncio.create_task(event.wait()) for event in self._signals.values()]
        for cause, waiter in zip(self._signals, waiters, strict=True):
            waiter.add_done_callback(partial(self._on_signal, cause))
        self._schedule()
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

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._wakes_at = self._due()
        delay = max(0.0, self._wakes_at - self._clock())
        self._timer = asyncio.get_running_loop().call_later(delay, self._check)

    def _schedule_if_sooner(self) -> None:
        if self._due() < self._wakes_at:
            self._schedule()

    def _check(self) -> None:
        now, deadline = self._clock(), self._watchdog.deadline()
        if now >= deadline.at:
            if now - deadline.at < LATE_S or self._asked_again == deadline.at:
                self._abort(AbortCause.SILENCE, deadline.reason)
                return
            self._asked_again = deadline.at  # this program was held up, so bytes may have arrived that nobody has read
            self._wakes_at = now + LATE_S
            self._timer = asyncio.get_running_loop().call_later(LATE_S, self._check)
            return
        if now >= max(self._watchdog.hint_at(), self._next_hint):
            self._next_hint = now + self._hint_s
            self._hinted = True
            silent_s = self._watchdog.silent_s(now)
            self._emit(SilenceHint(self._watchdog.phase, silent_s, gives_up_in_s=deadline.at - now))
        self._schedule()

    def _on_signal(self, cause: AbortCause, waiter: asyncio.Task[bool]) -> None:
        if not waiter.cancelled():
            silent_s = self._watchdog.silent_s(self._clock())
            reasons = {
                AbortCause.INTERRUPT: "interrupted",
                AbortCause.RECONNECT: f"reconnect asked after {silent_s:.0f} s of silence",
                AbortCause.ENOUGH: "the rest of the reply was not wanted",
            }
            self._abort(cause, reasons[cause])

    def _abort(self, cause: AbortCause, reason: str) -> None:
        if self._scope is not None and self._aborted is None:
            self._aborted = Aborted(cause, reason)
            self._scope.reschedule(asyncio.get_running_loop().time())
