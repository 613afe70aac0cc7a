"""Messages in the output of an MCP server, which arrives in pieces. The class has mistakes; TASK.md has the rules."""

import json
from typing import Any

Message = dict[str, Any]
LONGEST = 100_000
"""Bytes of a line; a longer one is dropped."""


class Frames:
    """Finds the messages of one server."""

    def __init__(self) -> None:
        self.stray = 0
        """Lines that were no messages."""
        self.open = b""
        self.skips = False

    def feed(self, data: bytes) -> list[Message]:
        """The messages that are complete with this piece, in order."""
        # ── your part begins ─────────────────────────────────────────────
        return [json.loads(line) for line in data.decode().splitlines()]
        # ── your part ends ───────────────────────────────────────────────
