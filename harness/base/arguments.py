"""Checks of the arguments that a program hands in, which no type checker may have seen."""

from collections.abc import Mapping


def check_types(given: Mapping[str, tuple[object, type | tuple[type, ...], str]]) -> None:
    """Raise TypeError, one sentence, for the first argument that is neither None nor of its type.

    Args:
        given: by name: the value, what it may be, and the same in words.
    """
    for name, (value, kind, words) in given.items():
        wrong_bool = isinstance(value, bool) and kind in (int, float, (int, float))
        if value is not None and (wrong_bool or not isinstance(value, kind)):
            raise TypeError(f"{name}= takes {words}, not {value!r:.100}.")


def check_parts(name: str, value: object, parts: tuple[str, ...], words: str) -> None:
    """Raise TypeError, one sentence, for an object without the attributes of a protocol. None is allowed."""
    if value is not None and (isinstance(value, type) or not all(hasattr(value, part) for part in parts)):
        raise TypeError(f"{name}= takes {words}, not {value!r:.100}.")
