"""Conditions that the API imposes on a history (docs/design/model-calls.md#history).

Shares no code with the repair, so that one cannot hide a mistake of the other.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from harness.events import Block, Message
from harness.model.media import image_size, images, nested

MAX_DEPTH = 100
"""Levels of nesting in one block, below the limits of the SDK, pydantic and the JSON encoder."""
MAX_IMAGES = 20
"""Above this number, each image must be at most `MANY_IMAGES_EDGE` pixels wide and high."""
MANY_IMAGES_EDGE = 2_000
MAX_EDGE = 8_000
MAX_IMAGE_CHARACTERS = 10 * 1024 * 1024
"""Base64 characters of one image."""
MAX_BREAKPOINTS = 4

IDENTIFIER = re.compile(r"[a-zA-Z0-9_-]+")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")

THINKING = frozenset({"thinking", "redacted_thinking"})
SERVER_USES = frozenset({"server_tool_use", "mcp_tool_use"})
USER_ONLY = frozenset({"tool_result", "image", "document"})
ASSISTANT_ONLY = frozenset({"tool_use"}) | THINKING | SERVER_USES


def is_server_result(block: Block) -> bool:
    """Whether a block is the result of a server tool."""
    kind = str(block.get("type"))
    return kind.endswith("_tool_result")


def paused(message: Message) -> bool:
    """Whether the server paused its tools in this message (`pause_turn`); it may be the last one."""
    last = message.content[-1] if message.content and message.role == "assistant" else {}
    return last.get("type") in SERVER_USES or is_server_result(last)


def violations(messages: Sequence[Message]) -> tuple[str, ...]:
    """Everything in `messages` that the API would reject, one line each; messages are counted from 1.

    The size of the body is not checked: a request that is too large is compacted, not repaired.
    """
    if not messages:
        return ("there is no message",)
    found = [*_ends(messages), *_calls(messages), *_server_calls(messages), *_limits(messages)]
    for number, message in enumerate(messages, 1):
        found.extend(f"message {number}: {wrong}" for wrong in _content(message))
    return tuple(found)


def _ends(messages: Sequence[Message]) -> Iterator[str]:
    if messages[0].role != "user":
        yield "the first message is not from the user"
    if messages[-1].role != "user" and not paused(messages[-1]):
        yield "the last message is not from the user"
    for number, (one, other) in enumerate(pairwise(messages), 2):
        if one.role == other.role:
            yield f"message {number}: a second {other.role} message in a row"


def _content(message: Message) -> Iterator[str]:
    if not message.content:
        yield "it is empty"
    for block in message.content:
        yield from _block(block, message.role)
    if message.content and message.role == "assistant" and message.content[-1].get("type") in THINKING:
        yield "it ends with thinking"


def _block(block: Block, role: str) -> Iterator[str]:
    kind = block.get("type")
    if not isinstance(kind, str) or not kind:
        yield "a block has no type"
        return
    if kind in (ASSISTANT_ONLY if role == "user" else USER_ONLY):
        yield f"a {kind} block is not allowed in a message of the {role}"
    if wrong := _unsendable(block):
        yield f"a {kind} block {wrong}"
        return
    match kind:
        case "text":
            if _blank(block):
                yield "a text block is blank"
            if role == "user" and block.get("citations"):
                yield "a text block of the user has citations"
        case "thinking":
            if not (isinstance(block.get("thinking"), str) and _filled(block.get("signature"))):
                yield "a thinking block is not signed"
        case "redacted_thinking":
            if not _filled(block.get("data")):
                yield "a redacted_thinking block is empty"
        case "tool_use":
            if not TOOL_NAME.fullmatch(str(block.get("name", ""))):
                yield "a tool call has an invalid name"
            if not isinstance(block.get("input"), dict):
                yield "the input of a tool call is not an object"
        case "tool_result":
            yield from _result(block)
    if kind in THINKING and "cache_control" in block:
        yield "a thinking block has a breakpoint"


def _result(block: Block) -> Iterator[str]:
    content = block.get("content", "")
    if isinstance(content, list):
        if any(not isinstance(inner, dict) or not _filled(inner.get("type")) for inner in content):
            yield "a tool result contains something that is not a block"
            return
        if any(inner["type"] == "text" and _blank(inner) for inner in content):
            yield "a tool result contains a blank text block"
        if block.get("is_error") and any(inner["type"] != "text" for inner in content):
            yield "an error result contains more than text"
    elif not isinstance(content, str):
        yield "the content of a tool result is neither text nor blocks"
    if block.get("is_error") and not (content.strip() if isinstance(content, str) else content):
        yield "an error result is empty"


def _blank(block: Block) -> bool:
    text = block.get("text")
    return not isinstance(text, str) or not text.strip()


def _filled(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _unsendable(block: Block) -> str | None:
    if all(isinstance(name, str) and name.isascii() and _is_ascii(value) for name, value in block.items()):
        return None
    if _depth_exceeds(block, MAX_DEPTH):
        return f"is nested more than {MAX_DEPTH} levels deep"
    try:
        json.dumps(block, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "contains a lone surrogate"
    except (ValueError, TypeError):
        return "contains values that are not valid JSON"
    return None


def _is_ascii(value: object) -> bool:
    """Whether a value is ASCII text or an object of such texts, like the source of an image with its megabytes."""
    if isinstance(value, dict):
        return all(isinstance(text, str) and text.isascii() for item in value.items() for text in item)
    return isinstance(value, str) and value.isascii()


def _depth_exceeds(value: object, limit: int) -> bool:
    level = [value]
    for _ in range(limit + 1):
        containers = [item for item in level if isinstance(item, (dict, list, tuple))]
        if not containers:
            return False
        level = [inner for item in containers for inner in (item.values() if isinstance(item, dict) else item)]
    return True


def _id(block: Block, key: str) -> str:
    value = block.get(key)
    return value if isinstance(value, str) else f"<{value!r}>"


def _calls(messages: Sequence[Message]) -> Iterator[str]:
    """Each call has a unique id and one result, at the start of the next message."""
    seen: set[str] = set()
    asked: list[str] = []
    for number, message in enumerate(messages, 1):
        results = [block.get("type") == "tool_result" for block in message.content]
        answered = Counter(_id(block, "tool_use_id") for block in message.content if block.get("type") == "tool_result")
        for id in asked:
            if answered.pop(id, 0) != 1:
                yield f"message {number}: the call {id} does not have exactly one result"
        for id in answered:
            yield f"message {number}: the result {id} has no call in the previous message"
        if results != sorted(results, reverse=True):
            yield f"message {number}: a tool result follows other content"
        asked = [_id(block, "id") for block in message.content if block.get("type") == "tool_use"]
        for id in asked:
            if not IDENTIFIER.fullmatch(id):
                yield f"message {number}: the id {id} of a tool call is invalid"
            if id in seen:
                yield f"message {number}: the id {id} was used before"
            seen.add(id)
    for id in asked:
        yield f"the call {id} has no result"


def _server_calls(messages: Sequence[Message]) -> Iterator[str]:
    """The result of a server tool follows its call in the same message, or in the assistant's next one if only tool
    results are between. At the end of the history it may be missing."""
    waiting: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages, 1):
        if message.role == "user":
            if waiting and any(block.get("type") != "tool_result" for block in message.content):
                yield f"message {number}: more than tool results while a server tool is running"
            continue
        before, waiting = waiting, []
        for block in message.content:
            kind = str(block.get("type"))
            if kind in SERVER_USES:
                id = _id(block, "id")
                if not _filled(block.get("id")) or id in seen:
                    yield f"message {number}: a server tool call has no unique id"
                seen.add(id)
                waiting.append(id)
            elif is_server_result(block):
                id = _id(block, "tool_use_id")
                calls = next((calls for calls in (waiting, before) if id in calls), None)
                if calls is None:
                    yield f"message {number}: the server tool result {id} has no call"
                else:
                    calls.remove(id)
        if before:
            yield f"message {number}: a server tool call of the previous message has no result"
    if waiting and messages[-1].role != "user" and not paused(messages[-1]):
        yield "a server tool call at the end has no result"


def _limits(messages: Sequence[Message]) -> Iterator[str]:
    blocks = [block for message in messages for block in message.content]
    breakpoints = sum("cache_control" in inner for block in blocks for inner in (block, *nested(block)))
    if breakpoints > MAX_BREAKPOINTS:
        yield f"{breakpoints} cache breakpoints, {MAX_BREAKPOINTS} are allowed"
    pictures = [image for block in blocks for image in images(block)]
    for image in pictures:
        size = image_size(image)
        if size and max(size.width, size.height) > MAX_EDGE:
            yield f"an image is {size.width} × {size.height} pixels large"
        source = image.get("source")
        data = source.get("data") if isinstance(source, dict) else None
        if isinstance(data, str) and len(data) > MAX_IMAGE_CHARACTERS:
            yield f"an image has {len(data)} characters of base64"
    if len(pictures) > MAX_IMAGES:
        for image in pictures:
            size = image_size(image)
            if size is None or max(size.width, size.height) > MANY_IMAGES_EDGE:
                yield f"{len(pictures)} images, and one is or may be wider or higher than {MANY_IMAGES_EDGE} pixels"
                return
