"""A reader of one streamed answer. Its three methods have mistakes; TASK.md says what they have to do."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

READING, WHOLE, BROKEN_OFF, STALLED = "reading", "whole", "broken off", "stalled"
BYTES_S, EVENTS_S = 1.0, 1.5
"""Longest silence in seconds: without a byte, and without an event other than a ping."""


@dataclass
class Stream:
    """One answer while it arrives."""

    state: str = READING
    blocks: list[dict[str, Any]] = field(default_factory=list)
    """Complete blocks in their order: {"type": "text", "text": …} or {"type": "tool_use", "name": …, "input": …}."""
    rest: Any = ""
    """The bytes of the next event so far."""
    open: Any = None
    """The block that is open, as its start event describes it."""
    pieces: str = ""
    """Its text, or the JSON of its input, so far."""
    byte_at: float = 0.0
    event_at: float = 0.0

    def feed(self, at: float, data: bytes) -> None:
        """Bytes have arrived, `at` seconds after the request; no bytes: only time has passed."""
        # ── your part begins ─────────────────────────────────────────────
        if self.state != READING:
            return
        if at - self.byte_at > BYTES_S or at - self.event_at > EVENTS_S:
            self.state = STALLED
            return
        if data:
            self.byte_at = at
        *events, self.rest = ((self.rest or b"") + data).split(b"\n\n")
        for event in events:
            if self.state == READING:
                self.take(at, event.decode("utf-8"))
        # ── your part ends ───────────────────────────────────────────────

    def take(self, at: float, event: Any) -> None:
        """One event is complete: a line `event: NAME` and a line `data: JSON`."""
        # ── your part begins ─────────────────────────────────────────────
        first, second = event.split("\n")
        name, data = first.removeprefix("event: "), json.loads(second.removeprefix("data: "))
        if name != "ping":
            self.event_at = at
        if name == "content_block_start":
            self.open, self.pieces = data["content_block"], ""
        elif name == "content_block_delta":
            self.pieces += data["delta"].get("text") or data["delta"].get("partial_json") or ""
        elif name == "content_block_stop" and self.open is not None:
            self.close(self.open)
            self.open = None
        elif name == "error":
            self.state = BROKEN_OFF
        elif name == "message_stop":
            self.state = WHOLE

    def close(self, block: dict[str, Any]) -> None:
        """A block is complete."""
        if block["type"] == "text":
            self.blocks.append({"type": "text", "text": self.pieces})
            return
        try:
            given = json.loads(self.pieces)
        except ValueError:
            return
        if isinstance(given, dict):
            self.blocks.append({"type": "tool_use", "name": block["name"], "input": given})
        # ── your part ends ───────────────────────────────────────────────

    def end(self) -> None:
        """The connection has ended, in whatever way."""
        # ── your part begins ─────────────────────────────────────────────
        if self.state == READING:
            self.state = BROKEN_OFF
        # ── your part ends ───────────────────────────────────────────────


def read_stream(chunks: Iterable[tuple[float, bytes]]) -> tuple[str, list[dict[str, Any]]]:
    """The state of an answer and its complete blocks, read from (seconds, bytes); then the connection ends."""
    stream = Stream()
    for at, data in chunks:
        stream.feed(at, data)
        if stream.state != READING:
            break
    else:
        stream.end()
    return stream.state, stream.blocks
