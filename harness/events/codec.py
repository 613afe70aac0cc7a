"""Events to and from JSON."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from harness.events.catalogue import Event
from harness.events.messages import Json

__all__ = [
    "decode",
    "encode",
    "name_of",
]


@dataclass(frozen=True, slots=True)
class FormerSpelling:
    """Spelling of one type of event in older journals."""

    type: str = ""
    """Another name; empty: none."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Former to current names of fields."""
    values: Mapping[tuple[str, object], object] = field(default_factory=dict)
    """Current value by field and former value."""


_POOL = {"gate": "pool"}
FORMER: Mapping[str, FormerSpelling] = {
    "admission_limits_set": FormerSpelling("gate_limits_set", _POOL),
    "admission_closed": FormerSpelling("gate_closed", _POOL),
    "work_admitted": FormerSpelling(fields=_POOL),
    "work_queued": FormerSpelling("work_replaced", _POOL),
    "work_dropped": FormerSpelling(fields=_POOL | {"dirty": "deferred"}),
    "work_rejected": FormerSpelling("work_refused", _POOL),
    "work_released": FormerSpelling(fields=_POOL),
    "conversation_breaker_changed": FormerSpelling(fields=_POOL),
    "conversation_removed": FormerSpelling(fields=_POOL),
    "loop_policy_set": FormerSpelling("escape_set"),
    "command_ended": FormerSpelling(fields={"told": "reported"}),
    "dispatched": FormerSpelling(fields={"place": "index", "routes": "alternatives"}),
    "plan_reminded": FormerSpelling(fields={"rounds": "steps"}),
    "agent_moved": FormerSpelling(fields={"waits_for_person": "waits_for_user"}),
    "permission_answered": FormerSpelling(values={("by", "person"): "user"}),
}
"""By the current name of an event. `decode` reads both spellings; `encode` writes the current one."""
RETIRED = ("node_visited", "walk_ended", "watch_list_full")
"""Types of events that older versions wrote and this one ignores."""


@cache
def _names() -> dict[type[Event], str]:
    return {cls: re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower() for cls in Event.__subclasses__()}


@cache
def _classes() -> dict[str, type[Event]]:
    return {name: cls for cls, name in _names().items()}


@cache
def _renamed() -> dict[str, str]:
    return {former.type: name for name, former in FORMER.items() if former.type}


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
    """The inverse of `encode`. Reads former spellings too, and ignores fields of a newer version.

    Raises ValueError when the name is unknown or a field does not fit.
    """
    name = data.get("type")
    name = _renamed().get(name, name) if isinstance(name, str) else name
    if not isinstance(name, str) or name not in _classes():
        raise ValueError(f"unknown event type {name!r}")
    fields = {key: value for key, value in data.items() if key != "type"}
    if (former := FORMER.get(name)) is not None:
        fields = _updated(fields, former)
    event: Event = _adapter(name).validate_python(fields)
    return event


def _updated(fields: Json, former: FormerSpelling) -> Json:
    renamed = {former.fields.get(key, key): value for key, value in fields.items()}
    for (key, then), now in former.values.items():
        if renamed.get(key) == then:
            renamed[key] = now
    return renamed
