"""One request and its answer, as the practice server saw them: what a lesson shows of the wire."""

from dataclasses import dataclass

from harness.events import Block, Json
from harness.practice.exchange import Exchange
from harness.practice.replies import RawBlock, Text, Thinking, ToolUse

MESSAGES = "/v1/messages"


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A request for a reply, and what came back."""

    number: int
    """Counts from 1 within a take."""
    model: str
    max_tokens: int
    messages: int
    """How many messages the request held."""
    tools: int
    """How many tools it offered."""
    answer: str
    """A few words, for example "200", "529 overloaded_error" or "200 with reset"."""
    stop_reason: str
    """Why the reply ended; empty where none came."""
    text: str
    """What the reply said."""
    calls: str
    """Names of the tools that it asked for, joined by ", "."""
    sent: Json
    """The body of the request."""
    came: tuple[Block, ...]
    """The content of the reply as the server set out to send it; a fault may have cut it on the way."""
    at: float = 0.0
    """time.monotonic() when the request had arrived."""
    duration_s: float = 0.0
    """Until the reply had been sent."""


def exchanged(exchange: Exchange, number: int) -> Exchanged | None:
    """The exchange in the words of a lesson; None for one that did not ask for a reply."""
    body = exchange.request.body
    if exchange.request.path.rstrip("/") != MESSAGES:
        return None
    came = () if exchange.said is None else tuple(map(_block, exchange.said.parts))
    return Exchanged(
        number,
        str(body.get("model", "")),
        _whole(body.get("max_tokens")),
        _length(body.get("messages")),
        _length(body.get("tools")),
        exchange.answer,
        "" if exchange.said is None else exchange.said.ending,
        "\n".join(str(block["text"]) for block in came if block["type"] == "text"),
        ", ".join(str(block["name"]) for block in came if block["type"] == "tool_use"),
        body,
        came,
        exchange.request.at,
        exchange.duration_s,
    )


def _block(part: object) -> Block:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(thinking):
            return {"type": "thinking", "thinking": thinking}
        case ToolUse(name, input, id):
            return {"type": "tool_use", "id": id or "", "name": name, "input": input}
        case RawBlock(block):
            return block
    raise TypeError(f"{part!r} is no part of a reply")


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _length(value: object) -> int:
    return len(value) if isinstance(value, list) else 0
