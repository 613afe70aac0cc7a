"""The reader of streamed answers of the program, in the form of the exercise."""

import json
from collections.abc import Iterable
from typing import Any

from anthropic._streaming import SSEDecoder

from harness.model.accumulator import Accumulator
from harness.model.watchdog import Watchdog, WatchLimits

READING, WHOLE, BROKEN_OFF, STALLED = "reading", "whole", "broken off", "stalled"
BYTES_S, EVENTS_S = 1.0, 1.5
LIMITS = WatchLimits(quiet_bytes_s=BYTES_S, quiet_event_s=EVENTS_S, content_bytes_s=BYTES_S, content_event_s=EVENTS_S)


class Stream:
    """One answer while it arrives."""

    def __init__(self) -> None:
        self.state = READING
        self.blocks: list[dict[str, Any]] = []
        self._accumulator = Accumulator()
        self._watchdog = Watchdog(LIMITS, 0, 0.0)
        self._watchdog.on_headers(0.0)
        self._decoder = SSEDecoder()
        self._rest = b""

    def feed(self, at: float, data: bytes) -> None:
        """Bytes have arrived, or only time has passed."""
        if self.state == READING and at > self._watchdog.deadline().at:
            self.state = STALLED
        if self.state != READING:
            return
        if data:
            self._watchdog.on_bytes(at)
        lines = (self._rest + data).splitlines(keepends=True)
        self._rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        for line in lines:
            event = self._decoder.decode(line.rstrip(b"\r\n").decode())
            if event is not None and self.state == READING:
                self._take(at, event.event, event.json())

    def _take(self, at: float, name: str | None, data: Any) -> None:
        if name == "error":
            self.state = BROKEN_OFF
            return
        self._accumulator.feed(name, data)
        if name != "ping":
            self._watchdog.on_event(at, self._accumulator.phase)
        if self._accumulator.complete:
            self.state = WHOLE
        content = self._accumulator.reply().content if self.state == WHOLE else self._accumulator.kept()[0]
        self.blocks = [{key: one for key, one in block.items() if key != "id"} for block in content]

    def end(self) -> None:
        """The connection has ended."""
        if self.state == READING:
            self.state = BROKEN_OFF


def read_stream(chunks: Iterable[tuple[float, bytes]]) -> tuple[str, list[dict[str, Any]]]:
    """The state of an answer and its complete blocks; then the connection ends."""
    stream = Stream()
    for at, data in chunks:
        stream.feed(at, data)
    stream.end()
    return stream.state, json.loads(json.dumps(stream.blocks))
