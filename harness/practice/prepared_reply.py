"""A reply made ready for the wire: tool calls with their ids, tokens counted, thinking signed."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from harness.events import Block, Json
from harness.practice.replies import (
    UNCACHED,
    CacheUse,
    Part,
    RawBlock,
    ReplyUsage,
    ScriptedReply,
    ThinkingPart,
    ToolUse,
)
from harness.practice.requests import blocks
from harness.practice.sse import Envelope, compact
from harness.practice.token_count import Counter, part_tokens, reply_tokens, request_tokens

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
