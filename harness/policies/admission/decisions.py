"""What the gate can answer to a piece of work."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.events import DropReason, RefusalReason

Work = TypeVar("Work")
"""What is to be done: anything that whoever carries it out understands. The gate never looks at it."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A slot that is taken. It is given back once, when the last process of the work is gone."""

    key: str
    number: int


@dataclass(frozen=True, slots=True)
class Start(Generic[Work]):
    """Do it now."""

    ticket: Ticket
    work: Work


@dataclass(frozen=True, slots=True)
class Wait:
    """It waits. Its start comes with a release, unless an event says that it was replaced or dropped."""

    number: int
    replaced: int | None = None
    """Number of the older work whose place it took."""


@dataclass(frozen=True, slots=True)
class Drop:
    """It cannot even wait. Its conversation is marked and will be asked for again."""

    number: int
    reason: DropReason


@dataclass(frozen=True, slots=True)
class Refuse:
    """It is not taken in."""

    reason: RefusalReason


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of all the work since the gate was opened."""

    accepted: int = 0
    done: int = 0
    running: int = 0
    queued: int = 0
    replaced: int = 0
    dropped: int = 0

    @property
    def balanced(self) -> bool:
        """Nothing vanished: all that was taken in is in one of these places."""
        return self.accepted == self.done + self.running + self.queued + self.replaced + self.dropped
