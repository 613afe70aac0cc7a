"""Events to and from JSON."""

import re
from functools import cache
from typing import Any

from harness.events.catalogue import Event
from harness.events.messages import Json


@cache
def _names() -> dict[type[Event], str]:
    return {cls: re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower() for cls in Event.__subclasses__()}


@cache
def _classes() -> dict[str, type[Event]]:
    return {name: cls for cls, name in _names().items()}


@cache
def _adapter(name: str) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(_classes()[name])


def name_of(cls: type[Event]) -> str:
    """The name of an event class in JSON: `RetryScheduled` is "retry_scheduled"."""
    return _names()[cls]


def encode(event: Event) -> Json:
    """The event as a JSON object with its name under "type"."""
    name = name_of(type(event))
    try:
        fields = _adapter(name).dump_python(event, mode="json")
    except ValueError:  # pydantic's JSON mode stops at a depth of 255; a model's tool call need not
        fields = _adapter(name).dump_python(event)
    return {"type": name, **fields}


def decode(data: Json) -> Event:
    """The event that `encode` made `data` of; fields of a newer version are ignored.

    Raises ValueError when the name is unknown or a field does not fit.
    """
    name = data.get("type")
    if not isinstance(name, str) or name not in _classes():
        raise ValueError(f"unknown event type {name!r}")
    event: Event = _adapter(name).validate_python({key: value for key, value in data.items() if key != "type"})
    return event
