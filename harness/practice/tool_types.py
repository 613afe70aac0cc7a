"""The tools that the API defines itself, by the `type` that a request names them with.

A client tool is run by the client, which gives only its type and name: the input schema is the API's. A server tool
is run by the API; the practice server has none of them, so it takes their definitions and reports each as unavailable
if it is forced to use one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.events import Json


@dataclass(frozen=True, slots=True)
class ToolType:
    """A tool that the API defines."""

    name: str | None
    """The only name it may have; None: its definition has none (a set of tools)."""
    schema: Json | None = None
    """The input of a client tool; None: the tool is not called by its own name."""
    result: str | None = None
    """The first part of the types of a server tool's results, such as "web_search_tool_result"; None: a client tool."""


def _object(required: tuple[str, ...], **fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": list(required)}


_TEXT: Json = {"type": "string"}
_LINE: Json = {"type": "integer", "minimum": 0}
_BASH = _object((), command=_TEXT, restart={"type": "boolean"})
_EDITOR = _object(
    ("command", "path"),
    command={"type": "string", "enum": ["view", "create", "str_replace", "insert"]},
    path=_TEXT,
    file_text=_TEXT,
    old_str=_TEXT,
    new_str=_TEXT,
    insert_line=_LINE,
    insert_text=_TEXT,
    view_range={"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
)
_MEMORY = _object(
    ("command", "path"),
    command={"type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"]},
    path={"type": "string", "default": "/memories"},
    file_text=_TEXT,
    old_str=_TEXT,
    new_str=_TEXT,
    insert_line=_LINE,
    insert_text=_TEXT,
    old_path=_TEXT,
    new_path=_TEXT,
)
_COMPUTER = _object(
    ("action",),
    action={"type": "string", "enum": ["screenshot", "left_click", "type", "key", "mouse_move", "scroll", "wait"]},
    coordinate={"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    text=_TEXT,
)
_SEARCH = _object(("query",), query=_TEXT)
_FETCH = _object(("url",), url={"type": "string", "format": "uri"})
_CODE = _object(("code",), code=_TEXT)

EDITOR_TOOLS = "text_editor_"
"""How the types of the text editor begin."""

TOOL_TYPES: Mapping[str, ToolType] = MappingProxyType(
    dict.fromkeys(("bash_20241022", "bash_20250124"), ToolType("bash", _BASH))
    | dict.fromkeys(("text_editor_20241022", "text_editor_20250124"), ToolType("str_replace_editor", _EDITOR))
    | dict.fromkeys(("text_editor_20250429", "text_editor_20250728"), ToolType("str_replace_based_edit_tool", _EDITOR))
    | dict.fromkeys(("computer_20241022", "computer_20250124", "computer_20251124"), ToolType("computer", _COMPUTER))
    | {"memory_20250818": ToolType("memory", _MEMORY)}
    | dict.fromkeys(
        ("web_search_20250305", "web_search_20260209", "web_search_20260318"),
        ToolType("web_search", _SEARCH, "web_search_tool_result"),
    )
    | dict.fromkeys(
        ("web_fetch_20250910", "web_fetch_20260209", "web_fetch_20260309", "web_fetch_20260318"),
        ToolType("web_fetch", _FETCH, "web_fetch_tool_result"),
    )
    | dict.fromkeys(
        ("code_execution_20250522", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521"),
        ToolType("code_execution", _CODE, "code_execution_tool_result"),
    )
    | dict.fromkeys(
        ("tool_search_tool_bm25", "tool_search_tool_bm25_20251119"),
        ToolType("tool_search_tool_bm25", _SEARCH, "tool_search_tool_result"),
    )
    | dict.fromkeys(
        ("tool_search_tool_regex", "tool_search_tool_regex_20251119"),
        ToolType("tool_search_tool_regex", _SEARCH, "tool_search_tool_result"),
    )
    | {"advisor_20260301": ToolType("advisor", _object(()), "advisor_tool_result")}
    | dict.fromkeys(("browser_toolset_20260801", "computer_toolset_20260801", "mcp_toolset"), ToolType(None))
)
"""By type. The sets of tools (`…_toolset`) contain tools with names of their own."""


def input_schema(tool: Json) -> Json | None:
    """The schema of a tool's input, its own or that of its type; None: it cannot be called."""
    if (known := TOOL_TYPES.get(str(tool.get("type")))) is not None:
        return known.schema
    schema = tool.get("input_schema")
    return schema if isinstance(schema, dict) else None


def server_result(tool: Json) -> str | None:
    """The type of the results of a server tool; None for a tool that the client runs."""
    known = TOOL_TYPES.get(str(tool.get("type")))
    return None if known is None else known.result
