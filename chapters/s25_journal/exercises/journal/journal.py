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
        self._file = path.open("a", encoding="utf-8")
        self._seq = 0
        # ── your part ends ───────────────────────────────────────────────

    def append(self, event: Event) -> None:
        """Write an event."""
        # ── your part begins ─────────────────────────────────────────────
        self._seq += 1
        self._file.write(json.dumps({"seq": self._seq, **event}) + "\n")
        # ── your part ends ───────────────────────────────────────────────

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read(path: Path) -> list[Event]:
    """The events of a journal, in the order of the file."""
    # ── your part begins ─────────────────────────────────────────────
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    # ── your part ends ───────────────────────────────────────────────


def history(events: list[Event]) -> list[Message]:
    """The messages that are sent to the model next."""
    # ── your part begins ─────────────────────────────────────────────
    messages: list[Message] = []
    for event in events:
        if event["type"] == "message":
            messages.append({"role": event["role"], "content": event["content"]})
    return messages
    # ── your part ends ───────────────────────────────────────────────
