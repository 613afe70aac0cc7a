"""Values made for a schema fit it, whatever the schema and the prompt."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from harness.practice.rule_model.schema_value import texts_matching, value_of
from tests.whole import WHOLE

FORMATS = ("date", "email", "ipv4", "uri", "uuid")


def fits(value: Any, schema: Any) -> bool:
    """What `jsonschema` says of the whole, formats and the order of a text included."""
    return Draft202012Validator(schema, format_checker=FormatChecker()).is_valid(value)


# ── schemas that some value fits ────────────────────────────────────────────────────────────────────

NAMES = st.sampled_from(["name", "age", "city", "answer", "query", "is_spam", "tags", "x", "email_address", "名前"])


@st.composite
def numbers(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["integer", "number"]))
    low = draw(st.integers(-50, 50))
    schema: dict[str, Any] = {"type": kind}
    if draw(st.booleans()):
        schema[draw(st.sampled_from(["minimum", "exclusiveMinimum"]))] = low
    if draw(st.booleans()):
        schema[draw(st.sampled_from(["maximum", "exclusiveMaximum"]))] = low + draw(st.integers(25, 90))
    if draw(st.booleans()):
        schema["multipleOf"] = draw(st.sampled_from([1, 2, 3, 5, 7]))
    return schema


@st.composite
def texts(draw: st.DrawFn) -> Any:
    match draw(st.integers(0, 3)):
        case 0:
            return {"type": "string", "format": draw(st.sampled_from(FORMATS))}
        case 1:
            patterns = [r"^[A-Z]{2}-\d{3,5}$", r"^(yes|no)$", r"\w+@x\.(de|jp)", r"^#[0-9a-f]{6}$", r"^a?b+[^c]$"]
            return {"type": "string", "pattern": draw(st.sampled_from(patterns))}
        case 2:
            least = draw(st.integers(0, 40))
            return {"type": "string", "minLength": least, "maxLength": least + draw(st.integers(0, 30))}
        case _:
            return {"type": ["string", "null"]} | ({"default": "as usual"} if draw(st.booleans()) else {})


closed: st.SearchStrategy[Any] = st.one_of(
    st.lists(st.sampled_from(["red", "green", "Paris", 1, 2.5, True, None]), min_size=1, max_size=4).map(
        lambda members: {"enum": members}
    ),
    st.sampled_from(["red", 3, None, ["a"]]).map(lambda value: {"const": value}),
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.just({}),
)
leaves = st.one_of(numbers(), texts(), closed, st.just({"$ref": "#/$defs/point"}))


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    fields = draw(st.dictionaries(NAMES, inner, max_size=4))
    required = [name for name in fields if draw(st.booleans())]
    schema: dict[str, Any] = {"type": "object", "properties": fields, "required": required}
    match draw(st.integers(0, 3)):
        case 0:
            schema["additionalProperties"] = False
        case 1:
            schema |= {"additionalProperties": draw(inner), "minProperties": draw(st.integers(0, len(fields) + 2))}
        case 2:
            schema["allOf"] = [{"properties": {"extra": draw(inner)}, "required": ["extra"]}]
        case _:
            pass
    return schema


@st.composite
def arrays(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    if draw(st.booleans()):
        first = draw(st.lists(inner, min_size=1, max_size=3))
        return {"type": "array", "prefixItems": first, "items": False, "minItems": len(first)}
    least = draw(st.integers(0, 3))
    schema = {"type": "array", "items": draw(inner), "minItems": least, "maxItems": least + draw(st.integers(0, 2))}
    if draw(st.booleans()):
        items = draw(
            st.one_of(st.just({"type": "integer"}), texts_that_differ, st.just({"type": "number", "minimum": 1}))
        )
        schema |= {"items": items, "uniqueItems": True}
    return schema


texts_that_differ = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "format": "email"},
        {"enum": ["a", "b", "c", "d"]},
        {"type": "string", "maxLength": 3},
    ]
)


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        objects(inner),
        arrays(inner),
        st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options}),
        st.lists(inner, min_size=1, max_size=3).map(tagged),
    )


def tagged(options: list[Any]) -> Any:
    """A union whose members have a tag each."""
    return {
        "oneOf": [
            {
                "type": "object",
                "properties": {"kind": {"const": f"k{number}"}, "body": option},
                "required": ["kind", "body"],
            }
            for number, option in enumerate(options)
        ]
    }


schemas = st.recursive(leaves, deeper, max_leaves=8)
prompts = st.sampled_from(
    [
        "",
        'Extract: John Smith, age: 31, from Paris, wrote "red" to john@co.com on 2026-03-04 (see https://example.org/a).',
        "What is the weather in Berlin in the next 7 days?",
        "名前は「太郎」です。3 個",
        "x = -12.5, y = 1,000",
    ]
)
POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/point"}, {"type": "null"}]}},
    "required": ["x", "next"],
}


@settings(max_examples=400 if WHOLE else 120, deadline=None)
@given(schemas, prompts)
def test_a_value_fits_its_schema(schema: Any, prompt: str) -> None:
    whole = schema | {"$defs": {"point": POINT}}
    value = value_of(whole, prompt, answer="The practice model says so.")
    assert fits(json.loads(json.dumps(value)), whole), value


@pytest.mark.parametrize(
    ("schema", "prompt", "value"),
    [
        ({"type": "integer"}, "How many is 7 times 6?", 7),
        ({"type": "integer", "minimum": 8}, "Take 7 or 9", 9),
        ({"enum": ["celsius", "fahrenheit"]}, "in Fahrenheit, please", "fahrenheit"),
        ({"type": "string", "format": "email"}, "write to a.b@co.com!", "a.b@co.com"),
        ({"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}, "order QX-77 is late", "QX-77"),
        ({"type": "string", "format": "date"}, "on 2026-03-04", "2026-03-04"),
    ],
)
def test_a_field_gets_what_the_prompt_says(schema: Any, prompt: str, value: Any) -> None:
    assert value_of({"type": "object", "properties": {"f": schema}, "required": ["f"]}, prompt) == {"f": value}


def test_fields_that_are_named_get_their_value_and_each_number_is_used_once() -> None:
    fields = {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "people": {"type": "integer"},
        "note": {"type": "string"},
    }
    schema = {"type": "object", "properties": fields, "required": ["city", "days", "people"]}
    assert value_of(schema, "A hotel in New York for 3 days and 2 people") == {
        "city": "New York",
        "days": 3,
        "people": 2,
    }
    assert value_of(schema, "people: 2, days: 3, note: late") == {
        "city": "city",
        "days": 3,
        "people": 2,
        "note": "late",
    }


def test_a_field_for_an_answer_gets_the_answer() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    assert value_of(schema, "What is 2 + 3?", answer="2 + 3 = 5") == {"answer": "2 + 3 = 5"}


@given(st.from_regex(r"[a-c]{0,3}(\[[a-z]-?[x-z]\]|\(a\|b\)|x\?|y\*|z\+|\\d\{2,3\}|\\w){0,4}", fullmatch=True))
def test_a_text_for_a_pattern_is_found_by_it(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error:
        return
    texts = list(texts_matching(pattern))
    assert texts
    assert all(re.search(pattern, text) for text in texts)


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Ada has 7 cats", "Ada"),
        ("Ada Lovelace is a mathematician", "Ada Lovelace"),
        ("What is the name of Ada?", "Ada"),
        ("There is no cat", "name"),
    ],
)
def test_a_name_may_begin_the_prompt(prompt: str, name: str) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    assert value_of(schema, prompt) == {"name": name}
