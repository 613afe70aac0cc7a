"""A reply as the events of a stream, and events as bytes.

The order is that of the real API: message_start, then for each block its start, deltas and
stop, then message_delta and message_stop, with one ping after the first block has begun.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from harness.events import Block, Json
from harness.practice.replies import UNCACHED, CacheUse, Part, RawBlock, ScriptedReply, TextPart, ThinkingPart, ToolUse


@dataclass(frozen=True, slots=True)
class Frame:
    """One server-sent event."""

    name: str | None
    data: str
    raw: bytes | None = None
    """Its bytes as an upstream server sent them, blank line included; None: made by us."""

    def encode(self, newline: str = "\n") -> bytes:
        """The bytes of the event. An event of an upstream server keeps the bytes it came in."""
        if self.raw is not None and newline == "\n":
            return self.raw
        lines = [] if self.name is None else [f"event: {self.name}"]
        lines += [f"data: {line}" for line in self.data.split("\n")]
        return (newline.join(lines) + newline * 2).encode()


@dataclass(frozen=True, slots=True)
class Envelope:
    """What surrounds the content of one reply: the message's id, the model's name and the token counts."""

    message_id: str
    model: str
    input_tokens: int
    output_tokens: int
    cache: CacheUse = UNCACHED
    thinking_tokens: int = 0
    """Of the output tokens."""
    web_uses: tuple[int, int] = (0, 0)
    """Searches and pages that the server looked up for the reply."""
    diagnostics: Json | None = None
    signatures: tuple[str, ...] = ()
    """One for each part of the reply; empty where there is none."""


def frame(data: Json) -> Frame:
    """An event whose name is its data's type, as the API names them."""
    return Frame(data["type"], compact(data))


def compact(value: object) -> str:
    """JSON without spaces, text as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def frames(reply: ScriptedReply, envelope: Envelope) -> Iterator[Frame]:
    """The events of a whole reply, in order. Every tool call of `reply` must have its id."""
    yield frame({"type": "message_start", "message": _opening(envelope)})
    for index, part in enumerate(reply.parts):
        yield frame({"type": "content_block_start", "index": index, "content_block": _empty_block(part)})
        if index == 0:
            yield frame({"type": "ping"})
        for delta in _deltas(part, reply.chunk_size, envelope.signatures[index]):
            yield frame({"type": "content_block_delta", "index": index, "delta": delta})
        yield frame({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": reply.ending, "stop_sequence": reply.stop_sequence} | _details(reply)
    yield frame({"type": "message_delta", "delta": ending, "usage": _usage(envelope, envelope.output_tokens)})
    yield frame({"type": "message_stop"})


def message(reply: ScriptedReply, envelope: Envelope) -> Json:
    """The same reply as the body of an answer that is not streamed."""
    return _opening(envelope) | {
        "content": [
            _whole_block(part, signature) for part, signature in zip(reply.parts, envelope.signatures, strict=True)
        ],
        "stop_reason": reply.ending,
        "stop_sequence": reply.stop_sequence,
        "usage": _usage(envelope, envelope.output_tokens),
        **_details(reply),
    }


def _details(reply: ScriptedReply) -> Json:
    return {} if reply.stop_details is None else {"stop_details": reply.stop_details}


def _opening(envelope: Envelope) -> Json:
    return {
        "id": envelope.message_id,
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "diagnostics": envelope.diagnostics,
        "usage": _usage(envelope, 1) | {"service_tier": "standard"},
    }


def _usage(envelope: Envelope, output_tokens: int) -> Json:
    thinking = min(envelope.thinking_tokens, output_tokens)
    searches, pages = envelope.web_uses
    served = {"server_tool_use": {"web_search_requests": searches, "web_fetch_requests": pages}}
    return (
        (served if searches or pages else {})
        | {
            "input_tokens": envelope.input_tokens,
            "cache_creation_input_tokens": envelope.cache.written,
            "cache_read_input_tokens": envelope.cache.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": envelope.cache.written_5m,
                "ephemeral_1h_input_tokens": envelope.cache.written_1h,
            },
            "output_tokens": output_tokens,
        }
        | ({"output_tokens_details": {"thinking_tokens": thinking}} if thinking else {})
    )


def _empty_block(part: Part) -> Block:
    match part:
        case TextPart():
            return {"type": "text", "text": ""}
        case ThinkingPart():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case ToolUse():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": {}}
        case RawBlock():
            return part.block


def _whole_block(part: Part, signature: str) -> Block:
    match part:
        case TextPart(text, citations):
            return {"type": "text", "text": text} | ({"citations": list(citations)} if citations else {})
        case ThinkingPart():
            return {"type": "thinking", "thinking": part.text, "signature": signature}
        case ToolUse():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": _whole_input(part)}
        case RawBlock():
            return part.block


def _whole_input(call: ToolUse) -> object:
    if call.raw_input is None:
        return call.input
    try:
        return json.loads(call.raw_input)
    except ValueError:
        return call.raw_input


def _deltas(part: Part, chunk_size: int, signature: str) -> Iterator[Json]:
    match part:
        case TextPart(text):
            for piece in _pieces(text, chunk_size):
                yield {"type": "text_delta", "text": piece}
            for citation in part.citations:
                yield {"type": "citations_delta", "citation": citation}
        case ThinkingPart():
            for piece in _pieces(part.text, chunk_size):
                yield {"type": "thinking_delta", "thinking": piece}
            if signature:
                yield {"type": "signature_delta", "signature": signature}
        case ToolUse():
            written = compact(part.input) if part.raw_input is None else part.raw_input
            yield {"type": "input_json_delta", "partial_json": ""}
            for piece in _pieces(written if written != "{}" else "", chunk_size):
                yield {"type": "input_json_delta", "partial_json": piece}
        case RawBlock():
            return


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


class FrameReader:
    """Cuts the bytes of a stream into events, each with the bytes it came in. For the proxy."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The events that are whole now."""
        self._buffer += data
        while (end := self._end_of_first()) is not None:
            raw = bytes(self._buffer[:end])
            del self._buffer[:end]
            yield _parsed(raw)

    @property
    def rest(self) -> bytes:
        """Bytes of an event that is not whole yet."""
        return bytes(self._buffer)

    def _end_of_first(self) -> int | None:
        ends = [at + len(blank) for blank in (b"\n\n", b"\r\n\r\n", b"\r\r") if (at := self._buffer.find(blank)) >= 0]
        return min(ends, default=None)


def _parsed(raw: bytes) -> Frame:
    name, data = None, []
    for line in raw.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
    return Frame(name, "\n".join(data), raw)
