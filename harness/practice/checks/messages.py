"""The problems with the messages of a request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.events import Block, Json
from harness.model.catalogue import known_card
from harness.practice.checks.media import document_problems, image_problems
from harness.practice.checks.rules import ServedModel
from harness.practice.requests import blocks
from harness.practice.web import seal_problems
from harness.practice.wire.prepared_reply import signature_problem

_FIELDS = {
    "text": {"text", "citations"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "tool_use": {"id", "name", "input", "caller", "toolset_name"},
    "tool_result": {"tool_use_id", "content", "is_error", "toolset_name"},
    "image": {"source"},
}
"""Fields of the blocks that a client writes itself, besides type and cache_control."""
_ONLY_ASSISTANT = ("tool_use", "thinking", "redacted_thinking")
_ONLY_USER = ("tool_result", "image", "document")
_OF_SYSTEM_MESSAGES = ("clear_at", "output_config")
"""Fields that only a system message has."""
_TOOL_CHANGES = ("tool_addition", "tool_removal")
_TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")


@dataclass(frozen=True, slots=True)
class _Merged:
    """Neighbours of one role, which the API reads as one message."""

    number: int
    role: str
    content: list[Block]

    def of_type(self, type_: str) -> list[Block]:
        return [block for block in self.content if block.get("type") == type_]


def message_problems(body: Json, model: ServedModel, *, bound: bool) -> Iterator[str]:
    """The problems with the messages of a body, in the order of the API.

    `bound`: a thinking block is valid only while everything before it is unchanged.
    """
    messages = body["messages"]
    if not messages:
        yield "messages: at least one message is required"
        return
    yield from _message_shape_problems(messages, model)
    for number, message in enumerate(messages):
        for index, block in enumerate(blocks(message.get("content"))):
            yield from _block_problems(block, message["role"], f"messages.{number}.content.{index}")
    yield from _system_place_problems(messages)
    merged = _merged(messages)
    yield from _pairing_problems(merged)
    yield from _server_tool_problems(merged)
    yield from _thinking_problems(body, bound=bound)
    yield from image_problems(messages)
    yield from document_problems(messages, known_card(str(body.get("model"))).window)
    if merged and messages[-1]["role"] != "system":
        yield from _last_message_problems(merged[-1], model)


def _message_shape_problems(messages: Sequence[Any], model: ServedModel) -> Iterator[str]:
    for number, message in enumerate(messages):
        if not isinstance(message, dict):
            yield f"messages.{number}: Input should be an object"
            return
        is_system = message.get("role") == "system"
        for name in message:
            if name not in ("role", "content") and not (is_system and name in _OF_SYSTEM_MESSAGES):
                yield f"messages.{number}.{name}: Extra inputs are not permitted"
        if is_system and not model.system_messages:
            yield "role 'system' is not supported on this model"
        if message.get("role") not in ("user", "assistant", "system"):
            yield f"messages.{number}.role: Input should be 'user' or 'assistant'"
        content = message.get("content")
        if is_system and not content and message.get("output_config"):
            continue
        if not isinstance(content, str | list):
            yield f"messages.{number}.content: Field required"
        elif not content and not (number == len(messages) - 1 and message["role"] == "assistant"):
            yield (
                f"messages.{number}: all messages must have non-empty content except for the optional final "
                "assistant message"
            )
        elif isinstance(content, list) and not all(isinstance(block, dict) for block in content):
            yield f"messages.{number}.content: Input should be a valid list of blocks"
    if messages[0]["role"] == "system" and messages[0].get("content"):
        yield (
            "messages.0: use the top-level 'system' parameter for the initial system prompt; the directive-only form "
            "(content: [] with output_config) is accepted at any position"
        )
    if messages[0]["role"] == "assistant":
        yield 'messages: first message must use the "user" role'


def _system_place_problems(messages: Sequence[Json]) -> Iterator[str]:
    """A system message comes between a user message and its answer."""
    for number, message in enumerate(messages):
        if message["role"] != "system" or not message.get("content"):
            continue
        before = next((earlier for earlier in reversed(messages[:number]) if earlier["role"] != "system"), None)
        after = next((later for later in messages[number + 1 :] if later["role"] != "system"), None)
        if before is not None and before["role"] == "assistant" and not _ends_in_server_tool(before):
            yield (
                f"messages.{number}: a `system` message must follow a `user` message, or an `assistant` message that "
                "ends in server tool use"
            )
        if after is not None and after["role"] != "assistant":
            yield f"messages.{number}: a `system` message must be the last, or be followed by an `assistant` message"


def _ends_in_server_tool(message: Json) -> bool:
    content = blocks(message.get("content"))
    return bool(content) and str(content[-1].get("type")).endswith(("server_tool_use", "_tool_result"))


def _block_problems(block: Block, role: str, place: str) -> Iterator[str]:
    type_ = block.get("type")
    if not isinstance(type_, str):
        yield f"{place}.type: Field required"
        return
    if role == "system":
        yield from _system_block_problems(block, place)
        return
    if role == "user" and (type_ in _ONLY_ASSISTANT or (type_ not in _FIELDS and type_ not in _ONLY_USER)):
        yield f"{place}: `{type_}` blocks are not permitted in `user` messages"
    if role == "assistant" and type_ in _ONLY_USER:
        yield f"{place}: `{type_}` blocks are not permitted in `assistant` messages"
    if type_ in _FIELDS:
        for name in block:
            marked = name == "cache_control" and type_ not in ("thinking", "redacted_thinking")
            if name not in _FIELDS[type_] and name != "type" and not marked:
                yield f"{place}.{type_}.{name}: Extra inputs are not permitted"
    match type_:
        case "text":
            yield from _text_problems(block, place)
            if role == "user" and block.get("citations"):
                yield f"{place}.text.citations: citations are not permitted in `user` messages"
        case "tool_use":
            yield from _tool_use_problems(block, place)
        case "server_tool_use" if not isinstance(block.get("input"), dict):
            yield f"{place}.server_tool_use.input: Input should be a valid dictionary"
        case "tool_result":
            yield from _tool_result_problems(block, place)
        case "thinking" if not isinstance(block.get("thinking"), str):
            yield f"{place}.thinking.thinking: Field required"


def _system_block_problems(block: Block, place: str) -> Iterator[str]:
    if block["type"] == "text":
        yield from _text_problems(block, place)
    elif block["type"] not in _TOOL_CHANGES:
        yield f"{place}: `{block['type']}` blocks are not permitted in `system` messages"


def _text_problems(block: Block, place: str) -> Iterator[str]:
    text = block.get("text")
    if not isinstance(text, str):
        yield f"{place}.text.text: Input should be a valid string"
    elif not text:
        yield "messages: text content blocks must be non-empty"
    elif not text.strip():
        yield "messages: text content blocks must contain non-whitespace text"


def _tool_use_problems(block: Block, place: str) -> Iterator[str]:
    if not isinstance(block.get("id"), str) or not _TOOL_ID.fullmatch(block["id"]):
        yield f"{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    if not isinstance(block.get("name"), str) or not block["name"]:
        yield f"{place}.tool_use.name: String should have at least 1 character"
    if not isinstance(block.get("input"), dict):
        yield f"{place}.tool_use.input: Input should be a valid dictionary"


def _tool_result_problems(block: Block, place: str) -> Iterator[str]:
    if not isinstance(block.get("tool_use_id"), str):
        yield f"{place}.tool_result.tool_use_id: Field required"
    content = block.get("content", "")
    if not isinstance(content, str | list):
        yield f"{place}.tool_result.content: Input should be a valid string or array"
    elif isinstance(content, list):
        for index, part in enumerate(content):
            if not isinstance(part, dict) or not isinstance(part.get("type"), str):
                yield f"{place}.tool_result.content.{index}.type: Field required"
            elif part["type"] == "text":
                yield from _text_problems(part, f"{place}.tool_result.content.{index}")
    if not isinstance(block.get("is_error", False), bool):
        yield f"{place}.tool_result.is_error: Input should be a valid boolean"


def _merged(messages: Sequence[Json]) -> list[_Merged]:
    """The conversation without its system messages, which are checked apart."""
    merged: list[_Merged] = []
    for number, message in enumerate(messages):
        if message["role"] == "system":
            continue
        if merged and merged[-1].role == message["role"]:
            merged[-1].content.extend(blocks(message["content"]))
        else:
            merged.append(_Merged(number, message["role"], blocks(message["content"])))
    return merged


def _pairing_problems(merged: Sequence[_Merged]) -> Iterator[str]:
    seen: set[str] = set()
    for position, message in enumerate(merged):
        uses = [block["id"] for block in message.of_type("tool_use")]
        for id in uses:
            if id in seen:
                yield f"messages.{message.number}: `tool_use` ids must be unique. Found `{id}` again."
            seen.add(id)
        following = merged[position + 1] if position + 1 < len(merged) else None
        if uses:
            yield from _missing_results(message, uses, following)
        before = merged[position - 1].of_type("tool_use") if position else []
        yield from _stray_results(message, {block["id"] for block in before})


def _missing_results(message: _Merged, uses: Sequence[str], following: _Merged | None) -> Iterator[str]:
    leading = []
    for block in following.content if following else ():
        if block.get("type") != "tool_result":
            break
        leading.append(block["tool_use_id"])
    if missing := [id for id in uses if id not in leading]:
        yield (
            f"messages.{message.number}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )


def _stray_results(message: _Merged, asked: set[str]) -> Iterator[str]:
    answered: set[str] = set()
    for index, block in enumerate(message.content):
        if block.get("type") != "tool_result":
            continue
        id = block["tool_use_id"]
        if id not in asked:
            yield (
                f"messages.{message.number}.content.{index}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if id in answered:
            yield (
                f"messages.{message.number}.content.{index}: each tool_use must have a single result. Found multiple "
                f"`tool_result` blocks with id: {id}"
            )
        answered.add(id)


def _server_tool_problems(merged: Sequence[_Merged]) -> Iterator[str]:
    """A result follows its call: in the same message, or in the next with only tool results in between. The last
    message may lack it, because the server continues it."""
    waiting: dict[str, str] = {}
    for position, message in enumerate(merged):
        if message.role == "user":
            if waiting and any(block.get("type") != "tool_result" for block in message.content):
                yield _without_result(merged[position - 1].number, waiting)
            continue
        if any(block.get("type") == "web_search_tool_result" or block.get("citations") for block in message.content):
            yield from seal_problems(message.content, f"messages.{message.number}.content")
        before, waiting = waiting, {}
        for block in message.content:
            kind = str(block.get("type"))
            if kind == "server_tool_use":
                waiting[str(block.get("id"))] = str(block.get("name"))
            elif kind.endswith("_tool_result"):
                id = str(block.get("tool_use_id"))
                if waiting.pop(id, None) is None and before.pop(id, None) is None:
                    yield (
                        f"messages.{message.number}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. Each "
                        f"`{kind}` block must have a corresponding `server_tool_use` block before it."
                    )
        if before:
            yield _without_result(message.number, before)


def _without_result(number: int, waiting: Mapping[str, str]) -> str:
    id, name = next(iter(waiting.items()))
    return (
        f"messages.{number}: `{name}` tool use with id `{id}` was found without a corresponding "
        f"`{name}_tool_result` block"
    )


def _thinking_problems(body: Json, *, bound: bool) -> Iterator[str]:
    for number, message in enumerate(body["messages"]):
        content = blocks(message.get("content"))
        for index, block in enumerate(content):
            if block.get("type") != "thinking":
                continue
            problem = signature_problem(block, body, number, bound=bound)
            if problem is not None:
                yield f"messages.{number}.content.{index}: {problem}"
        if content and content[-1].get("type") in ("thinking", "redacted_thinking"):
            yield f"messages.{number}: The final block in an assistant message cannot be `{content[-1]['type']}`."


def _last_message_problems(last: _Merged, model: ServedModel) -> Iterator[str]:
    if last.role != "assistant" or last.of_type("server_tool_use"):
        return
    if not model.prefill:
        yield ("This model does not support assistant message prefill. The conversation must end with a user message.")
    text = last.content[-1].get("text", "") if last.content else ""
    if text != text.rstrip():
        yield "messages: final assistant content cannot end with trailing whitespace"
