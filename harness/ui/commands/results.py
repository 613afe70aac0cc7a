"""What a slash command leads to, and what can be wrong with one."""

from collections.abc import AsyncGenerator, Coroutine
from dataclasses import dataclass
from typing import Any

from harness.base.errors import HarnessError
from harness.events import Event
from harness.session import Opening
from harness.ui.lines.columns import Groups


class CommandError(HarnessError):
    """A command cannot be done as it was typed."""


@dataclass(frozen=True, slots=True)
class Say:
    """Show this text."""

    text: str


@dataclass(frozen=True, slots=True)
class ShowList:
    """Show this list, from its beginning."""

    groups: Groups


@dataclass(frozen=True, slots=True)
class Do:
    """Do this beside everything else, and show the text that comes of it."""

    work: Coroutine[Any, Any, str]


@dataclass(frozen=True, slots=True)
class Play:
    """Show these events as they come."""

    events: AsyncGenerator[Event, None]


@dataclass(frozen=True, slots=True)
class GoOn:
    """Leave this session and go on with that one."""

    opening: Opening
    text: str


@dataclass(frozen=True, slots=True)
class Leave:
    """End the program."""


Result = Say | ShowList | Do | Play | GoOn | Leave
