"""A request as the model behind reads it, and its tool calls as the client knows them.

- Messages of the role "system" are instructions of the program, never an order of the user: they are left out.
- Tools that the API defines (`bash_20250124`, …) get the schema of their input. The text editor, one tool with
  commands, is read as one tool for each of them.
- Web search and fetch are read like tools of the client, and so are their results. Other server tools are left out,
  and so is every tool that `tool_choice` rules out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from harness.events import Block, Json
from harness.practice.replies import Part, ScriptedReply, ToolUse
from harness.practice.requests import blocks
from harness.practice.sse import compact
from harness.practice.tool_types import EDITOR_TOOLS, input_schema, server_result
from harness.practice.web import as_client_tools

_SERVED = ("web_search_tool_result", "web_fetch_tool_result")


@dataclass(frozen=True, slots=True)
class _Command:
    """A command of the text editor, as a tool."""

    command: str
    fields: tuple[str, ...]

    @property
    def schema(self) -> Json:
        text = {"type": "string"}
        return {"type": "object", "properties": dict.fromkeys(self.fields, text), "required": list(self.fields)}


_COMMANDS: Mapping[str, _Command] = MappingProxyType(
    {
        "view_file": _Command("view", ("path",)),
        "create_file": _Command("create", ("path", "file_text")),
        "str_replace": _Command("str_replace", ("path", "old_str", "new_str")),
    }
)
"""By the name of the tool that replaces it."""


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What the model behind is given."""

    body: Json
    editor: str | None = None
    """The name of the text editor, whose commands are tools of their own here."""
    commands: frozenset[str] = field(default_factory=frozenset)

    def restored(self, reply: ScriptedReply) -> ScriptedReply:
        """The reply with the calls as the client knows them."""
        return replace(reply, parts=tuple(map(self._restored, reply.parts))) if self.editor else reply

    def _restored(self, part: Part) -> Part:
        if not isinstance(part, ToolUse) or part.name not in self.commands or self.editor is None:
            return part
        command = {"command": _COMMANDS[part.name].command}
        raw = part.raw_input
        if raw is not None:
            raw = f"{compact(command)[:-1]},{raw.removeprefix('{').lstrip()}"
        return replace(part, name=self.editor, input=command | part.input, raw_input=raw)


def view_of(body: Json) -> ModelInput:
    """The request as the model behind reads it."""
    choice = _choice(body)
    tools = [tool for tool in body.get("tools") or () if isinstance(tool, dict)]
    offered = [tool for tool in tools if input_schema(tool) is not None and server_result(tool) in (None, *_SERVED)]
    if choice.get("type") == "none":
        offered = []
    elif choice.get("type") == "tool":
        offered = [tool for tool in offered if tool.get("name") == choice.get("name")]
    editor = next((str(tool["name"]) for tool in offered if _is_editor(tool)), None)
    taken = {tool.get("name") for tool in offered}
    commands = frozenset(name for name in _COMMANDS if name not in taken) if editor is not None else frozenset()
    shown = body | {
        "messages": [
            _read(part, editor, commands)
            for message in body.get("messages") or ()
            if not (isinstance(message, dict) and message.get("role") == "system")
            for part in _parts(message)
        ],
        "tools": list(_known(offered, commands)),
    }
    return ModelInput(shown, editor, commands)


def _parts(message: Any) -> Iterable[Any]:
    """A message; one with results of server tools becomes several."""
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return (message,)
    served = any(block.get("type") == "server_tool_use" for block in blocks(message.get("content")))
    return as_client_tools(message) if served else (message,)


def _choice(body: Json) -> Json:
    choice = body.get("tool_choice")
    return choice if isinstance(choice, dict) else {}


def _is_editor(tool: Json) -> bool:
    return str(tool.get("type")).startswith(EDITOR_TOOLS)


def _known(tools: Iterable[Json], commands: frozenset[str]) -> Iterable[Json]:
    for tool in tools:
        if _is_editor(tool):
            yield from (
                {"name": name, "input_schema": _COMMANDS[name].schema} for name in _COMMANDS if name in commands
            )
        elif "input_schema" not in tool:
            yield {"name": tool.get("name"), "input_schema": input_schema(tool)}
        else:
            yield tool


def _read(message: Json, editor: str | None, commands: frozenset[str]) -> Json:
    if editor is None or not isinstance(message, dict) or message.get("role") != "assistant":
        return message
    return message | {"content": [_call(block, editor, commands) for block in blocks(message.get("content"))]}


def _call(block: Block, editor: str, commands: frozenset[str]) -> Block:
    given = block.get("input")
    if block.get("type") != "tool_use" or block.get("name") != editor or not isinstance(given, dict):
        return block
    for name in commands:
        if given.get("command") == _COMMANDS[name].command:
            return block | {"name": name, "input": {key: value for key, value in given.items() if key != "command"}}
    return block
