"""Replies of the practice model, and how they look on the wire.

A reply is data, scripted or made by the rule-based model. It names the content and the pace; the server gives ids to
the tool calls and counts the tokens. Here are also its form as a JSON body or as the events of a stream, events as
bytes, and error bodies as the API writes them. The order of events is that of the real API: message_start, then for
each block its start, deltas and stop, then message_delta and message_stop, with one ping after the first block has
begun.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from harness.events import Block, Json


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text block."""

    text: str
    citations: tuple[Json, ...] = ()
    """What it cites, as the API says it."""


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """A thinking block. The server signs it, so that a replayed block can be checked."""

    thinking: str
    signed: bool = True
    """False: the block goes out without a signature, as if it had been cut off."""
    shown: bool = True
    """False: the block goes out empty and signed, as where the display is omitted. It counts all the same."""

    @property
    def text(self) -> str:
        """What the client sees of it."""
        return self.thinking if self.shown else ""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call."""

    name: str
    input: Json = field(default_factory=dict)
    id: str | None = None
    """None: the server gives an id that is unique. A fixed id that is played twice makes an invalid history."""
    raw_input: str | None = None
    """Sent on the wire instead of `input`, character for character: invalid JSON, an array, duplicate keys."""


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A block of any type, sent whole in its content_block_start."""

    block: Block


Part = TextPart | ThinkingPart | ToolUse | RawBlock


@dataclass(frozen=True, slots=True)
class CacheUse:
    """Tokens of a prompt that come from the prompt cache, and that go into it."""

    read: int = 0
    written_5m: int = 0
    """To live for five minutes."""
    written_1h: int = 0

    @property
    def written(self) -> int:
        """All that go into it."""
        return self.written_5m + self.written_1h


UNCACHED = CacheUse()
"""Nothing comes from the cache and nothing goes into it."""


@dataclass(frozen=True, slots=True)
class ReplyUsage:
    """Token counts to report instead of the counted ones. None: as counted by the server.

    With one of the three that describe the prompt, the other two are not counted: the cache counts are 0 then.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None

    @property
    def describes_prompt(self) -> bool:
        """Says something about the prompt."""
        given = (self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens)
        return any(count is not None for count in given)


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One whole answer of the model: content in order, why it stops, and how fast it is written."""

    parts: tuple[Part, ...] = ()
    """Empty: an answer without content, which the real API also gives now and then."""
    stop_reason: str | None = None
    """None: "tool_use" when there is a tool call, else "end_turn"."""
    chunk_size: int = 40
    """Characters in one delta."""
    delay_s: float = 0.0
    """Seconds before the response headers."""
    event_delay_s: float = 0.0
    """Seconds before each event after the first."""
    usage: ReplyUsage = ReplyUsage()
    stop_sequence: str | None = None
    """The sequence that it stops at, with the stop reason "stop_sequence"."""
    stop_details: Json | None = None
    """Details of the stop reason, such as the category of a refusal."""
    tokens: int | None = None
    """Output tokens that it needs, thinking included; None: as many as its words have."""
    fills: tuple[tuple[str, str], ...] = ()
    """Names in its texts and tool inputs, written `{name}`, and the regular expressions that find their values."""

    @property
    def ending(self) -> str:
        """The stop reason as sent."""
        if self.stop_reason is not None:
            return self.stop_reason
        return "tool_use" if any(isinstance(part, ToolUse) for part in self.parts) else "end_turn"


def say(text: str) -> ScriptedReply:
    """A reply of one text block."""
    return ScriptedReply((TextPart(text),))


class ReplyModel(Protocol):
    """Something that can answer any request: the rule-based model, or a test's own."""

    def answer(self, request: Json) -> ScriptedReply:
        """The reply to a valid request body. A pure function of the body; it must not block."""
        ...


# ── on the wire ──────────────────────────────────────────────────────────────────────────────────────

_USUAL = {
    400: ("invalid_request_error", "Invalid request"),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "There is a problem with your billing information"),
    403: ("permission_error", "Your API key does not have permission to use the specified resource"),
    404: ("not_found_error", "Not found"),
    405: ("invalid_request_error", "Method Not Allowed"),
    408: ("timeout_error", "Request timed out"),
    409: ("conflict_error", "Conflict"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit"),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "Gateway timeout"),
    529: ("overloaded_error", "Overloaded"),
}
_MESSAGES = dict(_USUAL.values()) | {
    "invalid_request_error": "Invalid request",
    "timeout_error": "Request timed out",
}


@dataclass(frozen=True, slots=True)
class ApiError:
    """A request that is refused: what the API would answer."""

    status: int
    message: str
    type: str = "invalid_request_error"
    error_code: str | None = None

    def body(self, request_id: str) -> Json:
        """The JSON body of the answer."""
        return error_body(self.type, self.message, request_id, self.error_code)


def error_body(type_: str, message: str, request_id: str, error_code: str | None = None) -> Json:
    """The JSON of an error, in a body or in an `error` event; `details` is null when there is no code."""
    details = None if error_code is None else {"error_code": error_code}
    return {
        "type": "error",
        "error": {"type": type_, "message": message, "details": details},
        "request_id": request_id,
    }


def usual_type(status: int) -> str:
    """The `error.type` that goes with a status."""
    if status in _USUAL:
        return _USUAL[status][0]
    return "api_error" if status >= 500 else "invalid_request_error"


def usual_message(type_: str) -> str:
    """A message that goes with an `error.type`."""
    return _MESSAGES.get(type_, "Internal server error")


def status_of(type_: str) -> int:
    """The status that an `error.type` usually comes with."""
    return next((status for status, (name, _) in _USUAL.items() if name == type_), 500)


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
