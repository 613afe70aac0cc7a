"""The answers of the admission controller."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.events import DropReason, RejectionReason

Work = TypeVar("Work")
"""The work: anything that the caller understands. The controller never looks at it."""


@dataclass(frozen=True, slots=True)
class Permit:
    """A slot in use. It is returned once, when the last process of the work has ended."""

    key: str
    number: int


@dataclass(frozen=True, slots=True)
class Admit(Generic[Work]):
    """Do it now."""

    ticket: Permit
    work: Work


@dataclass(frozen=True, slots=True)
class Enqueue:
    """It waits. Its start comes with a release, unless an event says that it was replaced or dropped."""

    number: int
    replaced: int | None = None
    """Number of the older work whose place it took."""


@dataclass(frozen=True, slots=True)
class Defer:
    """It cannot even wait. Its conversation is marked and will be asked for again."""

    number: int
    reason: DropReason


@dataclass(frozen=True, slots=True)
class Reject:
    """It is not taken in."""

    reason: RejectionReason


@dataclass(frozen=True, slots=True)
class WorkCounts:
    """Counts of all work since the controller was created."""

    accepted: int = 0
    done: int = 0
    running: int = 0
    queued: int = 0
    replaced: int = 0
    dropped: int = 0
