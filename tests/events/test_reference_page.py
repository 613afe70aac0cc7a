"""The events as a page."""

import re
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path

import harness.events
from harness.base.field_docs import FieldDoc, field_docs, value_docs
from harness.events import Event, name_of
from harness.events.reference_page import as_markdown

PAGE = Path(__file__).parents[2] / "docs" / "events.md"
CLASSES = [value for name in harness.events.__all__ if isinstance(value := getattr(harness.events, name), type)]


def test_the_page_in_the_documentation_is_the_one_of_the_classes() -> None:
    remedy = "run: python -m harness.events.reference_page > docs/events.md"
    assert PAGE.read_text(encoding="utf-8").rstrip() == as_markdown().rstrip(), remedy


def test_every_name_of_the_room_that_is_no_function_is_on_it() -> None:
    functions = {"decode", "encode", "key_of", "name_of", "part_key"}
    told = set(re.findall(r"^### (\w+)$|^- `(\w+) = ", as_markdown(), re.MULTILINE))
    assert set(harness.events.__all__) - functions - {"Event"} <= {name for pair in told for name in pair}


def test_a_class_is_on_it_once_with_all_its_fields_or_values() -> None:
    page = as_markdown()
    for cls in CLASSES:
        if cls in (Event, dict):
            continue
        [text] = re.findall(rf"^### {cls.__name__}\n(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL)
        told = re.findall(r"^- `(\w+)", text, re.MULTILINE)
        if issubclass(cls, Enum):
            assert told == [member.name for member in cls]
        elif is_dataclass(cls):
            assert told == [field.name for field in fields(cls)], cls
        if issubclass(cls, Event):
            assert f"Type `{name_of(cls)}`" in text
            assert ("transient." in text) == cls.transient


def test_the_text_below_a_field_belongs_to_it() -> None:
    texts = {field.name: field for field in field_docs(harness.events.RetryScheduled)}
    assert texts["retry_at"].text.startswith("Unix time of the retry")
    assert texts["status"] == FieldDoc("status", "status: int | None", "")


def test_a_class_variable_is_no_field() -> None:
    assert [field.name for field in field_docs(harness.events.TextDelta)] == ["text"]


def test_a_name_of_a_module_has_its_text() -> None:
    assert FieldDoc("Json", "Json = dict[str, Any]", "A JSON object.") in value_docs("harness.events.messages")
