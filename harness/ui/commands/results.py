"""Results of slash commands, for the front end to carry out."""

from collections.abc import AsyncGenerator, Coroutine
from dataclasses import dataclass
from typing import Any

from harness.base.errors import HarnessError
from harness.events import Event
from harness.session import Opening
from harness.ui.lines.line import Groups


class CommandError(HarnessError):
    """A slash command cannot run as typed."""


@dataclass(frozen=True, slots=True)
class ShowText:
    """Show a text."""

    text: str


@dataclass(frozen=True, slots=True)
class ShowList:
    """Show a list from its first line."""

    groups: Groups


@dataclass(frozen=True, slots=True)
class StartTask:
    """Run `work` concurrently and show the text it returns."""

    work: Coroutine[Any, Any, str]


@dataclass(frozen=True, slots=True)
class ShowDiff:
    """Run `work` concurrently and show its parts: texts, and unified diffs of one file each."""

    work: Coroutine[Any, Any, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class CopyText:
    """Send a text to the clipboard."""

    text: str


@dataclass(frozen=True, slots=True)
class PlayEvents:
    """Show events as they arrive."""

    events: AsyncGenerator[Event, None]
    steers: bool = True
    """Prompts typed meanwhile join the turn, if it is one; False: each waits for a turn of its own."""


@dataclass(frozen=True, slots=True)
class SwitchSession:
    """Close this session, open another and show `text` there."""

    opening: Opening
    text: str


@dataclass(frozen=True, slots=True)
class EditQueue:
    """Show the queued prompts."""

    clear: bool
    """Remove them, too."""


@dataclass(frozen=True, slots=True)
class Quit:
    """End the program."""


CommandResult = ShowText | ShowList | ShowDiff | CopyText | StartTask | PlayEvents | SwitchSession | EditQueue | Quit
