"""What the API refuses in images and documents: their sizes, and how many there are."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.events import Block, Json
from harness.media.formats import HEAD_BYTES, is_encrypted, media_type, pdf_pages
from harness.model.catalogue import known_card
from harness.practice.prepared_reply import signature_problem
from harness.practice.requests import blocks
from harness.practice.server_rules import ServedModel
from harness.practice.web import seal_problems

MAX_BYTES = 10 * 1024 * 1024
MAX_PIXELS = 8000
"""Of either side."""
MANY = 20
MANY_MAX_PIXELS = 2000
"""Of either side, when there are more than `MANY` images."""
MAX_PAGES = 100
"""Of all PDF files in a request to a model with a window of 200,000 tokens."""
MAX_PAGES_OF_LARGE = 600
"""To one with a larger window."""
_MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def image_problems(messages: Sequence[Json]) -> Iterator[str]:
    """The problems with the images of a request."""
    images = list(_images(messages))
    allowed = MANY_MAX_PIXELS if len(images) > MANY else MAX_PIXELS
    for place, image in images:
        source = image.get("source")
        if not isinstance(source, dict) or source.get("type") not in ("base64", "url", "file"):
            yield f"{place}.image.source: Input should be an object of type 'base64', 'url' or 'file'"
        elif source["type"] == "base64":
            yield from _base64_problems(source, f"{place}.image.source", allowed)


def document_problems(messages: Sequence[Json], window: int) -> Iterator[str]:
    """The problems with the documents of a request; `window` in tokens."""
    allowed = MAX_PAGES_OF_LARGE if window > 200_000 else MAX_PAGES
    pages = 0
    for place, document in _blocks_of(messages, "document"):
        source = document.get("source")
        if not isinstance(source, dict) or source.get("type") not in ("base64", "text", "content", "url", "file"):
            yield f"{place}.document.source: Input should be an object of type 'base64', 'text', 'url' or 'file'"
        elif source["type"] == "base64":
            if source.get("media_type") != "application/pdf":
                yield f"{place}.document.source.base64.media_type: Input should be 'application/pdf'"
                continue
            try:
                data = base64.b64decode(str(source.get("data") or ""), validate=True)
            except binascii.Error:
                yield f"{place}.document.source.base64.data: Invalid base64 data"
                continue
            if not data.startswith(b"%PDF-"):
                yield f"{place}.pdf.source.base64.data: The PDF specified was not valid."
            elif is_encrypted(data):
                yield f"{place}.pdf.source.base64.data: The PDF specified is password protected."
            pages += pdf_pages(data) or 1
            if pages > allowed:
                yield f"{place}.pdf.source.base64.data: A maximum of {allowed} PDF pages may be provided."


def _images(messages: Sequence[Json]) -> Iterator[tuple[str, Block]]:
    return _blocks_of(messages, "image")


def _blocks_of(messages: Sequence[Json], kind: str) -> Iterator[tuple[str, Block]]:
    for number, message in enumerate(messages):
        for index, block in enumerate(blocks(message.get("content"))):
            place = f"messages.{number}.content.{index}"
            if block.get("type") == kind:
                yield place, block
            elif block.get("type") == "tool_result":
                for inner, part in enumerate(blocks(block.get("content"))):
                    if part.get("type") == kind:
                        yield f"{place}.tool_result.content.{inner}", part


def _base64_problems(source: Json, place: str, allowed: int) -> Iterator[str]:
    if source.get("media_type") not in _MEDIA_TYPES:
        known = ", ".join(f"'{type_}'" for type_ in _MEDIA_TYPES)
        yield f"{place}.base64.media_type: Input should be one of {known}"
        return
    data = source.get("data")
    if not isinstance(data, str) or not data:
        yield f"{place}.base64.data: Field required"
        return
    if len(data) > MAX_BYTES:
        yield f"{place}.base64: image exceeds 10 MB maximum: {len(data)} bytes > {MAX_BYTES} bytes"
    try:
        image = base64.b64decode(data, validate=True)
    except binascii.Error:
        yield f"{place}.base64.data: Invalid base64 data"
        return
    kind = media_type(image[:HEAD_BYTES])
    if kind is None:
        yield f"{place}: Could not process image"
    elif kind != source["media_type"]:
        yield (f"{place}.base64: Image does not match the provided media type {source['media_type']}")
    if max(pixels(image), default=0) > allowed:
        many = " for many-image requests" if allowed == MANY_MAX_PIXELS else ""
        yield f"{place}: At least one of the image dimensions exceed max allowed size{many}: {allowed} pixels"


def pixels(image: bytes) -> tuple[int, ...]:
    """Width and height of a PNG, GIF or JPEG; empty where they are unknown."""
    if image.startswith(b"\x89PNG\r\n\x1a\n") and len(image) >= 24:
        return int.from_bytes(image[16:20], "big"), int.from_bytes(image[20:24], "big")
    if image.startswith(b"GIF8") and len(image) >= 10:
        return int.from_bytes(image[6:8], "little"), int.from_bytes(image[8:10], "little")
    if image.startswith(b"\xff\xd8"):
        return _jpeg_pixels(image)
    return ()


def _jpeg_pixels(image: bytes) -> tuple[int, ...]:
    at = 2
    while at + 9 <= len(image) and image[at] == 0xFF:
        marker, length = image[at + 1], int.from_bytes(image[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(image[at + 7 : at + 9], "big"), int.from_bytes(image[at + 5 : at + 7], "big")
        at += 2 + length
    return ()


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
