"""What a tool takes: its JSON schema for the model, and the check before it runs."""

from copy import deepcopy
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from harness.events import Json

MOST_FAULTS = 3
"""More wrong arguments than this are not worth listing in one sentence."""


class ToolArguments(BaseModel):
    """Base of every tool's arguments: frozen, and unknown names are refused."""

    # With any bound on its length, pydantic also refuses a text with half a character (a lone surrogate) in it, which
    # no file and no command line can hold; without one it lets it through.
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), str_min_length=0)


class ArgumentError(ValueError):
    """The arguments of a call do not fit. Its text is one sentence for the model; nothing was run."""


def broken_rule(sentence: str) -> PydanticCustomError:
    """What a validator raises whose own words follow the name of the argument: "has 21 items; 20 are the most"."""
    return PydanticCustomError("broken_rule", "{sentence}", {"sentence": sentence})


def schema_of(model: type[BaseModel]) -> Json:
    """The JSON schema of `model` in a stable key order, without the titles and null defaults that pydantic adds."""
    return deepcopy(_schema_of(model))


@cache
def _schema_of(model: type[BaseModel]) -> Json:
    schema: Json = _untitled(model.model_json_schema())
    properties = schema.get("properties", {})
    kept = {key: schema[key] for key in ("$defs",) if key in schema}
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": bool(schema.get("additionalProperties", False)),
        **kept,
    }


def parse(tool: str, model: type[BaseModel], input: Json) -> BaseModel:
    """The checked arguments of a call to `tool`.

    A null for an argument that has a default counts as not given, because models write it so. Raises `ArgumentError`,
    which names the argument, the given value and the expected one.
    """
    try:
        return model.model_validate(input)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    optional = {name for name, field in model.model_fields.items() if not field.is_required()}
    nulls = {fault["loc"][0] for fault in faults if len(fault["loc"]) == 1 and fault["input"] is None} & optional
    if nulls:
        return parse(tool, model, {name: value for name, value in input.items() if name not in nulls})
    raise ArgumentError(f"{tool} was not run: {'; '.join(_sentences(faults, model, input))}.")


def _sentences(faults: list[ErrorDetails], model: type[BaseModel], input: Json) -> list[str]:
    """One part of a sentence for each fault; a misspelt argument is not also reported as missing."""
    unknown = [
        str(fault["loc"][0]) for fault in faults if fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1
    ]
    meant = {near for name in unknown if (near := _nearest(name, model))}
    told = [
        fault
        for fault in faults
        if not (fault["type"] == "missing" and fault["loc"][0] in meant) and fault["type"] != "none_required"
    ]
    more = [f"and {len(told) - MOST_FAULTS} more"] if len(told) > MOST_FAULTS else []
    return [_sentence(fault, model, input) for fault in told[:MOST_FAULTS]] + more


def _sentence(fault: ErrorDetails, model: type[BaseModel], input: Json) -> str:
    name = _place(fault, input)
    match fault["type"]:
        case "missing":
            field = model.model_fields.get(name)
            meaning = f" ({field.description.rstrip('.')})" if field and field.description else ""
            return f"the argument `{name}`{meaning} is missing"
        case "extra_forbidden" if len(fault["loc"]) > 1:
            return f"there is no `{name}`"
        case "extra_forbidden":
            near = _nearest(name, model)
            takes = ", ".join(model.model_fields) or "none"
            return f"there is no argument `{name}` " + (f"(did you mean `{near}`?)" if near else f"(it takes {takes})")
        case "model_type":
            return f"`{name}` was {_short(fault['input'])}, but input should be an object"
        case "broken_rule":
            return f"`{name}` {fault['msg']}"
        case _:
            problem = fault["msg"][:1].lower() + fault["msg"][1:]
            return f"`{name}` was {_short(fault['input'])}, but {problem}"


def _place(fault: ErrorDetails, input: Any) -> str:
    """The place of a fault in the input, without the labels that pydantic adds for the branches of a union."""
    *path, last = fault["loc"] or ("name of an argument",)  # no place: a name that is no text
    parts = []
    for part in path:
        try:
            input = input[part]
        except (KeyError, IndexError, TypeError):
            continue
        parts.append(str(part))
    if fault["type"] == "missing" or not path or isinstance(input, dict | list):
        parts.append(str(last))
    return ".".join(parts)


def _nearest(name: str, model: type[BaseModel]) -> str | None:
    near = get_close_matches(name, list(model.model_fields), n=1, cutoff=0.5)
    return near[0] if near else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _is_noise(key: str, value: object) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "default" and value is None)


def _untitled(node: Any) -> Any:
    match node:
        case {"properties": dict() as properties, **rest}:
            # An argument may itself be called "title"; only the titles of schemas go.
            return {**_untitled(rest), "properties": {name: _untitled(value) for name, value in properties.items()}}
        case dict():
            return {key: _untitled(value) for key, value in node.items() if not _is_noise(key, value)}
        case list():
            return [_untitled(item) for item in node]
        case _:
            return node
