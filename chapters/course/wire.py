"""What a lesson shows of the wire: requests with their replies, and the events of a loop that reports none."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile

from chapters.course.stream_events import StreamEvent, stream_events
from harness.events import (
    Block,
    Event,
    Json,
    Message,
    MessageAdded,
    Origin,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TurnStarted,
)
from harness.practice.requests import blocks, messages, result_text, tool_names
from harness.practice.wire.recorded import RecordedExchange, RecordedResponse
from harness.practice.wire.replies import RawBlock, TextPart, ThinkingPart, ToolUse
from harness.tools.tool import shorten_line

MESSAGES = "/v1/messages"
SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"})
MASK = "•••"


@dataclass(frozen=True, slots=True)
class WireExchange:
    """A request and its reply."""

    number: int
    """From 1 within a recording."""
    model: str
    max_tokens: int
    messages: int
    """Number of messages in the request."""
    tools: int
    """Number of tools in the request."""
    answer: str
    """For example "200", "529 overloaded_error" or "200 with reset"."""
    stop_reason: str
    """Stop reason that was sent; empty without one."""
    text: str
    """Text of the reply."""
    calls: str
    """Names of the called tools, joined by ", "."""
    sent: Json
    """The body of the request."""
    came: tuple[Block, ...]
    """Content of the reply as the server meant to send it; a fault may have cut it."""
    at: float = 0.0
    """time.monotonic() of the request."""
    duration_s: float = 0.0
    """Seconds until the reply was sent."""
    scripted: str = ""
    """The entry of the script that answered, such as "7 of 12"; empty: none did."""
    method: str = ""
    path: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    """Of the request; keys are masked."""
    status: int = 0
    """Of the response; 0: no response was recorded."""
    response_headers: tuple[tuple[str, str], ...] = ()
    stream: tuple[StreamEvent, ...] = ()
    """Events of a streamed response."""
    body: str = ""
    """Body of any other response."""
    omitted: int = 0
    """Bytes of the response that were not recorded."""
    chunks: int = 0
    """Chunks of the body, as the server sent them."""

    @property
    def system(self) -> str:
        """The system prompt of the request."""
        return "\n\n".join(str(block.get("text", "")) for block in blocks(self.sent.get("system")))

    @property
    def offered(self) -> tuple[str, ...]:
        """Names of the tools in the request."""
        return tuple(sorted(tool_names(self.sent)))

    @property
    def history(self) -> str:
        """All texts, calls and tool results in the messages of the request."""
        return "\n".join(_said(block) for message in messages(self.sent) for block in message.content)

    @property
    def asked(self) -> str:
        """The tool calls of the reply, with their input as JSON."""
        return "\n".join(_said(block) for block in self.came if block.get("type") == "tool_use")

    @property
    def last(self) -> str:
        """The last message of the request: its texts and tool results."""
        return "\n".join(_said(block) for block in self._last_blocks)

    @property
    def results(self) -> int:
        """Number of tool results in the last message."""
        return sum(block.get("type") == "tool_result" for block in self._last_blocks)

    @property
    def failed_results(self) -> int:
        """Number of tool results in the last message that are marked as errors."""
        return sum(bool(block.get("is_error")) for block in self._last_blocks)

    @property
    def breakpoints(self) -> int:
        """Number of cache breakpoints in the request."""
        parts = (*blocks(self.sent.get("tools")), *blocks(self.sent.get("system")))
        inner = (block for message in messages(self.sent) for block in message.content)
        return sum("cache_control" in block for block in (*parts, *inner))

    @property
    def _last_blocks(self) -> tuple[Block, ...]:
        sent = messages(self.sent)
        return sent[-1].content if sent else ()


def exchanged(exchange: RecordedExchange, number: int) -> WireExchange | None:
    """The exchange for a lesson; None for other requests."""
    body = exchange.request.body
    if exchange.request.path.rstrip("/") != MESSAGES:
        return None
    came = () if exchange.said is None else tuple(map(_block, exchange.said.parts))
    response = exchange.response or RecordedResponse(0, (), (), 0)
    content_type = dict(response.headers).get("content-type", "")
    streamed = content_type.startswith("text/event-stream")
    events = stream_events(response.pieces) if streamed else ()
    ending = "" if exchange.said is None else exchange.said.ending
    return WireExchange(
        number,
        str(body.get("model", "")),
        _whole(body.get("max_tokens")),
        _length(body.get("messages")),
        _length(body.get("tools")),
        exchange.answer,
        _stop_reason(events) if events and not response.omitted else ending,
        "\n".join(str(block["text"]) for block in came if block["type"] == "text"),
        ", ".join(str(block["name"]) for block in came if block["type"] == "tool_use"),
        body,
        came,
        exchange.request.at,
        exchange.duration_s,
        "" if exchange.scripted is None else "{} of {}".format(*exchange.scripted),
        exchange.request.method,
        exchange.request.path,
        tuple((name, MASK if name in SECRET_HEADERS else value) for name, value in exchange.request.headers.items()),
        response.status,
        response.headers,
        events,
        "" if streamed else b"".join(data for _, data in response.pieces).decode("utf-8", "replace"),
        response.omitted,
        response.chunks,
    )


def _stop_reason(events: Sequence[StreamEvent]) -> str:
    for event in reversed(events):
        if event.name == "message_delta" and event.complete:
            with suppress(ValueError, LookupError, TypeError):  # a fault can garble an event
                return str(json.loads(event.data)["delta"]["stop_reason"])
    return ""


def _said(block: Block) -> str:
    match block.get("type"):
        case "tool_use":
            return f"{block.get('name')} {json.dumps(block.get('input'), ensure_ascii=False)}"
        case "tool_result":
            return result_text(block)
        case _:
            return str(block.get("text", ""))


def _block(part: object) -> Block:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ThinkingPart(thinking):
            return {"type": "thinking", "thinking": thinking}
        case ToolUse(name, input, id):
            return {"type": "tool_use", "id": id or "", "name": name, "input": input}
        case RawBlock(block):
            return block
    raise TypeError(f"{part!r} is not a part of a reply")


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _length(value: object) -> int:
    return len(value) if isinstance(value, list) else 0


WHOLE = "200"


class WireListener:
    """Derives events from the wire of a conversation whose loop reports none."""

    def __init__(self) -> None:
        self._sent: tuple[Message, ...] = ()
        self._heard = 0
        self._turn = self._step = 0
        self._asked: dict[str, str] = {}
        self._replied_at: float | None = None

    def request(self, exchange: WireExchange) -> Iterator[Event]:
        """Events before a request: a prompt, tool results."""
        history = messages(exchange.sent)
        if history[: len(self._sent)] != self._sent:  # part of it was dropped, or another conversation started
            self._heard = _common(history, self._sent)
        self._sent = history
        elapsed = 0.0 if self._replied_at is None else max(0.0, exchange.at - self._replied_at)
        for message in history[self._heard :]:
            yield from self._from_user(message, elapsed) if message.role == "user" else self._from_model(message)
        self._heard = len(history)
        self._step += 1
        yield StepStarted(self._step)

    def reply(self, exchange: WireExchange) -> Iterator[Event]:
        """Events after a reply: text and tool calls. None after a fault; the next request shows what arrived."""
        self._replied_at = exchange.at + exchange.duration_s
        if exchange.came and exchange.answer == WHOLE:
            self._heard += 1
            yield from self._from_model(Message("assistant", exchange.came))

    def _from_model(self, message: Message) -> Iterator[Event]:
        yield MessageAdded(message, Origin.REPLY)
        for block in message.content:
            if block.get("type") == "tool_use":
                yield self._started(block)

    def _from_user(self, message: Message, elapsed: float) -> Iterator[Event]:
        """`elapsed` is the time since the last reply, divided equally among the calls."""
        results = [block for block in message.content if block.get("type") == "tool_result"]
        if not results:
            self._turn += 1
            yield TurnStarted(self._turn, message.text)
            yield MessageAdded(message, Origin.PROMPT)
            return
        for block in results:
            text = result_text(block)
            outcome = ToolOutcome.ERROR if block.get("is_error") else ToolOutcome.OK
            id = str(block.get("tool_use_id", ""))
            yield ToolEnded(id, self._asked.pop(id, ""), outcome, shorten_line(text), elapsed / len(results))
        yield MessageAdded(message, Origin.TOOL_RESULTS)

    def _started(self, block: Block) -> ToolStarted:
        id, name, input = str(block.get("id", "")), str(block.get("name", "")), block.get("input") or {}
        self._asked[id] = name
        return ToolStarted(id, name, shorten_line(" ".join(str(value) for value in input.values())), input)


def _common(one: Sequence[Message], other: Sequence[Message]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
