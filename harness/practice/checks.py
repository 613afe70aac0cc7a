"""Whether the real API would take a request, and in which words it would refuse it (api §5.1, R21).

Each check yields what is wrong, in the order in which the API looks; the first is the answer. Texts that
api §5.1 does not quote are of the same kind, in our words.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.events import Json
from harness.practice.check_messages import message_problems
from harness.practice.counting import Counter, request_tokens
from harness.practice.errors import ApiError
from harness.practice.requests import blocks
from harness.practice.rules import ServedModel, ServerRules

NO_SAMPLING = "2026-10-21"
"""From this API version on, sampling parameters are refused (api §0)."""
_KNOWN = frozenset(
    {
        "model",
        "messages",
        "max_tokens",
        "system",
        "tools",
        "tool_choice",
        "stream",
        "metadata",
        "stop_sequences",
        "thinking",
        "service_tier",
        "container",
        "context_management",
        "mcp_servers",
        "output_config",
        "cache_control",
        "inference_geo",
        "compaction",
        "diagnostics",
        "speed",
        "fallbacks",
        "fallback_credit_token",
        "billing_policy",
        "thread",
        "user_profile_id",
        "workspace_id",
        "temperature",
        "top_p",
        "top_k",
    }
)
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def check_access(headers: Mapping[str, str], rules: ServerRules) -> ApiError | None:
    """Who asks: a key in Authorization or x-api-key."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else ""
    key = bearer or headers.get("x-api-key", "")
    if not key and (rules.key_required or rules.key is not None):
        return ApiError(401, "x-api-key header is required", "authentication_error")
    if rules.key is not None and key != rules.key:
        return ApiError(401, "Invalid bearer token" if bearer else "invalid x-api-key", "authentication_error")
    return None


def check(
    headers: Mapping[str, str], body: Json, rules: ServerRules, counter: Counter | None, *, counting: bool = False
) -> ApiError | None:
    """What is wrong with a request to /v1/messages, or None.

    Headers must have lower-case names. `counter` measures the prompt against the window; None: it is not
    measured. `counting`: the request is one to count tokens, which has no max_tokens.
    """
    version = headers.get("anthropic-version")
    if not version:
        return ApiError(400, "anthropic-version: header is required")
    for problem in _shape_problems(body, version, counting=counting):
        return ApiError(400, problem)
    model = rules.model(body["model"])
    if model is None:
        return ApiError(404, f"model: {body['model']}", "not_found_error")
    problems = itertools.chain(
        _setting_problems(body, model),
        _tool_problems(body, model),
        _system_problems(body.get("system")),
        message_problems(body, model, bound=rules.bind_thinking),
        _cache_problems(body),
        () if counter is None else _size_problems(body, model, counter),
    )
    return next((ApiError(400, problem) for problem in problems), None)


def _shape_problems(body: Json, version: str, *, counting: bool) -> Iterator[str]:
    for name in body:
        if name not in _KNOWN:
            yield f"{name}: Extra inputs are not permitted"
    for name in ("temperature", "top_p", "top_k"):
        if name in body and version >= NO_SAMPLING:
            yield f"{name}: sampling parameters are not supported as of API version {NO_SAMPLING}"
    for name in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if name not in body:
            yield f"{name}: Field required"
    if not isinstance(body.get("model"), str):
        yield "model: Input should be a valid string"
    if not isinstance(body.get("messages"), list):
        yield "messages: Input should be a valid array"
    if not isinstance(body.get("stream", False), bool):
        yield "stream: Input should be a valid boolean"
    max_tokens = body.get("max_tokens", 1)
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool):
        yield "max_tokens: Input should be a valid integer"
    elif max_tokens < 1:
        yield "max_tokens: Input should be greater than or equal to 1"


def _setting_problems(body: Json, model: ServedModel) -> Iterator[str]:
    max_tokens = body.get("max_tokens", 1)
    if max_tokens > model.max_output:
        yield (
            f"max_tokens: {max_tokens} > {model.max_output}, which is the maximum allowed number of output tokens for "
            f"{body['model']}"
        )
    thinking = body.get("thinking")
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


def _budget_problems(budget: Any, max_tokens: int) -> Iterator[str]:
    if not isinstance(budget, int) or budget < 1024:
        yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    elif budget >= max_tokens:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`"


def _tool_problems(body: Json, model: ServedModel) -> Iterator[str]:
    tools = body.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        yield "tools: Input should be a valid array"
        return
    for number, tool in enumerate(tools):
        if tool.get("type", "custom") == "custom":
            yield from _custom_tool_problems(tool, f"tools.{number}.custom")
    names = [tool.get("name") for tool in tools]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    choice = body.get("tool_choice") or {}
    if not isinstance(choice, dict) or choice.get("type", "auto") not in ("auto", "any", "tool", "none"):
        yield "tool_choice: Input should be an object of type 'auto', 'any', 'tool' or 'none'"
    elif choice.get("type") in ("any", "tool") and not model.forced_tools:
        yield 'tool_choice: type "tool" and "any" are not supported for this model.'
    elif choice.get("type") == "tool" and choice.get("name") not in names:
        yield f"tool_choice: Tool '{choice.get('name')}' not found in provided tools"
    if not tools and any(
        block.get("type") in ("tool_use", "tool_result")
        for message in body["messages"]
        if isinstance(message, dict)
        for block in blocks(message.get("content"))
    ):
        yield "Requests which include `tool_use` or `tool_result` blocks must define tools"


def _custom_tool_problems(tool: Json, place: str) -> Iterator[str]:
    name, schema = tool.get("name"), tool.get("input_schema")
    if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
        yield f"{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    if not isinstance(schema, dict):
        yield f"{place}.input_schema: Field required"
    elif schema.get("type") != "object":
        yield f"{place}.input_schema.type: Input should be 'object'"


def _system_problems(system: Any) -> Iterator[str]:
    if isinstance(system, str | None):
        return
    if not isinstance(system, list):
        yield "system: Input should be a valid string or array"
        return
    for number, block in enumerate(system):
        if not isinstance(block, dict) or block.get("type") != "text" or not isinstance(block.get("text"), str):
            yield f"system.{number}: Input should be a text block"
        elif not block["text"]:
            yield "system: text content blocks must be non-empty"
        elif not block["text"].strip():
            yield "system: text content blocks must contain non-whitespace text"


def _cache_problems(body: Json) -> Iterator[str]:
    marked = [body, *(body.get("tools") or ()), *blocks(body.get("system"))]
    for message in body["messages"]:
        for block in blocks(message["content"]):
            marked.append(block)
            if block.get("type") == "tool_result":
                marked += blocks(block.get("content"))
    marks = [block["cache_control"] for block in marked if block.get("cache_control") is not None]
    if any(not isinstance(mark, dict) or mark.get("type") != "ephemeral" for mark in marks):
        yield "cache_control.type: Input should be 'ephemeral'"
    if len(marks) > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."


def _size_problems(body: Json, model: ServedModel, counter: Counter) -> Iterator[str]:
    count, max_tokens = request_tokens(counter, body), body["max_tokens"]
    if count > model.window:
        yield f"prompt is too long: {count} tokens > {model.window} maximum"
    elif count + max_tokens > model.window and model.strict_overflow:
        yield (
            f"input length and `max_tokens` exceed context limit: {count} + {max_tokens} > {model.window}, decrease "
            "input length or `max_tokens` and try again"
        )
