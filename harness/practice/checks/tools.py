"""The problems with the tools of a request, beyond their shape."""

import re
from collections.abc import Iterator, Sequence

from harness.events import Json
from harness.practice.checks.rules import ServedModel
from harness.practice.requests import blocks

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def tool_problems(body: Json, model: ServedModel) -> Iterator[str]:
    """The problems with the tools of a request of the right shape, in the order of the API."""
    tools: Sequence[Json] = body.get("tools") or []
    for number, tool in enumerate(tools):
        if "input_schema" in tool and not _NAME.fullmatch(tool["name"]):
            yield f"tools.{number}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if tool.get("name") in ("web_search", "web_fetch") and "input_schema" not in tool:
            yield from _web_problems(tool, f"tools.{number}.{tool['type']}")
    names = [tool["name"] for tool in tools if "name" in tool]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    yield from _choice_problems(body, names, model)
    used = (block.get("type") for message in body["messages"] for block in blocks(message.get("content")))
    if not tools and any(kind in ("tool_use", "tool_result") for kind in used):
        yield "Requests which include `tool_use` or `tool_result` blocks must define tools"


def _web_problems(tool: Json, at: str) -> Iterator[str]:
    lists = [name for name in ("allowed_domains", "blocked_domains") if tool.get(name) is not None]
    if len(lists) > 1:
        yield f"{at}: Only one of `allowed_domains` or `blocked_domains` may be provided"
    for name in lists:
        if wrong := next((domain for domain in tool[name] if "://" in domain or not domain.strip()), None):
            yield f"{at}.{name}: Invalid domain '{wrong}': leave out the scheme"
    if (most := tool.get("max_uses")) is not None and most < 1:
        yield f"{at}.max_uses: Input should be greater than 0"


def _choice_problems(body: Json, names: Sequence[object], model: ServedModel) -> Iterator[str]:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not body.get("tools"):
        yield "tool_choice: tool_choice may only be specified while providing tools"
    if choice["type"] not in ("any", "tool"):
        return
    if not model.forced_tools:
        yield 'tool_choice: type "tool" and "any" are not supported for this model.'
    if choice["type"] == "tool" and choice["name"] not in names:
        yield f"tool_choice: Tool '{choice['name']}' not found in provided tools"
    if (body.get("thinking") or {}).get("type") in ("enabled", "adaptive"):
        yield "Thinking may not be enabled when tool_choice forces tool use."
