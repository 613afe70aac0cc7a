"""What a lesson shows of a run, and the values in it by name."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from string import Formatter
from types import MappingProxyType

from chapters.course.wire import WireExchange
from harness import events


class FieldError(Exception):
    """A name without a value; the message is a clause."""


def value_of(fact: object, name: str) -> object:
    """The value at a dotted name such as `fault.status`. Enums give their value, collections a comma-separated list,
    and what this fact does not have, such as the third of two items, is "none".

    Raises FieldError for a name that is not a public field or property.
    """
    return _plain(_member(fact, name))


def raw_value_of(fact: object, name: str) -> object:
    """As `value_of`, but collections stay collections and a missing value is None."""
    value = _member(fact, name)
    return value.value if isinstance(value, Enum) else value


def _member(fact: object, name: str) -> object:
    value = fact
    for part in name.split("."):
        if value is None:
            return None
        if isinstance(value, tuple) and part.isdecimal():
            value = value[int(part)] if int(part) < len(value) else None
            continue
        if isinstance(value, Mapping):
            value = value.get(part)
            continue
        known = names_of(type(value))
        if part not in known:
            raise FieldError(f"{type(value).__name__} has no {part!r}; it has {', '.join(known) or 'nothing'}")
        value = getattr(value, part)
    return value


def filled(template: str, fact: object) -> str:
    """The template with every `{name}` and `{name:format}` filled in from the fact. Raises FieldError."""
    return _FactFormatter(fact).format(template)


def names_in(template: str) -> tuple[str, ...]:
    """The names in a template. Raises FieldError for a malformed one."""
    try:
        return tuple(name for _, name, _, _ in Formatter().parse(template) if name is not None)
    except ValueError as error:
        raise FieldError(f"{template!r} is not a template ({error})") from error


class _FactFormatter(Formatter):
    def __init__(self, fact: object) -> None:
        self._fact = fact

    def get_field(self, field_name: str, args: object, kwargs: object) -> tuple[object, str]:
        return value_of(self._fact, field_name), field_name

    def check_unused_args(self, used_args: object, args: object, kwargs: object) -> None:
        """No-op: every value comes from the fact."""


def names_of(kind: type) -> tuple[str, ...]:
    """Names of the values that facts of a type have; empty if it is not a type of facts."""
    if not is_dataclass(kind):
        return ()
    follow = (name for name, member in vars(kind).items() if isinstance(member, property))
    return tuple(name for name in (*(field.name for field in fields(kind)), *follow) if not name.startswith("_"))


def _plain(value: object) -> object:
    match value:
        case Enum():
            return value.value
        case None:
            return "none"
        case tuple() | frozenset() | list():
            return ", ".join(str(_plain(one)) for one in value)
        case _:
            return value


Fact = events.Event | WireExchange
"""An event, or a request with its reply."""
FACTS: Mapping[str, type] = MappingProxyType(
    {"WireExchange": WireExchange}
    | {
        name: kind
        for name, kind in vars(events).items()
        if isinstance(kind, type) and issubclass(kind, events.Event) and not kind.transient
    }
)
"""Types of facts by name."""
