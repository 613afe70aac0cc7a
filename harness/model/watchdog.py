"""When to give up on a silent connection. Pure: times go in, a deadline comes out.

How long silence is normal depends on the phase of the answer (recovery §8): before the response
headers the model reads the prompt; before the first block and inside thinking it may be quiet for
minutes; inside a text or tool_use block it is not. Pings show that the connection lives, not that
the model works: they move the byte limit and never the event limit (recovery G1).
"""

from dataclasses import dataclass
from typing import Literal

Phase = Literal["waiting", "thinking", "content"]
"""Where a stream stands: no block open, inside thinking, inside any other block."""


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """How much silence is too much. All in seconds (recovery §8, row Watchdog)."""

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
    """Without an event, until the person is told."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """When the request is given up unless something arrives first."""

    at: float
    """On the clock that the watchdog is fed with, seconds."""
    reason: str
    """Ends the sentence "The model was given up: …"."""


class Watchdog:
    """Follows one request. The caller tells it what arrived and when; `deadline` may move either way."""

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
        """Some bytes of the body arrived, pings and comments included."""
        self._last_byte = now

    def on_event(self, now: float, phase: Phase) -> None:
        """An event other than a ping arrived; `phase` is where the stream stands after it."""
        self._last_event = now
        self._phase = phase

    def deadline(self) -> Deadline:
        """The earliest limit that the silence so far runs into."""
        limits = self._limits
        if not self._headers_seen:
            return Deadline(
                self._last_event + self._headers_limit, f"no answer began within {self._headers_limit:.4g} s"
            )
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
        """When the person should be told that nothing happens."""
        return self._last_event + self._limits.hint_s

    def silent_s(self, now: float) -> float:
        """Seconds since the last event other than a ping."""
        return now - self._last_event

    @property
    def phase(self) -> str:
        """Where the request stands: "connecting" until the response headers, then as in `Phase`."""
        return self._phase if self._headers_seen else "connecting"
