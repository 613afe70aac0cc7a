"""What a request asks for: its last words and its purpose."""

from enum import StrEnum
from typing import Any

from harness.events import Block, Json, Message
from harness.practice.user_text import UserText, kind_of, without_reminders


class Purpose(StrEnum):
    """Why a request was made."""

    TURN = "turn"
    """Somebody waits for the next words of the conversation."""
    SUMMARY = "summary"
    """The client compacts its history and wants the conversation summarised."""


def purpose(body: Json) -> Purpose:
    """Why a request was made, by the last text block in it, as the improviser understands it."""
    texts = [block.get("text", "") for block in last_blocks(body) if block.get("type") == "text"]
    asked = bool(texts) and kind_of(without_reminders(texts[-1])) is UserText.SUMMARISE
    return Purpose.SUMMARY if asked else Purpose.TURN


def last_text(body: Json) -> str:
    """The text of the last user message: its text blocks, or its tool results where it has no text."""
    blocks = last_blocks(body)
    texts = [block.get("text", "") for block in blocks if block.get("type") == "text"]
    return "\n".join(texts or [result_text(block) for block in blocks if block.get("type") == "tool_result"])


def last_blocks(body: Json) -> list[Block]:
    """The content blocks of the last user message."""
    for message in reversed(body.get("messages") or []):
        if isinstance(message, dict) and message.get("role") == "user":
            return blocks(message.get("content"))
    return []


def blocks(content: Any) -> list[Block]:
    """Content as blocks: a string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or [] if isinstance(block, dict)]


def result_text(block: Block) -> str:
    """The text of a tool result."""
    return "\n".join(part.get("text", "") for part in blocks(block.get("content")))


def tool_names(body: Json) -> frozenset[str]:
    """The names of the tools that a request offers."""
    return frozenset(str(tool.get("name")) for tool in body.get("tools") or () if isinstance(tool, dict))


def messages(body: Json) -> tuple[Message, ...]:
    """The messages of a body as values; what is not a message is left out."""
    return tuple(
        Message("assistant" if message.get("role") == "assistant" else "user", tuple(blocks(message.get("content"))))
        for message in body.get("messages") or ()
        if isinstance(message, dict)
    )
