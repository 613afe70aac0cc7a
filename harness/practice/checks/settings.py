"""The problems with the settings of a request, beyond their shape: thinking, sampling, effort, output format."""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.events import Json
from harness.practice.checks.rules import ServedModel

_THINKING_PAGE = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
_NUMBERS = ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf")
_UNSUPPORTED: Mapping[str, tuple[str, ...]] = {
    "integer": _NUMBERS,
    "number": _NUMBERS,
    "string": ("maxLength", "minLength"),
    "array": ("maxItems", "uniqueItems"),
    "object": ("maxProperties", "minProperties"),
}
"""Keywords that the schema of an output format may not have, by type."""


def setting_problems(body: Json, model: ServedModel) -> Iterator[str]:
    """The problems with the settings of a request of the right shape, in the order of the API."""
    max_tokens = body.get("max_tokens", 1)
    if max_tokens < 1:
        yield "max_tokens: Input should be greater than or equal to 1"
    if max_tokens > model.max_output:
        yield (
            f"max_tokens: {max_tokens} > {model.max_output}, which is the maximum allowed number of output tokens for "
            f"{body['model']}"
        )
    thinking: Json = body.get("thinking") or {}
    yield from _thinking_problems(thinking, max_tokens, model)
    yield from _sampling_problems(body, thinking, model)
    if any(not sequence.strip() for sequence in body.get("stop_sequences") or ()):
        yield "stop_sequences: each stop sequence must contain non-whitespace"
    config: Json = body.get("output_config") or {}
    yield from _effort_problems(config.get("effort"), thinking, model)
    for form, at in ((config.get("format"), "output_config.format"), (body.get("output_format"), "output_format")):
        if form is not None:
            yield from _format_problems(form, at)
    if body.get("output_format") is not None and config.get("format") is not None:
        yield "output_format: cannot be used together with output_config.format"


def _thinking_problems(thinking: Json, max_tokens: int, model: ServedModel) -> Iterator[str]:
    kind = thinking.get("type")
    if kind not in (None, *model.thinking):
        adaptive = "adaptive thinking is not supported on this model"
        yield adaptive if kind == "adaptive" else f'"thinking.type.{kind}" is not supported for this model.'
    elif kind == "enabled":
        if thinking["budget_tokens"] < 1024:
            yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        elif thinking["budget_tokens"] >= max_tokens:
            yield "`max_tokens` must be greater than `thinking.budget_tokens`"


def _sampling_problems(body: Json, thinking: Json, model: ServedModel) -> Iterator[str]:
    """Parameters that the SDK's types no longer have."""
    temperature, top_p, top_k = (body.get(name) for name in ("temperature", "top_p", "top_k"))
    for name, value in (("temperature", temperature), ("top_p", top_p)):
        if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
            yield f"{name}: Input should be a valid number"
        elif value is not None and not 0 <= value <= 1:
            yield f"{name}: range: 0..1"
    if top_k is not None and (not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0):
        yield "top_k: Input should be greater than or equal to 0"
    if not model.sampling:
        for name, value, usual in (("temperature", temperature, 1), ("top_p", top_p, None), ("top_k", top_k, None)):
            if value is not None and value != usual:
                yield f"`{name}` is deprecated for this model."
    if temperature is not None and top_p is not None:
        yield "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    if thinking.get("type") not in ("enabled", "adaptive"):
        return
    when = f"when thinking is enabled or in adaptive mode. Please consult our documentation at {_THINKING_PAGE}"
    if temperature not in (None, 1):
        yield f"`temperature` may only be set to 1 {when}"
    if top_p is not None and top_p < 0.95:
        yield f"`top_p` must be greater than or equal to 0.95 or unset {when}"
    if top_k is not None:
        yield f"`top_k` must be unset {when}"


def _effort_problems(effort: str | None, thinking: Json, model: ServedModel) -> Iterator[str]:
    if effort is None:
        return
    if not model.efforts:
        yield "This model does not support the effort parameter."
    elif effort not in model.efforts:
        levels = ", ".join(sorted(model.efforts))
        yield f"This model does not support effort level '{effort}'. Supported levels: {levels}."
    elif thinking.get("type") in ("disabled", "between_tools") and effort in ("xhigh", "max"):
        yield (
            f"output_config.effort '{effort}' is not supported when thinking is disabled on this model. "
            "Use effort 'high' or below, or enable thinking."
        )


def _format_problems(form: Any, at: str) -> Iterator[str]:
    if not isinstance(form, dict) or form.get("type") != "json_schema":  # the SDK's types know no `output_format`
        yield f"{at}.type: Input should be 'json_schema'"
    elif not isinstance(form.get("schema"), dict):
        yield f"{at}.schema: Field required"
    else:
        yield from _schema_problems(form["schema"], f"{at}.schema")


def _schema_problems(schema: Any, at: str) -> Iterator[str]:
    """Of a schema and all schemas in it."""
    if isinstance(schema, list):
        for inner in schema:
            yield from _schema_problems(inner, at)
        return
    if not isinstance(schema, dict):
        return
    kind = schema.get("type")
    if kind == "object" and schema.get("additionalProperties") is not False:
        yield f"{at}: For 'object' type, 'additionalProperties' must be explicitly set to false"
    if found := sorted(name for name in _UNSUPPORTED.get(str(kind), ()) if name in schema):
        which = f"property '{found[0]}' is" if len(found) == 1 else f"properties {', '.join(found)} are"
        yield f"{at}: For '{kind}' type, {which} not supported"
    if kind == "array" and schema.get("minItems", 0) not in (0, 1):
        yield f"{at}: For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    for name, inner in schema.items():
        if name in ("properties", "$defs", "definitions") and isinstance(inner, dict):
            yield from _schema_problems(list(inner.values()), at)
        elif name in ("items", "anyOf", "allOf", "oneOf"):
            yield from _schema_problems(inner, at)
