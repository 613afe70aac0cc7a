"""The schema of an answer: which ones can be used, what of them the API is given, and which answers fit."""

import json
import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from harness.base.errors import SettingsError
from harness.session.answer_schema import AnswerSchema, SchemaMismatch, line_of

COUNT = {"type": "object", "properties": {"count": {"type": "integer", "minimum": 3}}, "required": ["count"]}


def test_a_schema_may_be_written_in_place_or_come_from_a_pipe(tmp_path: Path) -> None:
    assert AnswerSchema.load(' {"type": "integer"}').schema == {"type": "integer"}
    with pytest.raises(SettingsError, match="--json-schema, line 1: this is not JSON"):
        AnswerSchema.load('{"type"')
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=('{"type": "string"}',))
    writer.start()
    assert AnswerSchema.load(str(pipe)).schema == {"type": "string"}
    writer.join()


def loaded(folder: Path, text: str) -> AnswerSchema:
    (folder / "s.json").write_text(text, "utf-8")
    return AnswerSchema.load(str(folder / "s.json"))


def test_a_schema_is_read_with_its_references_and_a_byte_order_mark(tmp_path: Path) -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/n"}}
    read = loaded(tmp_path, f"\ufeff{json.dumps(schema)}")
    assert read.value("[1, 2]") == [1, 2]
    with pytest.raises(SchemaMismatch, match=r"\$\[1\]: 'x' is not of type 'integer'"):
        read.value('[1, "x"]')


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{\n"type": 7}', "line 2: this is not a valid JSON schema: 7 is not valid under any of the given schemas."),
        ('{\n"type": "object",\n}', "line 3: this is not JSON"),
        ("[]", "line 1: a schema is a JSON object"),
        ('{"a": ' * 3_000 + "1" + "}" * 3_000, "is nested too deeply"),
        ('{\n"properties": {\n"a": {\n"$ref": "#/$defs/b"}}}', "line 4: this is not a valid JSON schema: '#/$defs/b'"),
        ('{"$ref": "https://example.com/s.json"}', "'https://example.com/s.json' is not in the file"),
    ],
    ids=["a wrong schema", "no JSON", "no object", "deep", "a reference to nothing", "a reference to an address"],
)
def test_a_schema_that_cannot_be_used_is_named_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsError) as told:
        loaded(tmp_path, text)
    assert says in str(told.value)


@pytest.mark.parametrize("word", ["const", "default", "enum", "examples"])
def test_what_only_looks_like_a_reference_is_a_value(tmp_path: Path, word: str) -> None:
    value: Any = {"$ref": "#/nothing"}
    assert loaded(tmp_path, json.dumps({word: [value] if word in ("enum", "examples") else value}))


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        (COUNT, True),
        ({"type": "object"}, False),
        ({"type": "array", "items": {"type": "object", "additionalProperties": {"type": "string"}}}, False),
        ({"type": "string", "const": {"type": "object"}}, True),
        ({}, False),
    ],
    ids=["properties", "any object", "any object inside", "a value of an object", "anything"],
)
def test_the_api_is_given_a_schema_only_if_it_has_a_form_for_it(schema: dict[str, Any], given: bool) -> None:
    form = AnswerSchema(schema).output_format()
    assert (form is not None) == given
    assert form is None or "minimum" not in form["schema"].get("properties", {}).get("count", {})


@pytest.mark.parametrize(
    "answer", ['{"count": 3}', ' \n{"count": 3}\n', '```json\n{"count": 3}\n```', '```\n{"count": 3}```']
)
def test_blanks_and_one_fence_around_an_answer_do_not_matter(answer: str) -> None:
    assert AnswerSchema(COUNT).value(answer) == {"count": 3}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "it is empty"),
        ("```json\n\n```", "it is empty"),
        ("Here: 1", "it is not JSON ("),
        ('{"count": NaN}', "it is not JSON (NaN is no number in JSON)"),
        ('{"count": 2}', "$.count: 2 is less than the minimum of 3"),
        ("[" * 100_000, "it is not JSON ("),
    ],
)
def test_an_answer_that_does_not_fit_gets_the_reason(answer: str, why: str) -> None:
    with pytest.raises(SchemaMismatch) as told:
        AnswerSchema(COUNT).value(answer)
    assert told.value.why.startswith(why)


def test_a_long_reason_is_cut() -> None:
    for length, cut in (
        (300 - len(" is not of type 'integer'") - 2, False),
        (300 - len(" is not of type 'integer'") - 1, True),
    ):
        with pytest.raises(SchemaMismatch) as told:
            AnswerSchema({"type": "integer"}).value(json.dumps("x" * length))
        reason = told.value.why.removeprefix("$: ")
        assert (len(reason), reason.endswith("…")) == (300, cut)


def test_an_address_is_never_fetched_for_an_answer() -> None:
    from referencing.exceptions import Unresolvable

    with pytest.raises(Unresolvable):
        AnswerSchema({"$ref": "http://127.0.0.1:9/s.json"}).value("1")


def test_a_line_is_found_by_the_names_that_lead_to_it() -> None:
    text = '{\n"a": {"x": 1},\n"b": {\n"x": 2}}'
    assert [line_of(text, path) for path in ((), ("a", "x"), ("b", "x"), ("b", 0, "none"))] == [1, 2, 4, 3]


def test_the_instruction_holds_the_schema_as_it_was_written() -> None:
    schema = {"properties": {"name": {"description": "the name, as in 天気"}}}
    assert json.dumps(schema, ensure_ascii=False) in AnswerSchema(schema).instruction()


def test_the_line_of_a_place_is_counted_from_the_beginning_of_the_text() -> None:
    assert line_of('\n{"a": 1}', ()) == 1
    assert line_of('\n{"a": 1,\n"b": 2}', ("b",)) == 3
