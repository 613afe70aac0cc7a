"""The difference of a request to the one before it in the same conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from chapters.course import WireExchange
from harness.events import Json


@dataclass(frozen=True, slots=True)
class RequestChanges:
    """The difference of a request to an earlier one."""

    before: WireExchange | None
    """The earlier request; None: this one starts a conversation."""
    same: tuple[str, ...]
    """Names of unchanged fields, without the messages."""
    kept: int
    """Number of unchanged messages at the start."""
    gone: int
    """Number of messages of the earlier request that this one does not repeat."""
    new: Json
    """New and changed fields; of the messages only the new ones."""


def request_changes(one: WireExchange, earlier: Sequence[WireExchange]) -> RequestChanges:
    """Compare a request with the latest of `earlier` that begins with the same message.

    Cache marks are ignored: they move with every request.
    """
    messages = _messages(one)
    before = next((other for other in reversed(earlier) if _bare(_messages(other)[:1]) == _bare(messages[:1])), None)
    if before is None:
        return RequestChanges(None, (), 0, 0, one.sent)
    old = _messages(before)
    pairs = zip(map(_bare, messages), map(_bare, old), strict=False)
    kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    fields = {name: value for name, value in one.sent.items() if name != "messages"}
    same = tuple(name for name, value in fields.items() if _bare(before.sent.get(name)) == _bare(value))
    new: dict[str, object] = {name: value for name, value in fields.items() if name not in same}
    if kept < len(messages):
        new["messages"] = messages[kept:]
    return RequestChanges(before, same, kept, len(old) - kept, new)


def _messages(one: WireExchange) -> list[object]:
    found = one.sent.get("messages")
    return list(found) if isinstance(found, list | tuple) else []


def _bare(value: object) -> object:
    """The value without cache marks; a text is equal to a block with that text, as both mean the same."""
    match value:
        case Mapping():
            content = value.get("content")
            if isinstance(content, str) and "role" in value:
                value = {**value, "content": [{"type": "text", "text": content}]}
            return {name: _bare(part) for name, part in value.items() if name != "cache_control"}
        case list() | tuple():
            return [_bare(part) for part in value]
        case _:
            return value
