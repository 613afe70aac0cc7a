"""Prompt cache: breakpoints in a request, and digests to compare how two requests start.

https://platform.claude.com/docs/en/build-with-claude/prompt-caching
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.events import Block, Json, Message

CACHE_MARK: Block = {"type": "ephemeral"}
REACH = 15
"""Blocks between two breakpoints. The API looks for a cache entry up to 20 blocks before a breakpoint."""


def digest_of(blocks: Sequence[Json]) -> str:
    """16 hexadecimal digits of system blocks or tools, in their order, without cache breakpoints."""
    bare = [{name: value for name, value in block.items() if name != "cache_control"} for block in blocks]
    return hashlib.sha256(json.dumps(bare, separators=(",", ":")).encode()).hexdigest()[:16]


def without_breakpoints(value: Any) -> Any:
    """A copy of a request body, or a part of one, without any `cache_control`."""
    match value:
        case dict():
            return {key: without_breakpoints(inner) for key, inner in value.items() if key != "cache_control"}
        case list() | tuple():
            return [without_breakpoints(inner) for inner in value]
        case _:
            return value


def with_breakpoints(messages: Sequence[Message]) -> tuple[Message, ...]:
    """A copy to send, with a breakpoint on the last message and, after a long step, two more further back.

    The API looks only 20 blocks back from a breakpoint. When the newest step added more than that, one breakpoint goes
    `REACH` blocks back and one where the previous request ended. Existing breakpoints in the messages are removed,
    so a request has at most four, including the one of the system prompt. Idempotent.
    """
    places = [
        (number, index)
        for number, message in enumerate(messages)
        for index, block in enumerate(message.content)
        if _may_carry_a_mark(block)
    ]
    marked = _marks(messages, places)
    return tuple(
        _marked(message, {index for n, index in marked if n == number}) for number, message in enumerate(messages)
    )


def _may_carry_a_mark(block: Block) -> bool:
    match block.get("type"):
        case "thinking" | "redacted_thinking":
            return False
        case "text":
            return bool(str(block.get("text", "")).strip())
        case _:
            return True


def _marks(messages: Sequence[Message], places: list[tuple[int, int]]) -> set[tuple[int, int]]:
    if not places:
        return set()
    marks = {places[-1]}
    users = [number for number, message in enumerate(messages[:-1]) if message.role == "user"]
    earlier = [at for at, (number, _) in enumerate(places) if users and number <= users[-1]]
    if earlier and len(places) - 1 - earlier[-1] > REACH:
        marks |= {places[earlier[-1]], places[-1 - REACH]}
    return marks


def _marked(message: Message, indexes: set[int]) -> Message:
    if not indexes and not any("cache_control" in block for block in message.content):
        return message
    content = []
    for index, block in enumerate(message.content):
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        content.append({**bare, "cache_control": dict(CACHE_MARK)} if index in indexes else bare)
    return replace(message, content=tuple(content))
