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
