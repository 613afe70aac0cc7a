"""What lets agents work needs of one: that it can be made for an order, takes a task, and can be ended."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import Asker
from harness.events import Effort, Event, Message


class Worker(Protocol):
    """An agent at work on one task."""

    @property
    def conversation(self) -> Conversation:
        """What it says and hears."""
        ...

    @property
    def journal(self) -> str:
        """Name of the file with its events; empty: nobody keeps them."""
        ...

    def run(self, prompt: str) -> AsyncGenerator[Event, None]:
        """Take the task; the last event is `TurnEnded`."""
        ...

    def interrupt(self) -> None:
        """End the turn as soon as possible."""
        ...

    async def aclose(self) -> None:
        """Let go of everything that is its own."""
        ...


@dataclass(frozen=True, slots=True)
class Order:
    """What kind of agent is wanted."""

    agent: str
    tools: tuple[str, ...]
    """Names of what it may use."""
    asker: Asker
    again: bool
    """It has worked before, and goes on from there."""
    messages: tuple[Message, ...] = ()
    """Its history, where no journal keeps it."""
    model: str = ""
    """Who answers it; empty: the model of the one it works for."""
    effort: Effort | None = None
    """What it is to put into its replies; None: as the one it works for."""
    role: str = ""
    """What the file of its kind says; empty: it is of no special kind."""
