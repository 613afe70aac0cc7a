"""Tool inputs that fit their schema.

A tool's `input_schema` is JSON Schema. The practice model needs a small part of it: to check that an
input fits, and to find the smallest value for a field that must be there. What it does not know of
JSON Schema it leaves alone.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from harness.events import Json

_DEEPEST = 8
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def properties_of(schema: Json) -> dict[str, Json]:
    """The named fields of an object schema."""
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return {}
    return {name: field if isinstance(field, dict) else {} for name, field in fields.items()}


def required_of(schema: Json) -> tuple[str, ...]:
    """The names of the fields that must be there."""
    names = schema.get("required")
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def kinds_of(field: Json, root: Json) -> tuple[str, ...]:
    """The types that a field takes, alternatives and references included; empty when it does not say."""
    named = [option.get("type") for option in _options(field, root, 0)]
    flat = chain.from_iterable(kind if isinstance(kind, list) else [kind] for kind in named)
    return tuple(dict.fromkeys(kind for kind in flat if isinstance(kind, str) and kind in _TYPES))


def fits(value: Any, schema: Any, root: Json, depth: int = 0) -> bool:
    """Whether `value` is valid under `schema`. Keywords that we do not know count as held."""
    if schema is False:
        return False
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return True
    for word in ("anyOf", "oneOf"):
        options = schema.get(word)
        if isinstance(options, list) and not any(fits(value, option, root, depth + 1) for option in options):
            return False
    parts = schema.get("allOf")
    if isinstance(parts, list) and not all(fits(value, part, root, depth + 1) for part in parts):
        return False
    if "$ref" in schema and not fits(value, _resolved(schema, root), root, depth + 1):
        return False
    return _type_fits(value, schema) and _limits_fit(value, schema) and _parts_fit(value, schema, root, depth)


def smallest(schema: Any, root: Json, depth: int = 0) -> Any:
    """A plain value for a field that must be there and that nothing is known about. It need not fit."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return ""
    for word in ("default", "const"):
        if word in schema:
            return schema[word]
    for word in ("enum", "examples"):
        if isinstance(schema.get(word), list) and schema[word]:
            return schema[word][0]
    for option in _options(schema, root, 0):
        if option is not schema:
            return smallest(option, root, depth + 1)
    kinds = kinds_of(schema, root)
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    match kinds[0] if kinds else "string":
        case "integer" | "number":
            return _above(low, schema)
        case "boolean":
            return False
        case "array":
            return [smallest(schema.get("items"), root, depth + 1)] * _count(schema.get("minItems"))
        case "object":
            fields = properties_of(schema)
            return {name: smallest(fields.get(name, {}), root, depth + 1) for name in required_of(schema)}
        case "null":
            return None
        case _:
            return "x" * _count(schema.get("minLength"))


def _above(low: Any, schema: Json) -> Any:
    if not isinstance(low, int | float) or isinstance(low, bool) or low <= 0:
        low = 0
    return low + 1 if "exclusiveMinimum" in schema else low


def _count(value: Any) -> int:
    return min(value, 64) if isinstance(value, int) and value > 0 else 0


def _options(field: Any, root: Json, depth: int) -> list[Json]:
    if not isinstance(field, dict) or depth > _DEEPEST:
        return []
    if "$ref" in field:
        return _options(_resolved(field, root), root, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        if isinstance(field.get(word), list):
            return [found for option in field[word] for found in _options(option, root, depth + 1)]
    return [field]


def _resolved(field: Json, root: Json) -> Any:
    reference = field.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return {}
    place: Any = root
    for key in reference[2:].split("/"):
        place = place.get(key) if isinstance(place, dict) else None
    return place


def _type_fits(value: Any, schema: Json) -> bool:
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    known = [name for name in names if isinstance(name, str) and name in _TYPES]
    if known and not any(_is(value, name) for name in known):
        return False
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        return False
    return "const" not in schema or bool(value == schema["const"])


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _limits_fit(value: Any, schema: Json) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = _number(schema.get("minimum")), _number(schema.get("maximum"))
        over, under = _number(schema.get("exclusiveMinimum")), _number(schema.get("exclusiveMaximum"))
        return (
            (low is None or value >= low)
            and (high is None or value <= high)
            and (over is None or value > over)
            and (under is None or value < under)
        )
    if isinstance(value, str):
        return _long_enough(value, schema, "minLength", "maxLength") and _pattern_fits(value, schema.get("pattern"))
    if isinstance(value, list):
        return _long_enough(value, schema, "minItems", "maxItems")
    return True


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _long_enough(value: Sequence[Any], schema: Json, least: str, most: str) -> bool:
    low, high = _number(schema.get(least)), _number(schema.get(most))
    return (low is None or len(value) >= low) and (high is None or len(value) <= high)


def _pattern_fits(value: str, pattern: Any) -> bool:
    if not isinstance(pattern, str):
        return True
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True


def _parts_fit(value: Any, schema: Json, root: Json, depth: int) -> bool:
    if isinstance(value, list):
        return all(fits(item, schema.get("items"), root, depth + 1) for item in value)
    if not isinstance(value, dict):
        return True
    fields = properties_of(schema)
    if any(name not in value for name in required_of(schema)):
        return False
    if schema.get("additionalProperties") is False and not set(value) <= set(fields):
        return False
    return all(fits(value[name], field, root, depth + 1) for name, field in fields.items() if name in value)
