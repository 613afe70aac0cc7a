"""The ends of background commands on their way to the model. Its parts have mistakes; TASK.md has the rules."""

from collections.abc import Callable
from typing import Any

Event = dict[str, Any]
MOST = 5
"""Ends in one message."""


def told(command: str, code: int | None) -> str:
    """What the model reads of an end; None: it is unknown."""
    return f"{command} is lost; what became of it is not known" if code is None else f"{command} ended with {code}"


class Inbox:
    """`write` appends an event to the log; `log` holds the events of an earlier program that was killed."""

    def __init__(self, log: list[Event], write: Callable[[Event], None]) -> None:
        """Continue from the log."""
        self._write = write
        # ── your part begins ─────────────────────────────────────────────
        self.waiting: dict[str, int | None] = {}
        # ── your part ends ───────────────────────────────────────────────

    def started(self, command: str) -> None:
        """A command runs now."""
        self._write({"type": "started", "command": command})

    def ended(self, command: str, code: int) -> None:
        """A command has ended; this may be called twice for one command."""
        # ── your part begins ─────────────────────────────────────────────
        self.waiting[command] = code
        self._write({"type": "ended", "command": command, "code": code})
        # ── your part ends ───────────────────────────────────────────────

    def deliver(self) -> str:
        """Tell the model of the ends that wait, in one message; returns its text, "" for none."""
        # ── your part begins ─────────────────────────────────────────────
        text = "\n".join(told(command, code) for command, code in self.waiting.items())
        self._write({"type": "delivered", "commands": list(self.waiting)})
        self._write({"type": "message", "text": text})
        self.waiting.clear()
        return text
        # ── your part ends ───────────────────────────────────────────────
