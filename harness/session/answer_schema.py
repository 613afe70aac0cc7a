"""The JSON schema that an answer has to fit: read from a file, asked for, checked (docs/json-answers.md).

`jsonschema` and the SDK are imported where they are used: only a run with a schema needs them.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.errors import SettingsError
from harness.base.files import read_regular
from harness.events import Json
from harness.model.sdk import load

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MOST_BYTES = 200_000
STANDARD_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_FENCED = re.compile(r"\A```(?:json)?[ \t]*\n(?P<inner>.*?)\n?```\s*\Z", re.DOTALL)
_IN = "Answer with one JSON value that fits this JSON schema, and with nothing else: no words around it, no code fence."


@dataclass(frozen=True, slots=True)
class SchemaMismatch(Exception):  # noqa: N818 (a finding, not a mistake of the program)
    """The reason why an answer does not match its schema, as a clause."""

    why: str


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """A schema for answers."""

    schema: Json

    @staticmethod
    def load(given: str) -> "AnswerSchema":
        """Read a schema from a file, a pipe or standard input, or the text itself, which begins with a brace.

        Raises SettingsError, one sentence with file and line, for one that cannot be used.
        """
        file, text = Path(given).expanduser(), given
        try:
            if given.lstrip().startswith("{"):
                file = Path("--json-schema")
            elif not given.strip():
                raise SettingsError("--json-schema is empty; give a file, - for standard input, or the schema itself.")
            elif given in STANDARD_INPUT:
                file = Path("standard input")
                with open(0, "rb", closefd=False) as pipe:
                    text = pipe.read(MOST_BYTES + 1).decode("utf-8-sig")
            elif file.is_fifo():  # such as <(…) of a shell
                with file.open("rb") as pipe:
                    text = pipe.read(MOST_BYTES + 1).decode("utf-8-sig")
            else:
                text = read_regular(file, MOST_BYTES).decode("utf-8-sig")
        except OSError as error:
            raise SettingsError(f"--json-schema {file} cannot be read: {error.strerror}; name another file.") from error
        except UnicodeDecodeError as error:
            raise SettingsError(f"--json-schema {file} is not UTF-8 text; save it as such.") from error
        if len(text) > MOST_BYTES:
            raise SettingsError(f"--json-schema {file} has more than {MOST_BYTES:,} bytes; make it smaller.")
        try:
            schema = json.loads(text)
        except json.JSONDecodeError as error:
            raise SettingsError(f"{file}, line {error.lineno}: this is not JSON ({error.msg}); correct it.") from error
        except RecursionError as error:
            raise SettingsError(f"{file} is nested too deeply; make it simpler.") from error
        if not isinstance(schema, dict):
            raise SettingsError(f'{file}, line 1: a schema is a JSON object, such as {{"type": "object"}}.')
        made = AnswerSchema(schema)
        if found := made._problem():
            path, why = found
            raise SettingsError(f"{file}, line {line_of(text, path)}: this is not a valid JSON schema: {why}.")
        return made

    def instruction(self) -> str:
        """What asks for the answer in words, for models that take no output format."""
        return f"{_IN}\n\n{json.dumps(self.schema, ensure_ascii=False)}"

    def again(self, why: str) -> str:
        """What asks for the answer once more."""
        return f"Your answer does not fit the schema: {why}. {self.instruction()}"

    def output_format(self, *, lazy_sdk: bool = True) -> Json | None:
        """The output format of a request; None where the API has no form for this schema.

        What the API does not take of a schema, such as the limits of numbers, the SDK puts into descriptions.
        """
        load(lazy=lazy_sdk)
        from anthropic import transform_schema

        if any(one.get("type") == "object" and not one.get("properties") for one in _schemas(self.schema)):
            return None  # objects with any names as keys; the API would only take empty ones
        try:
            return {"type": "json_schema", "schema": transform_schema(self.schema)}
        except (ValueError, TypeError, AttributeError, AssertionError):
            return None

    def value(self, answer: str) -> Any:
        """The value in an answer. Raises Misfit."""
        text = answer.strip()
        if fenced := _FENCED.match(text):
            text = fenced["inner"]
        if not text:
            raise SchemaMismatch("it is empty")
        try:
            value = json.loads(text, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise SchemaMismatch(f"it is not JSON ({error})") from error
        from jsonschema.exceptions import best_match

        if (found := best_match(self._validator().iter_errors(value))) is not None:
            message = found.message if len(found.message) <= 300 else f"{found.message[:299]}…"
            raise SchemaMismatch(f"{found.json_path}: {message}")
        return value

    @property
    def problem(self) -> str:
        """Why this is not a valid JSON schema; empty: it is one."""
        found = self._problem()
        return found[1] if found else ""

    def _validator(self) -> "Validator":
        from jsonschema import Draft202012Validator
        from jsonschema.validators import validator_for
        from referencing import Registry

        kind = validator_for(self.schema, default=Draft202012Validator)
        # An empty registry: a reference to another file or address is an error and never fetched.
        return kind(self.schema, registry=Registry(), format_checker=kind.FORMAT_CHECKER)

    def _problem(self) -> tuple[tuple[object, ...], str] | None:
        """Where the schema is wrong, and why; None: it can be used."""
        from jsonschema.exceptions import best_match
        from referencing import Registry
        from referencing.exceptions import Unresolvable
        from referencing.jsonschema import DRAFT202012

        validator = self._validator()
        meta = type(validator)(type(validator).META_SCHEMA)
        if (error := best_match(meta.iter_errors(self.schema))) is not None:
            return tuple(error.absolute_path), error.message
        resource = DRAFT202012.create_resource(self.schema)
        resolver = Registry().with_resource("", resource).resolver("")
        for path, reference in _references(self.schema, ()):
            try:
                resolver.lookup(reference)
            except Unresolvable:
                return path, f"{reference!r} is not in the file"
        return None


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number in JSON")


def _schemas(value: Any) -> Iterator[Json]:
    """A schema and all objects in it that may be schemas."""
    if isinstance(value, dict):
        yield value
        for name, inner in value.items():
            if name not in ("enum", "const", "default", "examples"):
                yield from _schemas(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _schemas(inner)


def _references(value: Any, path: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], str]]:
    items: Iterable[tuple[object, Any]] = ()
    if isinstance(value, dict):
        if isinstance(reference := value.get("$ref"), str):
            yield (*path, "$ref"), reference
        items = ((name, inner) for name, inner in value.items() if name not in ("enum", "const", "default", "examples"))
    elif isinstance(value, list):
        items = enumerate(value)
    for name, inner in items:
        yield from _references(inner, (*path, name))


def line_of(text: str, path: tuple[object, ...]) -> int:
    """The line of a place in a JSON text, by the names that lead to it; the last one that is found."""
    at = 0
    for name in path:
        if isinstance(name, str) and (found := re.compile(rf"{re.escape(json.dumps(name))}\s*:").search(text, at)):
            at = found.end()
    return text.count("\n", 0, at) + 1
