"""Tools that somebody else wrote: a call with the values that a sentence names."""

import re
from collections.abc import Sequence
from typing import Any

from harness.practice.improviser.schemas import kinds_of, properties_of, required_of
from harness.practice.improviser.toolset import Tool
from harness.practice.improviser.turns import Call


def call_of(tool: Tool, values: Sequence[tuple[str, str]]) -> Call | None:
    """The call; None where a value is missing, is one too many, or is of the wrong type.

    Args:
        tool: what to call.
        values: the arguments as text, each with its name; those without one fill the fields in their order, the
            required ones first.
    """
    fields = properties_of(tool.schema)
    required = required_of(tool.schema)
    free = [name for name in (*required, *(name for name in fields if name not in required)) if name in fields]
    given: dict[str, Any] = {}
    for name, text in sorted(values, key=lambda value: not value[0]):
        field = name or next((field for field in free if field not in given), "")
        value = _as(kinds_of(fields.get(field, {}), tool.schema), text)
        if field not in fields or field in given or value is None:
            return None
        given[field] = value
    return tool.call(given) if all(name in given for name in required) else None


def _as(kinds: tuple[str, ...], text: str) -> Any:
    if re.fullmatch(r"-?\d{1,18}", text) and ("integer" in kinds or "number" in kinds):
        return int(text)
    if re.fullmatch(r"-?\d{1,18}\.\d{1,18}", text) and "number" in kinds:
        return float(text)
    if text.lower() in ("true", "false") and "boolean" in kinds:
        return text.lower() == "true"
    return text if "string" in kinds or not kinds else None
