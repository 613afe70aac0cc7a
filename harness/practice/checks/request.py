"""Would the API accept this request? First its shape, then the rules that the SDK's types do not say."""

import itertools
from collections.abc import Iterator, Mapping

from harness.events import Block, Json
from harness.practice.checks.betas import STRUCTURED_OUTPUTS, beta_problem, betas_of
from harness.practice.checks.messages import message_problems, text_problem
from harness.practice.checks.rules import ServedModel, ServerRules
from harness.practice.checks.settings import setting_problems
from harness.practice.checks.shapes import messages_problems, request_problems
from harness.practice.checks.tools import tool_problems
from harness.practice.requests import blocks
from harness.practice.wire.prepared_reply import Counter, request_tokens
from harness.practice.wire.replies import ApiError

NO_SAMPLING = "2026-10-21"
"""From this API version on, sampling parameters are refused."""
_SAMPLING = ("temperature", "top_p", "top_k")


def check_access(headers: Mapping[str, str], rules: ServerRules) -> ApiError | None:
    """The problem with the key of a request, in Authorization or x-api-key."""
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
    """The problem with a request to /v1/messages, or None.

    Headers must have lower-case names. `counter` measures the prompt against the window; None: it is not
    measured. `counting`: the request is one to count tokens, which has no max_tokens.
    """
    version = headers.get("anthropic-version")
    if not version:
        return ApiError(400, "anthropic-version: header is required")
    betas = betas_of(headers.get("anthropic-beta", ""))
    if (unknown := beta_problem(betas, rules.betas)) is not None:
        return ApiError(400, unknown)
    for problem in _shape_problems(body, version, betas, counting=counting):
        return ApiError(400, problem)
    if not body["model"]:
        return ApiError(400, "model: String should have at least 1 character")
    model = rules.model(body["model"])
    if model is None:
        return ApiError(404, f"model: {body['model']}", "not_found_error")
    problems = itertools.chain(
        setting_problems(body, model),
        tool_problems(body, model),
        filter(None, (text_problem(block, "system") for block in blocks(body.get("system") or ()))),
        message_problems(body, model, bound=rules.bind_thinking),
        _cache_problems(body),
        () if counter is None else _size_problems(body, model, counter),
    )
    return next((ApiError(400, problem) for problem in problems), None)


def check_messages(body: Json, model: ServedModel) -> str | None:
    """The problem with the messages of a request, other fields aside."""
    problems = itertools.chain(messages_problems(body.get("messages")), message_problems(body, model, bound=False))
    return next(problems, None)


def unsupported(body: Json) -> ApiError | None:
    """What the API does and this server cannot, however strict it is: it keeps no conversations (`thread`).

    The SDKs then continue without a thread.
    """
    if body.get("thread") is None:
        return None
    message = "thread: this server holds no threads. Send the full conversation without `thread`."
    return ApiError(400, message, error_code="thread_unsupported_request")


def _shape_problems(body: Json, version: str, betas: tuple[str, ...], *, counting: bool) -> Iterator[str]:
    for name in _SAMPLING:
        if name in body and version >= NO_SAMPLING:
            yield f"{name}: sampling parameters are not supported as of API version {NO_SAMPLING}"
    older = () if STRUCTURED_OUTPUTS.isdisjoint(betas) else ("output_format",)
    yield from request_problems(body, without=("max_tokens",) if counting else (), also=(*_SAMPLING, *older))


def _cache_problems(body: Json) -> Iterator[str]:
    marked = [(at, mark) for at, block in _marked(body) if (mark := block.get("cache_control")) is not None]
    if len(marked) > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {len(marked)}."
    shorter = False
    for at, mark in marked:
        ttl = mark.get("ttl") or "5m"
        if ttl == "1h" and shorter:
            yield (
                f"{at}cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control "
                "block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
        shorter = shorter or ttl == "5m"


def _marked(body: Json) -> Iterator[tuple[str, Block]]:
    """The parts of a request that may carry a breakpoint, in their order, each with its path."""
    for number, tool in enumerate(body.get("tools") or ()):
        yield f"tools.{number}.", tool
    for number, block in enumerate(blocks(body.get("system"))):
        yield f"system.{number}.", block
    for number, message in enumerate(body["messages"]):
        for index, block in enumerate(blocks(message.get("content"))):
            yield f"messages.{number}.content.{index}.", block
            if block.get("type") == "tool_result":
                for part, inner in enumerate(blocks(block.get("content"))):
                    yield f"messages.{number}.content.{index}.content.{part}.", inner
    yield "", body


def _size_problems(body: Json, model: ServedModel, counter: Counter) -> Iterator[str]:
    count, max_tokens = request_tokens(counter, body), body["max_tokens"]
    if count > model.window:
        yield f"prompt is too long: {count} tokens > {model.window} maximum"
    elif count + max_tokens > model.window and model.strict_overflow:
        yield (
            f"input length and `max_tokens` exceed context limit: {count} + {max_tokens} > {model.window}, decrease "
            "input length or `max_tokens` and try again"
        )
