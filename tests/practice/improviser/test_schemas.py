"""Inputs and schemas, against a naive second reading of JSON Schema."""

import re
from typing import Any

import pytest

from harness.events import Json
from harness.practice.improviser.schemas import fits, kinds_of, smallest


def naive_fits(value: Any, schema: Any, root: Json) -> bool:
    """JSON Schema as its specification reads, keyword by keyword; the oracle of the tests."""
    if not isinstance(schema, dict):
        return schema is not False
    if isinstance(schema.get("$ref"), str):
        schema = {**root.get("$defs", {}).get(schema["$ref"].rsplit("/", 1)[-1], {}), **schema}
    checks = {
        "string": isinstance(value, str),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
        "null": value is None,
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
    }
    if isinstance(schema.get("type"), str) and not checks.get(schema["type"], True):
        return False
    if "anyOf" in schema and not any(naive_fits(value, option, root) for option in schema["anyOf"]):
        return False
    if ("enum" in schema and value not in schema["enum"]) or ("const" in schema and value != schema["const"]):
        return False
    if checks["number"] and not (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
    ):
        return False
    if isinstance(value, str) and not (
        len(value) >= schema.get("minLength", 0) and ("pattern" not in schema or re.search(schema["pattern"], value))
    ):
        return False
    if isinstance(value, list):
        items_fit = all(naive_fits(item, schema.get("items", True), root) for item in value)
        return len(value) >= schema.get("minItems", 0) and items_fit
    if isinstance(value, dict):
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        required = schema.get("required")
        if not all(name in value for name in (required if isinstance(required, list) else []) if isinstance(name, str)):
            return False
        if schema.get("additionalProperties") is False and not set(value) <= set(properties):
            return False
        return all(naive_fits(value[name], properties[name], root) for name in value if name in properties)
    return True


ROOT: Json = {"$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}}
SCHEMAS: tuple[Json, ...] = (
    {"type": "string"},
    {"type": "string", "minLength": 2},
    {"type": "string", "enum": ["a", "bb"]},
    {"type": "string", "pattern": "^b"},
    {"type": "integer", "minimum": 2, "maximum": 5},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": "boolean"},
    {"type": "null"},
    {"type": "array", "items": {"type": "integer"}, "minItems": 1},
    {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    {"$ref": "#/$defs/Point"},
    {"const": 7},
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False},
    {},
)
VALUES: tuple[Any, ...] = (
    "", "a", "bb", 0, 1, 3, 7, 2.5, -1, True, False, None, [], [1], ["a"], {}, {"a": "b"}, {"a": 1},
    {"a": "b", "c": 1}, {"x": 1}, {"x": "1"},
)  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_fits_agrees_with_a_naive_reading(schema: Json) -> None:
    for value in VALUES:
        assert fits(value, schema, ROOT) == naive_fits(value, schema, ROOT), value


@pytest.mark.parametrize("schema", [schema for schema in SCHEMAS if "pattern" not in schema], ids=str)
def test_the_smallest_value_fits(schema: Json) -> None:
    assert naive_fits(smallest(schema, ROOT), schema, ROOT)


def test_the_types_of_a_field_include_those_of_its_alternatives_and_references() -> None:
    assert kinds_of({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ROOT) == ("integer", "null")
    assert kinds_of({"$ref": "#/$defs/Point"}, ROOT) == ("object",)
    assert kinds_of({"type": ["string", "null"]}, ROOT) == ("string", "null")
    assert kinds_of({}, ROOT) == ()


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    root: Json = {"$defs": {"Node": {"$ref": "#/$defs/Node"}}}
    assert fits(1, {"$ref": "#/$defs/Node"}, root)
    assert smallest({"$ref": "#/$defs/Node"}, root) is not None
