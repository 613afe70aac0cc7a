"""The server-sent events in the recorded pieces of a body, each with the time at which it was complete."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream."""

    after_s: float
    """Seconds from the request to its last byte."""
    name: str
    """Empty if it has none."""
    data: str
    complete: bool = True
    """False: the stream ended within it, and `data` is its text."""


def stream_events(pieces: Iterable[tuple[float, bytes]]) -> tuple[StreamEvent, ...]:
    """The events of a body; `pieces` are its bytes with their times in seconds."""
    events: list[StreamEvent] = []
    rest, at = b"", 0.0
    for at, data in pieces:
        *blocks, rest = (rest + data).replace(b"\r\n", b"\n").split(b"\n\n")
        events.extend(_event(block, at) for block in blocks if block.strip())
    if rest.strip():
        events.append(StreamEvent(at, "", rest.decode("utf-8", "replace").strip(), complete=False))
    return tuple(events)


def _event(block: bytes, at: float) -> StreamEvent:
    fields: dict[str, list[str]] = {}
    for line in block.decode("utf-8", "replace").split("\n"):
        name, _, value = line.partition(":")
        fields.setdefault(name, []).append(value.removeprefix(" "))
    return StreamEvent(at, " ".join(fields.get("event", [])), "\n".join(fields.get("data", [])))
