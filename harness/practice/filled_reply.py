"""Scripted replies as templates over what the request really contains."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.events import Json
from harness.practice.replies import Part, ScriptedReply, TextPart, ToolUse
from harness.practice.requests import blocks, result_text

NOT_FOUND = "[{name}: not in the request]"


def filled(reply: ScriptedReply, body: Json) -> ScriptedReply:
    """The reply with the values of its `fills` in its texts and tool inputs; a value that is not there is named."""
    if not reply.fills:
        return reply
    texts = tuple(_texts(body))
    values = {f"{{{name}}}": _value(name, pattern, texts) for name, pattern in reply.fills}
    return replace(reply, parts=tuple(_part(part, values) for part in reply.parts), fills=())


def _texts(body: Json) -> Iterator[str]:
    """What the user and the tools said, newest first; then the system prompt."""
    for message in reversed(body.get("messages") or []):
        if isinstance(message, dict) and message.get("role") == "user":
            for block in reversed(blocks(message.get("content"))):
                yield result_text(block) if block.get("type") == "tool_result" else str(block.get("text", ""))
    for block in blocks(body.get("system")):
        yield str(block.get("text", ""))


def _value(name: str, pattern: str, texts: tuple[str, ...]) -> str:
    found = (match for text in texts if (match := re.search(pattern, text)) is not None)
    match = next(found, None)
    return NOT_FOUND.format(name=name) if match is None else match[1]


def _part(part: Part, values: dict[str, str]) -> Part:
    match part:
        case TextPart():
            return replace(part, text=_in(part.text, values))
        case ToolUse():
            return replace(part, input=_in(part.input, values))
        case _:
            return part


def _in(value: Any, values: dict[str, str]) -> Any:
    match value:
        case str():
            for name, found in values.items():
                value = value.replace(name, found)
            return value
        case list():
            return [_in(item, values) for item in value]
        case dict():
            return {name: _in(item, values) for name, item in value.items()}
        case _:
            return value
