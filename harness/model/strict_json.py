"""JSON for things that will be acted on: what is doubtful is refused instead of guessed."""

import json
from typing import Any, Never

from harness.events import Json


class NotStrict(ValueError):  # noqa: N818 (says what the text is)
    """The text is not one strict JSON object. `str(error)` says why, as the end of a sentence about a tool call."""


def strict_object(text: str) -> Json:
    """The JSON object in `text`.

    Raises NotStrict for anything else: text that breaks off, an array, NaN, a key that stands twice
    in one object, nesting too deep to read.
    """
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
    except NotStrict:
        raise
    except (ValueError, RecursionError):
        raise NotStrict("its input is not valid JSON") from None
    if not isinstance(value, dict):
        raise NotStrict("its input is not a JSON object")
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> Json:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise NotStrict("its input names a key twice")
    return result


def _refuse_constant(name: str) -> Never:
    raise NotStrict(f"its input holds {name}, which JSON does not have")
