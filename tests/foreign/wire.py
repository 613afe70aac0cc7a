"""The bytes of servers that we did not write: replies as events, and events as bytes in every dialect met so far."""

import asyncio
import gzip
import json
import zlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from harness.events import Json
from tests.model.byte_server import reset

ANSWER = "The note says forty-two."
LOOK = "I look."
COMMAND = "echo ran >> ran.txt"
CALL: Json = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": COMMAND}}

Events = list[tuple[str, Json]]
Respond = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes one whole HTTP response, or what a broken server takes for one."""

# ── replies as events ───────────────────────────────────────────────────────────────────────────


def message_start(**more: object) -> tuple[str, Json]:
    """The first event."""
    message: Json = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    return "message_start", {"message": {**message, "usage": {"input_tokens": 9, "output_tokens": 1}, **more}}


def text_block(index: int, *pieces: str) -> Events:
    """A text block from its start to its stop."""
    deltas = [("content_block_delta", {"index": index, "delta": {"type": "text_delta", "text": p}}) for p in pieces]
    return [
        ("content_block_start", {"index": index, "content_block": {"type": "text", "text": ""}}),
        *deltas,
        ("content_block_stop", {"index": index}),
    ]


def call_block(index: int, call: Json = CALL, pieces: Sequence[str] | None = None) -> Events:
    """A tool call from its start to its stop; `pieces` are its arguments as they are sent."""
    pieces = ["", *_halves(json.dumps(call["input"]))] if pieces is None else pieces
    deltas = [
        ("content_block_delta", {"index": index, "delta": {"type": "input_json_delta", "partial_json": piece}})
        for piece in pieces
    ]
    return [
        ("content_block_start", {"index": index, "content_block": {**call, "input": {}}}),
        *deltas,
        ("content_block_stop", {"index": index}),
    ]


def ending(reason: object, usage: object = "as usual") -> Events:
    """The last two events."""
    counts = {"output_tokens": 5} if usage == "as usual" else usage
    return [("message_delta", {"delta": {"stop_reason": reason}, "usage": counts}), ("message_stop", {})]


def asking(reason: object = "tool_use") -> Events:
    """A reply that says something and asks for one command."""
    return [message_start(), *text_block(0, LOOK), *call_block(1), *ending(reason)]


def answering(text: str = ANSWER, reason: object = "end_turn") -> Events:
    """A reply that answers."""
    return [message_start(), *text_block(0, *_halves(text)), *ending(reason)]


def without(events: Events, *names: str) -> Events:
    """The events, without those of these names."""
    return [(name, data) for name, data in events if name not in names]


def whole(reason: object = "tool_use", *content: Json) -> Json:
    """A reply as one JSON message."""
    blocks = list(content) or [{"type": "text", "text": LOOK}, CALL]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": blocks,
        "stop_reason": reason,
        "usage": {"input_tokens": 9, "output_tokens": 5},
    }


# ── events as bytes ─────────────────────────────────────────────────────────────────────────────


def sse(name: str, data: Json, line: str = "\n") -> bytes:
    """One event as Anthropic writes it."""
    return f"event: {name}{line}data: {json.dumps({'type': name, **data})}{line}{line}".encode()


def nameless(name: str, data: Json) -> bytes:
    """One event without its name."""
    return f"data: {json.dumps({'type': name, **data})}\n\n".encode()


def data_first(name: str, data: Json) -> bytes:
    """One event whose name comes last."""
    return f"data: {json.dumps({'type': name, **data})}\nevent: {name}\n\n".encode()


def tight(name: str, data: Json) -> bytes:
    """One event without a space behind the colons."""
    return f"event:{name}\ndata:{json.dumps({'type': name, **data})}\n\n".encode()


def over_lines(name: str, data: Json) -> bytes:
    """One event whose data takes several lines."""
    lines = json.dumps({"type": name, **data}, indent=1).splitlines()
    return "".join([f"event: {name}\n", *(f"data: {line}\n" for line in lines), "\n"]).encode()


def numbered(name: str, data: Json) -> bytes:
    """One event with an id and a retry time."""
    return b"id: 7\nretry: 3000\n" + sse(name, data)


def typeless(name: str, data: Json) -> bytes:
    """One event whose data does not repeat its name."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def body_of(events: Events, write: Callable[[str, Json], bytes] = sse, between: bytes = b"") -> bytes:
    """The body of a stream; `between` precedes each event."""
    return b"".join(between + write(name, data) for name, data in events)


# ── responses ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Head:
    """The first lines of a response."""

    status: str = "200 OK"
    content_type: str | None = "text/event-stream"
    more: tuple[str, ...] = ()
    version: str = "1.1"

    def lines(self, *extra: str) -> bytes:
        """The lines, with `extra` ones at the end."""
        kind = [f"content-type: {self.content_type}"] if self.content_type is not None else []
        return "\r\n".join([f"HTTP/{self.version} {self.status}", *kind, *self.more, *extra, "", ""]).encode()


def chunks(pieces: Iterable[bytes]) -> bytes:
    """A chunked body, but for its end."""
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces if piece)


def streamed(body: bytes, head: Head | None = None, *, size: int = 0, end: bytes = b"0\r\n\r\n") -> Respond:
    """A chunked response; `size`: bytes per chunk, 0: one chunk."""
    pieces = [body[at : at + size] for at in range(0, len(body), size)] if size else [body]
    return partial(_write, (head or Head()).lines("transfer-encoding: chunked") + chunks(pieces) + end)


def measured(body: bytes, head: Head | None = None) -> Respond:
    """A response with a content-length."""
    return partial(_write, (head or Head()).lines(f"content-length: {len(body)}") + body)


def until_closed(body: bytes, head: Head | None = None) -> Respond:
    """A response that ends with its connection."""
    return partial(_write, (head or Head()).lines("connection: close") + body, then="close")


def reset_after(body: bytes) -> Respond:
    """A chunked response whose connection is reset instead of ended."""
    return partial(_write, Head().lines("transfer-encoding: chunked") + chunks([body]), then="reset")


def preceded(first: bytes, response: Respond) -> Respond:
    """Other bytes, such as an interim response, before a response."""

    async def respond(writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        await response(writer)

    return respond


def packed(body: bytes, how: str) -> Respond:
    """A compressed stream."""
    squeezed = gzip.compress(body) if how == "gzip" else zlib.compress(body)
    return streamed(squeezed, Head(more=(f"content-encoding: {how}",)))


def json_body(value: object, status: str = "200 OK", content_type: str | None = "application/json") -> Respond:
    """A response of one JSON value."""
    return measured(json.dumps(value).encode(), Head(status, content_type))


def page(html: str, status: str = "200 OK") -> Respond:
    """A response that is a web page."""
    return measured(html.encode(), Head(status, "text/html"))


async def _write(data: bytes, writer: asyncio.StreamWriter, *, then: str = "") -> None:
    writer.write(data)
    await writer.drain()
    if then == "reset":
        reset(writer)
    elif then == "close":
        writer.close()


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]
