"""The values of the `anthropic-beta` header that the API knows."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, get_args

from harness.events import Json
from harness.practice.checks.messages import message_problems
from harness.practice.checks.rules import EFFORTS, TOOL_TYPES, ServedModel, ServerRules
from harness.practice.requests import blocks
from harness.practice.wire.prepared_reply import Counter, request_tokens
from harness.practice.wire.replies import ApiError

_NAMES = """
admin-user-sign-out-2026-10-08 advanced-tool-use-2025-11-20 advisor-tool-2026-03-01 afk-mode-2026-01-31
agent-memory-2026-07-22 analytics-usage-cost-2026-08-24 cache-diagnosis-2026-04-07 ccr-byoc-2025-07-29
ccr-triggers-2026-01-30 ce-claude-code-managed-settings-2026-10-06 ce-plugins-2026-09-01
ce-user-management-2026-07-13 claude-code-20250219 code-execution-2025-05-22 code-execution-2025-08-25
code-execution-web-tools-2026-02-09 compact-2026-01-12 compact-2026-09-04 computer-use-2024-10-22
computer-use-2025-01-24 computer-use-2025-11-24 context-1m-2025-08-07 context-hint-2026-04-09
context-management-2025-06-27 dev-full-thinking-2025-05-14 dreaming-2026-04-21 effort-2025-11-24 efs-2026-10-01
environments-2025-11-01 experimental-claude-tag-2026-10-21 extended-cache-ttl-2025-04-11 fallback-credit-2026-06-01
fallback-credit-2026-07-01 fast-mode-2026-02-01 files-api-2025-04-14 fine-grained-tool-streaming-2025-05-14
inline-tools-2026-09-15 interleaved-thinking-2025-05-14 managed-agents-2026-04-01 max-tokens-3-5-sonnet-2024-07-15
mcp-client-2025-04-04 mcp-client-2025-11-20 mcp-client-2026-09-15 mcp-servers-2025-12-04 mcp-tunnels-2026-06-22
message-batches-2024-09-24 message-threads-2026-08-12 mid-conversation-output-config-2026-07-01
mid-conversation-system-2026-04-07 mid-conversation-system-clear-at-2026-08-21
mid-conversation-tool-changes-2026-07-01 model-context-window-exceeded-2025-08-26 oauth-2025-04-20
oidc-federation-2026-04-01 output-128k-2025-02-19 output-300k-2026-03-24 pdfs-2024-09-25 prompt-caching-2024-07-31
prompt-caching-scope-2026-01-05 redact-thinking-2026-02-12 server-side-fallback-2026-06-01
server-side-fallback-2026-06-09 server-side-fallback-2026-07-01 skills-2025-10-02 spend-limit-reads-2026-09-26
structured-outputs-2025-11-13 structured-outputs-2025-12-15 summarize-connector-text-2026-03-13
task-budgets-2026-03-13 telemetry-destinations-2026-08-11 thinking-binding-controls-2026-08-01
thinking-display-updates-2026-08-18 thinking-token-count-2026-05-13 token-counting-2024-11-01
token-efficient-tools-2025-02-19 tool-examples-2025-10-29 tool-search-tool-2025-10-19 tools-2024-04-04
tools-2024-05-16 user-profiles-2026-03-24 user-profiles-2026-08-18 user-profiles-2026-09-04
user-profiles-billing-2026-10-01 web-fetch-2025-09-10 web-search-2025-03-05 webhooks-2026-10-07
"""

KNOWN = frozenset(_NAMES.split())
"""Those of the `anthropic` SDK 2.13, and those that Claude Code 2.1 and opencode 1.18 send besides."""

STRUCTURED_OUTPUTS = frozenset({"structured-outputs-2025-11-13", "structured-outputs-2025-12-15"})
"""With one of these the API takes `output_format`, the older name of `output_config.format`."""
INTERLEAVED_THINKING = "interleaved-thinking-2025-05-14"


def betas_of(header: str) -> tuple[str, ...]:
    """The values in an `anthropic-beta` header."""
    return tuple(value for part in header.split(",") if (value := part.strip()))


def beta_problem(betas: Iterable[str], also: frozenset[str] = frozenset()) -> str | None:
    """The problem with the betas of a request; `also` are accepted too, and those that a newer SDK knows."""
    unknown = sorted(set(betas) - KNOWN - also)
    if unknown:
        unknown = [beta for beta in unknown if beta not in _betas_of_the_sdk()]
    if not unknown:
        return None
    named = ", ".join(f"`{value}`" for value in unknown)
    return (
        f"Unexpected value(s) {named} for the `anthropic-beta` header. Please consult our documentation at "
        "docs.claude.com or try again without the header."
    )


@lru_cache(maxsize=1)
def _betas_of_the_sdk() -> frozenset[str]:
    """Betas of the installed SDK, which may be newer than this program. Only for betas that are not in `KNOWN`."""
    from anthropic.types import AnthropicBetaParam

    return frozenset(name for each in get_args(AnthropicBetaParam) for name in get_args(each))


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
    """The problems with the settings of a request, in the order of the API."""
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


_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_FIELDS = frozenset(
    {"type", "name", "description", "input_schema", "cache_control", "strict", "defer_loading", "allowed_callers"}
    | {"input_examples", "eager_input_streaming"}
)
_COMMON = frozenset({"type", "name", "allowed_domains", "blocked_domains", "max_uses", "cache_control"})
_WEB_FIELDS = {
    "web_search": _COMMON | {"user_location", "strict", "defer_loading"},
    "web_fetch": _COMMON | {"citations", "max_content_tokens", "strict", "defer_loading", "use_cache", "url_sources"},
}
_CALLER_FIELDS = frozenset({"allowed_callers", "response_inclusion"})
_WITHOUT_CALLERS = {"web_search": "web_search_20250305", "web_fetch": "web_fetch_20250910"}
"""The types that know nothing of callers; all later ones do."""
_CHOICES = ("auto", "any", "tool", "none")


def tool_problems(body: Json, model: ServedModel) -> Iterator[str]:
    """The problems with the tools of a request, in the order of the API."""
    tools = body.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        yield "tools: Input should be a valid array"
        return
    for number, tool in enumerate(tools):
        yield from _one_tool_problems(tool, f"tools.{number}")
    names = [tool["name"] for tool in tools if "name" in tool]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    yield from _choice_problems(body, names, model)
    if not tools and any(
        block.get("type") in ("tool_use", "tool_result")
        for message in body["messages"]
        if isinstance(message, dict)
        for block in blocks(message.get("content"))
    ):
        yield "Requests which include `tool_use` or `tool_result` blocks must define tools"


def _one_tool_problems(tool: Json, place: str) -> Iterator[str]:
    type_ = tool.get("type") or "custom"
    if type_ == "custom":
        yield from _custom_tool_problems(tool, f"{place}.custom")
    elif type_ not in TOOL_TYPES:
        known = ", ".join(f"'{name}'" for name in sorted((*TOOL_TYPES, "custom")))
        yield f"{place}: Input tag '{type_}' found using 'type' does not match any of the expected tags: {known}"
    elif (name := TOOL_TYPES[type_].name) is not None and tool.get("name") != name:
        yield f"{place}.{type_}.name: Input should be '{name}'"
    elif name in ("web_search", "web_fetch"):
        yield from _web_problems(tool, f"{place}.{type_}")


def _web_problems(tool: Json, place: str) -> Iterator[str]:
    """The problems with the definition of a web tool."""
    newest = str(tool["type"]) > _WITHOUT_CALLERS[tool["name"]]
    for field in tool:
        if field not in _WEB_FIELDS[tool["name"]] and not (newest and field in _CALLER_FIELDS):
            yield f"{place}.{field}: Extra inputs are not permitted"
    lists = [name for name in ("allowed_domains", "blocked_domains") if tool.get(name) is not None]
    if len(lists) > 1:
        yield f"{place}: Only one of `allowed_domains` or `blocked_domains` may be provided"
    for name in lists:
        given = tool[name]
        if not isinstance(given, list) or not all(isinstance(domain, str) for domain in given):
            yield f"{place}.{name}: Input should be a valid list of strings"
        elif wrong := next((domain for domain in given if "://" in domain or not domain.strip()), None):
            yield f"{place}.{name}: Invalid domain '{wrong}': leave out the scheme"
    most = tool.get("max_uses")
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
        yield f"{place}.max_uses: Input should be greater than 0"


def _custom_tool_problems(tool: Json, place: str) -> Iterator[str]:
    name, schema = tool.get("name"), tool.get("input_schema")
    for field in tool:
        if field not in _FIELDS:
            yield f"{place}.{field}: Extra inputs are not permitted"
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    if not isinstance(schema, dict):
        yield f"{place}.input_schema: Field required"
    elif schema.get("type") != "object":
        yield f"{place}.input_schema.type: Input should be 'object'"


def _choice_problems(body: Json, names: list[object], model: ServedModel) -> Iterator[str]:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not isinstance(choice, dict) or choice.get("type") not in _CHOICES:
        yield "tool_choice: Input should be an object of type 'auto', 'any', 'tool' or 'none'"
        return
    if not isinstance(choice.get("disable_parallel_tool_use", False), bool):
        yield f"tool_choice.{choice['type']}.disable_parallel_tool_use: Input should be a valid boolean"
    if not body.get("tools"):
        yield "tool_choice: tool_choice may only be specified while providing tools"
    if choice["type"] not in ("any", "tool"):
        return
    if not model.forced_tools:
        yield 'tool_choice: type "tool" and "any" are not supported for this model.'
    if choice["type"] == "tool" and choice.get("name") not in names:
        yield f"tool_choice: Tool '{choice.get('name')}' not found in provided tools"
    thinking = body.get("thinking")
    if isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive"):
        yield "Thinking may not be enabled when tool_choice forces tool use."


NO_SAMPLING = "2026-10-21"
"""From this API version on, sampling parameters are refused."""
_FIELD_NAMES = """
model messages max_tokens system tools tool_choice stream metadata stop_sequences thinking service_tier
container context_management mcp_servers output_config cache_control inference_geo compaction diagnostics
speed fallbacks fallback_credit_token billing_policy thread user_profile_id workspace_id temperature top_p
top_k
"""
_KNOWN = frozenset(_FIELD_NAMES.split())


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

    The SDKs then continue without a thread.
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
