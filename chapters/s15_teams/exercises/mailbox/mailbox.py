"""A mailbox on a disk. Its parts have mistakes; TASK.md has the rules."""

import json
from collections.abc import Iterator
from typing import Any, Protocol

Message = dict[str, Any]
"""{"from": "ann", "key": 3, "text": "…"}: the third message of ann, whoever sends it again."""


class Disk(Protocol):
    """Files that several programs use. Any program may be killed in any call."""

    def append(self, name: str, data: bytes) -> None:
        """Add to the end of a file, as one step. When the program is killed in it, only the beginning is written."""

    def read(self, name: str, start: int = 0) -> bytes:
        """A file from a position to its end, empty if there is none."""

    def remove(self, name: str) -> None:
        """Delete a file."""


def history(disk: Disk, name: str) -> Iterator[Message]:
    """What a reader has read. This part is right: every whole line with a message counts."""
    for line in disk.read(f"{name}.history").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


class Mailbox:
    """The mailbox of one reader; several programs write to it, and one reads at a time."""

    def __init__(self, disk: Disk, name: str) -> None:
        self.disk = disk
        self.mail = f"{name}.mail"
        self.history = f"{name}.history"
        self.name = name

    def send(self, message: Message) -> None:
        """Send a message; when this returns, it is sent."""
        # ── your part begins ─────────────────────────────────────────────
        self.disk.append(self.mail, json.dumps(message).encode() + b"\n")
        # ── your part ends ───────────────────────────────────────────────

    def read(self) -> None:
        """Add every new message to the history, the oldest first."""
        # ── your part begins ─────────────────────────────────────────────
        data = self.disk.read(self.mail)
        self.disk.remove(self.mail)
        for line in data.splitlines():
            self.disk.append(self.history, line + b"\n")
        # ── your part ends ───────────────────────────────────────────────
