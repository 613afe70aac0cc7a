"""A reply made ready for the wire: tool calls with their ids, tokens counted, thinking signed."""

import uuid
from dataclasses import dataclass, replace

from harness.events import Json
from harness.practice.counting import Counter, reply_tokens, request_tokens
from harness.practice.replies import Part, ScriptedReply, Thinking, ToolUse
from harness.practice.signing import sign
from harness.practice.sse import Envelope


@dataclass(frozen=True, slots=True)
class Prepared:
    """A reply in which nothing is left open."""

    reply: ScriptedReply
    envelope: Envelope


def prepare(reply: ScriptedReply, body: Json, counter: Counter) -> Prepared:
    """Make a reply to a request ready. Ids are random, so that they stay unique in a session that is resumed."""
    usage = reply.usage
    envelope = Envelope(
        message_id=f"msg_{uuid.uuid4().hex[:24]}",
        model=str(body.get("model")),
        input_tokens=request_tokens(counter, body) if usage.input_tokens is None else usage.input_tokens,
        output_tokens=reply_tokens(counter, reply) if usage.output_tokens is None else usage.output_tokens,
        cache_creation_input_tokens=usage.cache_creation_input_tokens,
        cache_read_input_tokens=usage.cache_read_input_tokens,
        signatures=tuple(_signature(part, body) for part in reply.parts),
    )
    return Prepared(replace(reply, parts=tuple(map(_identified, reply.parts))), envelope)


def _signature(part: Part, body: Json) -> str:
    signed = isinstance(part, Thinking) and part.signed
    return sign(part.thinking, body, len(body["messages"])) if signed and isinstance(part, Thinking) else ""


def _identified(part: Part) -> Part:
    if isinstance(part, ToolUse) and part.id is None:
        return replace(part, id=f"toolu_{uuid.uuid4().hex[:24]}")
    return part
