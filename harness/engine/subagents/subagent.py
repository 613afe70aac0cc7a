"""A subagent, and the order that it is made for."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import Asker
from harness.events import Effort, Event, Message


@dataclass(frozen=True, slots=True)
class SubagentSpec:
    """The subagent that a task needs."""

    agent: str
    """Its id, such as "a1"."""
    tools: tuple[str, ...]
    """Names of its tools."""
    asker: Asker
    again: bool
    """It has worked before and continues from there."""
    messages: tuple[Message, ...] = ()
    """Its history, where no journal keeps it."""
    model: str = ""
    """Its model; empty: that of the parent."""
    effort: Effort | None = None
    """None: that of the parent."""
    role: str = ""
    """Text of its kind for the system prompt; empty: of no special kind."""


class Subagent(Protocol):
    """An agent that was started for one task."""

    @property
    def conversation(self) -> Conversation:
        """Its history and spend."""
        ...

    @property
    def journal(self) -> str:
        """Name of the file with its events; empty: it has none."""
        ...

    def run(self, prompt: str) -> AsyncGenerator[Event, None]:
        """Work on the task; the last event is `TurnEnded`."""
        ...

    def interrupt(self) -> None:
        """End the turn as soon as possible, also one that has not begun."""
        ...

    async def aclose(self) -> None:
        """Close its resources."""
        ...
