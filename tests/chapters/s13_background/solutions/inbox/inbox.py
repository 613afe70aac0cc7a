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
        self._seen: set[str] = set()
        running: dict[str, None] = {}
        for event in log:
            if event["type"] == "started":
                running[event["command"]] = None
            elif event["type"] == "ended":
                running.pop(event["command"], None)
                self._seen.add(event["command"])
                self.waiting[event["command"]] = event["code"]
            elif event["type"] == "message":
                for command in event["commands"]:
                    self.waiting.pop(command, None)
        for command in running:
            self._end(command, None)
        # ── your part ends ───────────────────────────────────────────────

    def started(self, command: str) -> None:
        """A command runs now."""
        self._write({"type": "started", "command": command})

    def ended(self, command: str, code: int) -> None:
        """A command has ended; this may be called twice for one command."""
        # ── your part begins ─────────────────────────────────────────────
        if command not in self._seen:
            self._end(command, code)

    def _end(self, command: str, code: int | None) -> None:
        self._write({"type": "ended", "command": command, "code": code})
        self._seen.add(command)
        self.waiting[command] = code
        # ── your part ends ───────────────────────────────────────────────

    def deliver(self) -> str:
        """Tell the model of the ends that wait, in one message; returns its text, "" for none."""
        # ── your part begins ─────────────────────────────────────────────
        chosen = list(self.waiting)[:MOST]
        if not chosen:
            return ""
        text = "\n".join(told(command, self.waiting[command]) for command in chosen)
        self._write({"type": "message", "text": text, "commands": chosen})
        for command in chosen:
            del self.waiting[command]
        return text
        # ── your part ends ───────────────────────────────────────────────
