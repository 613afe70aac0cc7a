"""A journal of one program, and the history that is read from it. Its parts have mistakes; TASK.md has the rules."""

import json
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Message = dict[str, Any]
LOST = "Stopped before it ended. It may or may not have run; look before you repeat it."


class Journal:
    """Writes events to a file, one JSON object a line, each with a number `seq` from 1."""

    def __init__(self, path: Path) -> None:
        """Begin a journal, or continue one."""
        # ── your part begins ─────────────────────────────────────────────
        before = path.read_bytes() if path.exists() else b""
        self._seq = max((event["seq"] for event in read(path)), default=0) if before else 0
        self._file = path.open("ab", buffering=0)
        if before and not before.endswith(b"\n"):
            self._file.write(b"\n")
        # ── your part ends ───────────────────────────────────────────────

    def append(self, event: Event) -> None:
        """Write an event."""
        # ── your part begins ─────────────────────────────────────────────
        self._seq += 1
        self._file.write(json.dumps({"seq": self._seq, **event}).encode() + b"\n")
        # ── your part ends ───────────────────────────────────────────────

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read(path: Path) -> list[Event]:
    """The events of a journal, in the order of the file."""
    # ── your part begins ─────────────────────────────────────────────
    events = []
    for line in path.read_bytes().split(b"\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(event)
    return events
    # ── your part ends ───────────────────────────────────────────────


def history(events: list[Event]) -> list[Message]:
    """The messages that are sent to the model next."""
    # ── your part begins ─────────────────────────────────────────────
    messages: list[Message] = []
    for event in events:
        if event["type"] == "message":
            messages.append({"role": event["role"], "content": event["content"]})
        elif event["type"] == "replaced":
            messages = list(event["messages"])
    whole: list[Message] = []
    waiting: list[str] = []
    for message in messages:
        content = message["content"]
        if message["role"] == "user":
            given = {block.get("tool_use_id") for block in content}
            content = [_lost(call) for call in waiting if call not in given] + content
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
        whole.append({"role": message["role"], "content": content})
    if waiting:
        whole.append({"role": "user", "content": [_lost(call) for call in waiting]})
    return whole
    # ── your part ends ───────────────────────────────────────────────


def _lost(call: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": LOST, "is_error": True}
