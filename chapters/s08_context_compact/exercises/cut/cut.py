"""Where may a history be cut? One function is missing; TASK.md says what it has to do."""

from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]
"""`role` is "user" or "assistant"; `content` is a list of blocks, each with a `type`."""


def size(message: Message) -> int:
    """How much room a message takes: the characters of its blocks."""
    return sum(len(str(block)) for block in message["content"])


def has_results(message: Message) -> bool:
    """The message answers calls of tools."""
    return any(block["type"] == "tool_result" for block in message["content"])


def cut(messages: Sequence[Message], budget: int) -> int:
    """The index of the first message that stays as it is; all before it will be summarised."""
    # ── your part begins ─────────────────────────────────────────────
    return max(0, len(messages) - 5)
    # ── your part ends ───────────────────────────────────────────────
