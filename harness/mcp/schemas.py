"""Schemas of tools, as servers give them."""

from typing import Any

from harness.events import Json

NO_SCHEMA: Json = {"type": "object", "x-harness": "no schema"}
"""In place of a schema that is missing or not that of an object."""


def schema_problem(schema: Any) -> str:
    """Why the Messages API would refuse the schema of a tool, which refuses the whole request; empty: it would not."""
    if not isinstance(schema, dict) or schema.get("type", "object") != "object" or schema == NO_SCHEMA:
        return "its schema is not that of an object"
    if any(key in schema for key in ("oneOf", "anyOf", "allOf")):
        return "its schema is a choice at the top, which the model cannot be given"
    return "" if _depth(schema, 0) <= 60 else "its schema is nested too deeply"


def _depth(node: Any, at: int) -> int:
    if at > 60 or not isinstance(node, dict | list):
        return at
    values = node.values() if isinstance(node, dict) else node
    return max((_depth(value, at + 1) for value in values), default=at)
