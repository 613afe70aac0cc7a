"""Values of what happened, by their dotted names: for the conditions and the sentences of a lesson."""

from dataclasses import fields, is_dataclass
from enum import Enum
from string import Formatter

PLAIN = (str, int, float, bool)


class FieldError(Exception):
    """A name that leads to no value; its text is a clause."""


def value_of(fact: object, name: str) -> object:
    """The value at a dotted name such as `fault.status`. Enums give their value, several values a list in words.

    Raises FieldError for a name that is no public field or property.
    """
    value = fact
    for part in name.split("."):
        known = _names(value)
        if part not in known:
            raise FieldError(f"{type(value).__name__} has no {part!r}; it has {', '.join(known) or 'nothing'}")
        value = getattr(value, part)
    return _plain(value)


def filled(template: str, fact: object) -> str:
    """The template with every `{name}` and `{name:format}` taken from the fact. Raises FieldError."""
    return _Filling(fact).format(template)


def names_in(template: str) -> tuple[str, ...]:
    """The names that a template asks for. Raises FieldError for one that is written wrongly."""
    try:
        return tuple(name for _, name, _, _ in Formatter().parse(template) if name is not None)
    except ValueError as error:
        raise FieldError(f"{template!r} is no template ({error})") from error


class _Filling(Formatter):
    def __init__(self, fact: object) -> None:
        self._fact = fact

    def get_field(self, field_name: str, args: object, kwargs: object) -> tuple[object, str]:
        return value_of(self._fact, field_name), field_name

    def check_unused_args(self, used_args: object, args: object, kwargs: object) -> None:
        """There are none: every value comes from the fact."""


def _names(value: object) -> tuple[str, ...]:
    """The fields of a fact, and what follows from them."""
    if not is_dataclass(value):
        return ()
    follow = (name for name, member in vars(type(value)).items() if isinstance(member, property))
    return tuple(name for name in (*(field.name for field in fields(value)), *follow) if not name.startswith("_"))


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
