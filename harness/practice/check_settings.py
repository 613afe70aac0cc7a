"""What the API refuses in the settings of a reply: its length, thinking, sampling, stop sequences, its format."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from harness.events import Json
from harness.practice.rules import EFFORTS, ServedModel

_CONFIG = ("effort", "format", "task_budget")
_DISPLAYS = ("summarized", "omitted", "updates")
_THINKING_PAGE = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
_UNSUPPORTED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "integer": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
        "number": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
        "string": ("maxLength", "minLength"),
        "array": ("maxItems", "uniqueItems"),
        "object": ("maxProperties", "minProperties"),
    }
)
"""Keywords that the schema of an output format may not have, by type."""


def setting_problems(body: Json, model: ServedModel) -> Iterator[str]:
    """What is wrong with the settings of a request, first things first."""
    max_tokens = body.get("max_tokens", 1)
    if max_tokens > model.max_output:
        yield (
            f"max_tokens: {max_tokens} > {model.max_output}, which is the maximum allowed number of output tokens for "
            f"{body['model']}"
        )
    yield from _thinking_problems(body.get("thinking"), max_tokens, model)
    yield from _sampling_problems(body, model)
    yield from _stop_problems(body.get("stop_sequences"))
    yield from _config_problems(body.get("output_config"), body.get("thinking"), model)
    if (form := body.get("output_format")) is not None:
        yield from _format_problems(form, "output_format")
        if isinstance(body.get("output_config"), dict) and body["output_config"].get("format") is not None:
            yield "output_format: cannot be used together with output_config.format"


def _thinking_problems(thinking: Any, max_tokens: int, model: ServedModel) -> Iterator[str]:
    if thinking is None:
        return
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if kind not in ("adaptive", "enabled", "disabled"):
        yield "thinking.type: Input should be 'adaptive', 'enabled' or 'disabled'"
    elif kind not in model.thinking:
        yield (
            "adaptive thinking is not supported on this model"
            if kind == "adaptive"
            else f'"thinking.type.{kind}" is not supported for this model.'
        )
    elif kind == "enabled":
        yield from _budget_problems(thinking.get("budget_tokens"), max_tokens)
    if isinstance(thinking, dict) and thinking.get("display") not in (None, *_DISPLAYS):
        yield f"thinking.{kind}.display: Input should be 'summarized' or 'omitted'"


def _budget_problems(budget: Any, max_tokens: int) -> Iterator[str]:
    if not isinstance(budget, int) or budget < 1024:
        yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    elif budget >= max_tokens:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`"


def _sampling_problems(body: Json, model: ServedModel) -> Iterator[str]:
    temperature, top_p, top_k = (body.get(name) for name in ("temperature", "top_p", "top_k"))
    for name, value in (("temperature", temperature), ("top_p", top_p)):
        if value is None:
            continue
        if not isinstance(value, int | float) or isinstance(value, bool):
            yield f"{name}: Input should be a valid number"
        elif not 0 <= value <= 1:
            yield f"{name}: range: 0..1"
    if top_k is not None and (not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0):
        yield "top_k: Input should be greater than or equal to 0"
    if not model.sampling:
        for name, value, usual in (("temperature", temperature, 1), ("top_p", top_p, None), ("top_k", top_k, None)):
            if value is not None and value != usual:
                yield f"`{name}` is deprecated for this model."
    if temperature is not None and top_p is not None:
        yield "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    thinking = body.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") not in ("enabled", "adaptive"):
        return
    when = f"when thinking is enabled or in adaptive mode. Please consult our documentation at {_THINKING_PAGE}"
    if temperature not in (None, 1):
        yield f"`temperature` may only be set to 1 {when}"
    if top_p is not None and top_p < 0.95:
        yield f"`top_p` must be greater than or equal to 0.95 or unset {when}"
    if top_k is not None:
        yield f"`top_k` must be unset {when}"


def _stop_problems(sequences: Any) -> Iterator[str]:
    if sequences is None:
        return
    if not isinstance(sequences, list):
        yield "stop_sequences: Input should be a valid array"
        return
    for number, sequence in enumerate(sequences):
        if not isinstance(sequence, str):
            yield f"stop_sequences.{number}: Input should be a valid string"
        elif not sequence.strip():
            yield "stop_sequences: each stop sequence must contain non-whitespace"


def _config_problems(config: Any, thinking: Any, model: ServedModel) -> Iterator[str]:
    if config is None:
        return
    if not isinstance(config, dict):
        yield "output_config: Input should be a valid dictionary"
        return
    for name in config:
        if name not in _CONFIG:
            yield f"output_config.{name}: Extra inputs are not permitted"
    yield from _effort_problems(config.get("effort"), thinking, model)
    if config.get("format") is not None:
        yield from _format_problems(config["format"], "output_config.format")


def _effort_problems(effort: Any, thinking: Any, model: ServedModel) -> Iterator[str]:
    if effort is None:
        return
    off = isinstance(thinking, dict) and thinking.get("type") in ("disabled", "between_tools")
    if effort not in EFFORTS:
        yield "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
    elif not model.efforts:
        yield "This model does not support the effort parameter."
    elif effort not in model.efforts:
        levels = ", ".join(sorted(model.efforts))
        yield f"This model does not support effort level '{effort}'. Supported levels: {levels}."
    elif off and effort in ("xhigh", "max"):
        yield (
            f"output_config.effort '{effort}' is not supported when thinking is disabled on this model. "
            "Use effort 'high' or below, or enable thinking."
        )


def _format_problems(form: Any, place: str) -> Iterator[str]:
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        yield f"{place}.type: Input should be 'json_schema'"
    elif not isinstance(form.get("schema"), dict):
        yield f"{place}.schema: Field required"
    else:
        yield from _schema_problems(form["schema"], f"{place}.schema")


def _schema_problems(schema: Any, place: str) -> Iterator[str]:
    """Of a schema and all schemas in it."""
    if isinstance(schema, list):
        for inner in schema:
            yield from _schema_problems(inner, place)
        return
    if not isinstance(schema, dict):
        return
    kind = schema.get("type")
    if kind == "object" and schema.get("additionalProperties") is not False:
        yield f"{place}: For 'object' type, 'additionalProperties' must be explicitly set to false"
    found = sorted(name for name in _UNSUPPORTED.get(str(kind), ()) if name in schema)
    if found:
        which = f"property '{found[0]}' is" if len(found) == 1 else f"properties {', '.join(found)} are"
        yield f"{place}: For '{kind}' type, {which} not supported"
    if kind == "array" and schema.get("minItems", 0) not in (0, 1):
        yield f"{place}: For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    for name, inner in schema.items():
        if name in ("properties", "$defs", "definitions") and isinstance(inner, dict):
            yield from _schema_problems(list(inner.values()), place)
        elif name in ("items", "anyOf", "allOf", "oneOf"):
            yield from _schema_problems(inner, place)
