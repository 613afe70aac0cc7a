"""A reply made ready for the wire: its templates filled, tool calls with their ids, tokens counted, thinking signed."""

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import ceil
from typing import Any, Protocol

from harness.events import Block, Json, Message
from harness.model.media import nested, with_words_for
from harness.model.tokens import media_tokens
from harness.practice.requests import blocks, messages, result_text
from harness.practice.wire.replies import (
    UNCACHED,
    CacheUse,
    Envelope,
    Part,
    RawBlock,
    ReplyUsage,
    ScriptedReply,
    TextPart,
    ThinkingPart,
    ToolUse,
    compact,
)

NOT_FOUND = "[{name}: not in the request]"


def filled(reply: ScriptedReply, body: Json) -> ScriptedReply:
    """The reply with the values of its `fills` in its texts and tool inputs; a value that is not there is named."""
    if not reply.fills:
        return reply
    texts = tuple(_request_texts(body))
    values = {f"{{{name}}}": _value(name, pattern, texts) for name, pattern in reply.fills}
    return replace(reply, parts=tuple(_filled_part(part, values) for part in reply.parts), fills=())


def _request_texts(body: Json) -> Iterator[str]:
    """What the user and the tools said, newest first; then the system prompt."""
    for message in reversed(body.get("messages") or []):
        if isinstance(message, dict) and message.get("role") == "user":
            for block in reversed(blocks(message.get("content"))):
                yield result_text(block) if block.get("type") == "tool_result" else str(block.get("text", ""))
    for block in blocks(body.get("system")):
        yield str(block.get("text", ""))


def _value(name: str, pattern: str, texts: tuple[str, ...]) -> str:
    found = (match for text in texts if (match := re.search(pattern, text)) is not None)
    match = next(found, None)
    return NOT_FOUND.format(name=name) if match is None else match[1]


def _filled_part(part: Part, values: dict[str, str]) -> Part:
    match part:
        case TextPart():
            return replace(part, text=_in(part.text, values))
        case ToolUse():
            return replace(part, input=_in(part.input, values))
        case _:
            return part


def _in(value: Any, values: dict[str, str]) -> Any:
    match value:
        case str():
            for name, found in values.items():
                value = value.replace(name, found)
            return value
        case list():
            return [_in(item, values) for item in value]
        case dict():
            return {name: _in(item, values) for name, item in value.items()}
        case _:
            return value


# ── sizes in tokens ──────────────────────────────────────────────────────────────────────────────────


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


# ── signatures ───────────────────────────────────────────────────────────────────────────────────────

_MARK = "practice."


def sign(thinking: str, body: Json, before: int) -> str:
    """The signature of a thinking block that follows the first `before` messages of a request body."""
    return f"{_MARK}{_digest(thinking)}.{_digest(_prefix(body, before))}"


def signature_problem(block: Block, body: Json, position: int, *, bound: bool) -> str | None:
    """The problem with a thinking block replayed in message `position`, or None.

    Signatures of other makers are taken as they are. `bound`: everything before it must be unchanged.
    """
    signature = block.get("signature")
    if not isinstance(signature, str) or not signature:
        return "signature: Field required"
    if not signature.startswith(_MARK):
        return None
    named, _, prefix = signature.removeprefix(_MARK).partition(".")
    if named != _digest(block.get("thinking", "")):
        return "Invalid `signature` in `thinking` block"
    if bound and prefix != _digest(_prefix(body, position)):
        return (
            "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the "
            'block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
        )
    return None


def _prefix(body: Json, before: int) -> str:
    earlier = [
        [message.get("role"), _bare(message.get("content"))]
        for message in body["messages"][:before]
        if isinstance(message, dict)
    ]
    return compact([_bare(body.get("system")), _without_marks(body.get("tools") or []), earlier])


def _bare(content: object) -> list[Block]:
    return [
        {key: value for key, value in block.items() if key != "cache_control"}
        for block in blocks(content)
        if block.get("type") not in ("thinking", "redacted_thinking")
    ]


def _without_marks(tools: Sequence[Json]) -> list[Json]:
    return [{key: value for key, value in tool.items() if key != "cache_control"} for tool in tools]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


# ── ready for the wire ───────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Prepared:
    """A reply ready for the wire."""

    reply: ScriptedReply
    envelope: Envelope


def prepare(
    reply: ScriptedReply,
    body: Json,
    counter: Counter,
    cache: CacheUse = UNCACHED,
    diagnostics: Json | None = None,
) -> Prepared:
    """Make a reply to a request ready. Ids are random, so that they stay unique in a session that is resumed.

    `cache`: what of the prompt comes from the prompt cache or goes into it; `diagnostics`: why not more of it does.
    """
    usage = reply.usage
    if usage.describes_prompt:
        cache = CacheUse(usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0)
    envelope = Envelope(
        message_id=f"msg_{uuid.uuid4().hex[:24]}",
        model=str(body.get("model")),
        input_tokens=_input_tokens(usage, body, counter, cache),
        output_tokens=_output_tokens(reply, body, counter),
        cache=cache,
        thinking_tokens=_thinking_tokens(reply, counter),
        web_uses=(_answered(reply, "web_search"), _answered(reply, "web_fetch")),
        diagnostics=diagnostics,
        signatures=tuple(_signature(part, body) for part in reply.parts),
    )
    return Prepared(replace(reply, parts=tuple(map(_identified, reply.parts))), envelope)


def _answered(reply: ScriptedReply, tool: str) -> int:
    """Calls of a server tool that worked; the others are not charged."""
    results = (part.block for part in reply.parts if isinstance(part, RawBlock))
    return sum(
        one.get("type") == f"{tool}_tool_result" and "error_code" not in one.get("content", ()) for one in results
    )


def _input_tokens(usage: ReplyUsage, body: Json, counter: Counter, cache: CacheUse) -> int:
    if usage.input_tokens is not None:
        return usage.input_tokens
    counted = request_tokens(counter, body)
    return counted if usage.describes_prompt else max(0, counted - cache.read - cache.written)


def _output_tokens(reply: ScriptedReply, body: Json, counter: Counter) -> int:
    if reply.usage.output_tokens is not None:
        return reply.usage.output_tokens
    counted, limit = reply_tokens(counter, reply), body.get("max_tokens")
    return min(counted, limit) if isinstance(limit, int) and limit > 0 else counted


def _thinking_tokens(reply: ScriptedReply, counter: Counter) -> int:
    """What of the output is thinking. Where the reply takes more tokens than its words have, that was thought."""
    if not any(isinstance(part, ThinkingPart) for part in reply.parts):
        return 0
    said = sum(part_tokens(counter, part) for part in reply.parts if not isinstance(part, ThinkingPart))
    total = reply.usage.output_tokens or reply_tokens(counter, reply)
    return max(0, total - said)


def _signature(part: Part, body: Json) -> str:
    if not isinstance(part, ThinkingPart) or not part.signed:
        return ""
    messages = body["messages"]
    paused = bool(messages) and messages[-1].get("role") == "assistant"  # the reply goes on with that message
    return sign(part.text, body, len(messages) - paused)


def _identified(part: Part) -> Part:
    if isinstance(part, ToolUse) and part.id is None:
        return replace(part, id=f"toolu_{uuid.uuid4().hex[:24]}")
    return part
