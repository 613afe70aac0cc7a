"""How large a request is, in tokens."""

from collections.abc import Sequence
from math import ceil
from typing import Any, Protocol

from harness.events import Json, Message
from harness.model.media import nested, with_words_for
from harness.model.tokens import media_tokens
from harness.practice.replies import Part, RawBlock, ScriptedReply, TextPart, ThinkingPart, ToolUse
from harness.practice.requests import messages
from harness.practice.sse import compact


class Counter(Protocol):
    """Counts tokens. `harness.model.tokens.TokenCounter` is one."""

    def count_text(self, text: str) -> int:
        """Tokens of a text."""
        ...

    def count_request(self, system: Any, tools: Any, messages: Sequence[Message]) -> int:
        """Tokens of a prompt: system blocks, tool definitions and messages."""
        ...


class ByteCounter:
    """A rough count that needs no vocabulary: one token for 3.5 bytes."""

    def count_text(self, text: str) -> int:
        """Tokens of a text."""
        return ceil(len(text.encode("utf-8", "replace")) / 3.5)

    def count_request(self, system: Any, tools: Any, messages: Sequence[Message]) -> int:
        """Tokens of a prompt."""
        content = [block for message in messages for block in message.content]
        media = [tokens for block in content for part in (block, *nested(block)) if (tokens := media_tokens(part))]
        texts = [with_words_for(block, lambda part: media_tokens(part) is not None) for block in content]
        return self.count_text(compact([system, tools])) + self.count_text(compact(texts)) + sum(media)


def request_tokens(counter: Counter, body: Json) -> int:
    """Tokens of the prompt of a checked request body."""
    system = body.get("system") or ()
    if isinstance(system, str):
        system = ({"type": "text", "text": system},)
    return max(1, counter.count_request(tuple(system), tuple(body.get("tools") or ()), messages(body)))


def reply_tokens(counter: Counter, reply: ScriptedReply) -> int:
    """Tokens of a reply's content."""
    return max(1, sum(part_tokens(counter, part) for part in reply.parts))


def part_tokens(counter: Counter, part: Part) -> int:
    """Tokens of a part of a reply."""
    return counter.count_text(_written(part))


def _written(part: Part) -> str:
    match part:
        case TextPart(text):
            return text
        case ThinkingPart(thinking):
            return thinking
        case ToolUse():
            return part.name + (compact(part.input) if part.raw_input is None else part.raw_input)
        case RawBlock(block):
            return compact(block)
