"""Events of the sandbox: what this machine can enforce, and what a command was refused."""

from dataclasses import dataclass
from typing import Literal

from harness.events.catalogue import Event

__all__ = [
    "SandboxFound",
    "SandboxRefused",
]


@dataclass(frozen=True, slots=True)
class SandboxFound(Event):
    """What of the profiles this machine can enforce. When a session is opened, and when it has changed."""

    level: Literal["full", "files only", "none"]
    by: Literal["bubblewrap", "landlock", "seatbelt", ""] = ""
    """Who enforces it; empty: nothing is enforced."""
    why: str = ""
    """Why the level is not full, in a few words; empty: it is."""
    repair: str = ""
    """The command, or the setting, that would make it full; empty: none is known."""


@dataclass(frozen=True, slots=True)
class SandboxRefused(Event):
    """A command was refused something; it may have gone on without it. Once for each subject of a command."""

    call_id: str
    """The tool call that the command belongs to; empty: none."""
    kind: Literal["host", "path"]
    subject: str
    """`name:port` of a host, or an absolute path."""
    profile: Literal["look", "work"]
    why: str = ""
    """Why, in a few words; empty: its profile does not allow it."""
