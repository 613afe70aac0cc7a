"""What the API refuses in the tools of a request and in their choice."""

import re
from collections.abc import Iterator

from harness.events import Json
from harness.practice.requests import blocks
from harness.practice.rules import ServedModel
from harness.practice.tool_types import TOOL_TYPES

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
    """What is wrong with the tools of a request, first things first."""
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
    """What is wrong with the definition of a web search or fetch."""
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
