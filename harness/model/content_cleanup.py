"""Repair of a single content block. A valid block is returned as the same object; blocks are never changed in place."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from harness.events import Block, Json
from harness.model.invariants import ASSISTANT_ONLY, MAX_DEPTH, THINKING, TOOL_NAME, USER_ONLY
from harness.model.media import MEDIA_TYPES, placeholder
from harness.model.notices import FAILED_WITHOUT_REASON

_SURROGATE = re.compile("[\ud800-\udfff]")
_TOO_DEEP = f"(nested more than {MAX_DEPTH} levels deep)"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A repaired block."""

    block: Block | None
    """None: drop it."""
    change: str = ""
    """Description of the change; empty: unchanged."""


def cleaned(block: Block, role: Literal["user", "assistant"]) -> Cleaned:
    """`block` as it is valid in a message of `role`. `repair` checks results against calls."""
    kind = block.get("type")
    if not isinstance(kind, str) or not kind:
        return Cleaned(None, "dropped a block without a type")
    if kind in MEDIA_TYPES and role == "assistant":
        return Cleaned(placeholder(sendable(block)), f"replaced a {kind} block of the assistant with text")
    if kind in (ASSISTANT_ONLY if role == "user" else USER_ONLY):
        return Cleaned(None, f"dropped a {kind} block, which is not allowed in a message of the {role}")
    sent = sendable(block)
    if kind in THINKING:
        return _thinking(block, intact=sent is block)
    result = _by_kind(kind, sent, role)
    if sent is not block and not result.change:
        return Cleaned(result.block, f"replaced values that are not valid JSON in a {kind} block")
    return result


def _by_kind(kind: str, block: Block, role: str) -> Cleaned:
    match kind:
        case "text":
            return _text(block, role)
        case "tool_use":
            return _call(block)
        case "tool_result":
            return _result(block)
    return Cleaned(block)


def _text(block: Block, role: str) -> Cleaned:
    text = block.get("text")
    if not isinstance(text, str) or not text.strip():
        return Cleaned(None, "dropped a blank text block")
    if role == "user" and block.get("citations"):
        return Cleaned(_without(block, "citations"), "removed citations from a text of the user")
    return Cleaned(block)


def _thinking(block: Block, *, intact: bool) -> Cleaned:
    key = "signature" if block["type"] == "thinking" else "data"
    whole = block["type"] != "thinking" or isinstance(block.get("thinking"), str)
    if not (intact and whole and isinstance(block.get(key), str) and block[key]):
        return Cleaned(None, "dropped thinking that is not signed")
    if "cache_control" in block:
        return Cleaned(_without(block, "cache_control"), "removed a cache breakpoint from thinking")
    return Cleaned(block)


def _call(block: Block) -> Cleaned:
    name, input = block.get("name"), block.get("input")
    changes = []
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:128] if isinstance(name, str) and name else "unknown_tool"
        changes.append(f"gave a tool call the valid name {name}")
    if not isinstance(input, dict):
        input = {} if input is None else {"value": input}
        changes.append("made the input of a tool call an object")
    if not changes:
        return Cleaned(block)
    return Cleaned({**block, "name": name, "input": input}, " and ".join(changes))


def _result(block: Block) -> Cleaned:
    content = block.get("content", "")
    fitting = _result_content(content, failed=bool(block.get("is_error")))
    if fitting is content:
        return Cleaned(block)
    return Cleaned({**block, "content": fitting}, "repaired the content of a tool result")


def _result_content(content: Any, *, failed: bool) -> str | list[Block]:
    """The content of a tool result; the same object if it is valid."""
    if isinstance(content, str):
        return FAILED_WITHOUT_REASON if failed and not content.strip() else content
    items = content if isinstance(content, list) else [] if content is None else [content]
    kept = [fitting for item in items if (fitting := _result_item(item, failed=failed)) is not None]
    if failed and not kept:
        return FAILED_WITHOUT_REASON
    same = isinstance(content, list) and len(kept) == len(content) and all(map(_is, kept, content))
    return content if same else kept


def _result_item(item: Any, *, failed: bool) -> Block | None:
    kind = item.get("type") if isinstance(item, dict) else None
    if not isinstance(kind, str) or not kind:
        words = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
        return {"type": "text", "text": words} if words.strip() else None
    block: Block = item
    if kind == "text":
        text = block.get("text")
        return block if isinstance(text, str) and text.strip() else None
    if failed and kind in MEDIA_TYPES:
        return placeholder(block)
    if failed:
        return {"type": "text", "text": json.dumps(block, ensure_ascii=False)}
    return block


def _without(block: Block, key: str) -> Block:
    return {name: value for name, value in block.items() if name != key}


def _is(one: object, other: object) -> bool:
    return one is other


def sendable(value: Json) -> Json:
    """`value` as valid JSON; the same object if it is valid already.

    Lone surrogates become "�" (pairs become their character), NaN and infinities their names, other Python types their
    text, and anything nested more than `MAX_DEPTH` levels a short note.
    """
    clean: Json = _sendable(value, MAX_DEPTH)
    return clean


def _sendable(value: Any, depth: int) -> Any:
    match value:
        case str():
            return whole_characters(value)
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case dict() | list() | tuple() if depth == 0:
            return _TOO_DEEP
        case dict():
            items = {_key(key): _sendable(inner, depth - 1) for key, inner in value.items()}
            same = (
                len(items) == len(value)
                and all(map(_is, items, value))
                and all(map(_is, items.values(), value.values()))
            )
            return value if same else items
        case list() | tuple():
            parts = [_sendable(inner, depth - 1) for inner in value]
            return value if isinstance(value, list) and all(map(_is, parts, value)) else parts
    return whole_characters(str(value))


def _key(key: Any) -> str:
    return whole_characters(key if isinstance(key, str) else str(key))


def whole_characters(text: str) -> str:
    """`text` with surrogate pairs joined to characters, and lone surrogates replaced by "�"."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
