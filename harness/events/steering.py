"""Events of texts that the user gives to a running turn."""

from dataclasses import dataclass

from harness.events.catalogue import Event

__all__ = ["SteeringDelivered", "SteeringQueued", "SteeringReturned"]


@dataclass(frozen=True, slots=True)
class SteeringQueued(Event):
    """The user gave a text to the running turn. The model reads it with the next request."""

    number: int
    """Counts from 1 within a session."""
    text: str


@dataclass(frozen=True, slots=True)
class SteeringDelivered(Event):
    """A text of the user joined the running turn. The message before this event holds it (`Origin.STEERING`)."""

    number: int


@dataclass(frozen=True, slots=True)
class SteeringReturned(Event):
    """The model will not read these texts: the user took them back, or a hook refused them."""

    numbers: tuple[int, ...]
