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
    replies = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    unread = bool(replies) and len(messages) > replies[-1] + 1 and has_results(messages[replies[-1] + 1])
    latest = replies[-1] if unread else len(messages) - 1
    places = [at for at in range(latest + 1) if _begins(messages, at)]
    fitting = (at for at in places if sum(map(size, messages[at:])) <= budget)
    return next(fitting, places[-1])


def _begins(messages: Sequence[Message], at: int) -> bool:
    if at == 0:
        return True
    if messages[at]["role"] == "assistant":
        return has_results(messages[at - 1])
    return not has_results(messages[at])
    # ── your part ends ───────────────────────────────────────────────
