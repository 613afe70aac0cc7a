"""The framing of the production code, with the interface of the exercise."""

import json
from typing import Any

from harness.mcp.lines import LineBuffer

Message = dict[str, Any]
LONGEST = 100_000


class Frames:
    """Finds the messages of one server."""

    def __init__(self) -> None:
        self.stray = 0
        self._buffer = LineBuffer(LONGEST)

    def feed(self, data: bytes) -> list[Message]:
        """The messages that are complete with this piece, in order."""
        lines = [None if line is None else _message(line) for line in self._buffer.feed(data)]
        self.stray += lines.count(None)
        return [line for line in lines if line is not None]


def _message(line: bytes) -> Message | None:
    try:
        found = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("jsonrpc") == "2.0" else None
