"""Whether the real API would take a request, and in which words it would refuse it (api §5.1, R21).

Each check yields what is wrong, in the order in which the API looks; the first is the answer. Texts that
api §5.1 does not quote are of the same kind, in our words.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from harness.events import Json
from harness.practice.betas import STRUCTURED_OUTPUTS, beta_problem, betas_of
from harness.practice.check_messages import message_problems
from harness.practice.check_settings import setting_problems
from harness.practice.check_tools import tool_problems
from harness.practice.error_bodies import ApiError
from harness.practice.requests import blocks
from harness.practice.rules import ServedModel, ServerRules
from harness.practice.token_count import Counter, request_tokens

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
    betas = betas_of(headers.get("anthropic-beta", ""))
    if (unknown := beta_problem(betas, rules.betas)) is not None:
        return ApiError(400, unknown)
    for problem in _shape_problems(
        body, version, counting=counting, older_format=not STRUCTURED_OUTPUTS.isdisjoint(betas)
    ):
        return ApiError(400, problem)
    model = rules.model(body["model"])
    if model is None:
        return ApiError(404, f"model: {body['model']}", "not_found_error")
    problems = itertools.chain(
        setting_problems(body, model),
        tool_problems(body, model),
        _system_problems(body.get("system")),
        message_problems(body, model, bound=rules.bind_thinking),
        _cache_problems(body),
        () if counter is None else _size_problems(body, model, counter),
    )
    return next((ApiError(400, problem) for problem in problems), None)


def unsupported(body: Json) -> ApiError | None:
    """What the API does and this server cannot, however strict it is: it keeps no conversations (`thread`).

    The SDKs go on without a thread when they are told so.
    """
    if body.get("thread") is None:
        return None
    message = "thread: this server holds no threads. Send the full conversation without `thread`."
    return ApiError(400, message, error_code="thread_unsupported_request")


def _shape_problems(body: Json, version: str, *, counting: bool, older_format: bool) -> Iterator[str]:
    for name in body:
        if name not in _KNOWN and not (older_format and name == "output_format"):
            yield f"{name}: Extra inputs are not permitted"
    for name in ("temperature", "top_p", "top_k"):
        if name in body and version >= NO_SAMPLING:
            yield f"{name}: sampling parameters are not supported as of API version {NO_SAMPLING}"
    diagnostics = body.get("diagnostics")
    if not isinstance(diagnostics, dict | None):
        yield "diagnostics: Input should be an object"
    elif diagnostics and not isinstance(diagnostics.get("previous_message_id"), str | None):
        yield "diagnostics.previous_message_id: Input should be a valid string"
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
    marked = [(f"tools.{number}", tool) for number, tool in enumerate(body.get("tools") or ())]
    marked += [(f"system.{number}", block) for number, block in enumerate(blocks(body.get("system")))]
    for number, message in enumerate(body["messages"]):
        for index, block in enumerate(blocks(message.get("content"))):
            marked.append((f"messages.{number}.content.{index}", block))
            if block.get("type") == "tool_result":
                inner = enumerate(blocks(block.get("content")))
                marked += [(f"messages.{number}.content.{index}.content.{part}", each) for part, each in inner]
    marked.append(("", body))
    marks = [(place, block["cache_control"]) for place, block in marked if block.get("cache_control") is not None]
    if any(not isinstance(mark, dict) or mark.get("type") != "ephemeral" for _, mark in marks):
        yield "cache_control.type: Input should be 'ephemeral'"
        return
    if len(marks) > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."
    shorter = False
    for place, mark in marks:
        at = f"{place}.cache_control.ttl".removeprefix(".")
        ttl = mark.get("ttl") or "5m"
        if ttl not in ("5m", "1h"):
            yield f"{at}: Input should be '5m' or '1h'"
        elif ttl == "1h" and shorter:
            yield (
                f"{at}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that "
                "blocks are processed in the following order: `tools`, `system`, `messages`."
            )
        shorter = shorter or ttl == "5m"


def _size_problems(body: Json, model: ServedModel, counter: Counter) -> Iterator[str]:
    count, max_tokens = request_tokens(counter, body), body["max_tokens"]
    if count > model.window:
        yield f"prompt is too long: {count} tokens > {model.window} maximum"
    elif count + max_tokens > model.window and model.strict_overflow:
        yield (
            f"input length and `max_tokens` exceed context limit: {count} + {max_tokens} > {model.window}, decrease "
            "input length or `max_tokens` and try again"
        )
