"""The tools that the API defines itself, by the `type` in a request.

A client tool is run by the client, which gives only its type and name: the input schema is the API's. A server tool is
run by the API; the practice server has none of them but web search and fetch, so it takes their definitions and reports
each as unavailable if it is forced to use one.
"""

import re
from collections.abc import Mapping

from harness.events import Json


def _object(required: tuple[str, ...], **fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": list(required)}


def _one_of(*words: str) -> Json:
    return {"type": "string", "enum": list(words)}


_TEXT: Json = {"type": "string"}
_LINE: Json = {"type": "integer", "minimum": 0}
_PAIR: Json = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
_EDITS: Mapping[str, Json] = dict.fromkeys(("file_text", "old_str", "new_str", "insert_text"), _TEXT) | {
    "insert_line": _LINE
}
_SEARCH = _object(("query",), query=_TEXT)
_CLIENT_TOOLS: Mapping[str, Json] = {
    "bash": _object((), command=_TEXT, restart={"type": "boolean"}),
    "text_editor": _object(
        ("command", "path"),
        command=_one_of("view", "create", "str_replace", "insert"),
        path=_TEXT,
        view_range=_PAIR,
        **_EDITS,
    ),
    "memory": _object(
        ("command", "path"),
        command=_one_of("view", "create", "str_replace", "insert", "delete", "rename"),
        path=_TEXT | {"default": "/memories"},
        old_path=_TEXT,
        new_path=_TEXT,
        **_EDITS,
    ),
    "computer": _object(
        ("action",),
        action=_one_of("screenshot", "left_click", "type", "key", "mouse_move", "scroll", "wait"),
        coordinate=_PAIR,
        text=_TEXT,
    ),
}
_SERVER_TOOLS: Mapping[str, tuple[str, Json]] = {
    "web_search": ("web_search", _SEARCH),
    "web_fetch": ("web_fetch", _object(("url",), url={"type": "string", "format": "uri"})),
    "code_execution": ("code_execution", _object(("code",), code=_TEXT)),
    "tool_search_tool_bm25": ("tool_search", _SEARCH),
    "tool_search_tool_regex": ("tool_search", _SEARCH),
    "advisor": ("advisor", _object(())),
}
"""The beginning of the type of the results, and the input."""


def family(tool: Json) -> str:
    """The type of a tool without its date; empty for a tool of the client."""
    return re.sub(r"_\d{8}$", "", str(tool.get("type") or "")).removesuffix("custom")


def input_schema(tool: Json) -> Json | None:
    """The schema of a tool's input, its own or that of its type; None: it cannot be called, as a set of tools."""
    kind = family(tool)
    if kind in _SERVER_TOOLS:
        return _SERVER_TOOLS[kind][1]
    schema = _CLIENT_TOOLS.get(kind) or (None if kind.endswith("_toolset") else tool.get("input_schema"))
    return schema if isinstance(schema, dict) else None


def server_result(tool: Json) -> str | None:
    """The type of the results of a server tool; None for a tool that the client runs."""
    kind = family(tool)
    return f"{_SERVER_TOOLS[kind][0]}_tool_result" if kind in _SERVER_TOOLS else None
