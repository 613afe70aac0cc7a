"""One request on the wire: sent, read to its end, and turned into one reply or one fault."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from harness.events import Event, Fault, FaultKind, Json, Outcome, ThinkingEnded
from harness.model.accumulator import Accumulator, BrokenStream, events_of
from harness.model.endpoint import request_id_of
from harness.model.fault_classifier import classify, classify_stream_error, not_a_stream
from harness.model.sdk import SdkClient, wire_tracer
from harness.model.watchdog import AbortableWait, AbortCause, Aborted

if TYPE_CHECKING:
    import httpx2
    from anthropic._streaming import ServerSentEvent

PATH = "/v1/messages"
DRAIN_S = 0.5
"""Time for a complete stream to end, so that its connection can be reused."""
BODY_HEAD = 64 * 1024
"""Bytes read of a success that is not a stream, to describe it."""
LONGEST_MESSAGE = 32 * 1024 * 1024
"""Limit in bytes for a whole message instead of a stream."""
LONGEST_EVENT = 8 * 1024 * 1024
"""Limit in bytes for one event of a stream; a whole reply is shorter."""
AWS_EVENT_STREAM = "application/vnd.amazon.eventstream"
"""Content type of Bedrock streams: binary frames with checksums, one event each."""
BYTE_ORDER_MARK = "\ufeff".encode()
STREAM_STARTS = (b"event:", b"data:", b"id:", b"retry:", b":")
"""Start of the first line of an event stream, with any content type."""

_KNOWN_EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)


class ModelExchange:
    """One POST and its response. `run` may be cancelled at any await; what arrived before is kept."""

    def __init__(
        self,
        line: SdkClient,
        body: Json,
        emit: Callable[[Event], None],
        patience: AbortableWait,
        clock: Callable[[], float],
    ) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._thinks_since: float | None = None
        self._line = line
        self._body = body
        self._emit = emit
        self._patience = patience
        self._accumulator = Accumulator(taken=_call_ids(body))
        self._streamed = False
        self._request_id: str | None = None
        self._connected = False
        self._sent = False

    async def run(self) -> Outcome:
        """Send the request and read the response. Raises nothing that the server or the network did."""
        token = wire_tracer.set(self._trace)
        try:
            response = await self._opened()
        except Exception as error:  # noqa: BLE001 (boundary: anything the SDK raises becomes a fault)
            return self._failed(classify(error, streamed=False, reused_socket=self._sent and not self._connected))
        finally:
            wire_tracer.reset(token)
        try:
            self._request_id = request_id_of(response.headers)
            self._patience.on_headers()
            async with aclosing(self._chunks(response)) as chunks:
                return await self._answer(response, chunks)
        finally:
            await response.aclose()

    def given_up(self, ended: Aborted) -> Outcome:
        """The outcome after `run` was cancelled."""
        if self._accumulator.complete:
            return self._accumulator.reply(self._request_id)
        return self._failed(fault_of(ended), open_text=ended.cause in (AbortCause.INTERRUPT, AbortCause.ENOUGH))

    async def _opened(self) -> "httpx2.Response":
        import httpx2
        from anthropic import AsyncStream

        # post() instead of messages.create(): the same request, without its deprecation warnings on stderr.
        # With cast_to=Response the SDK returns the open response.
        response: object = await self._line.sdk.post(
            PATH, cast_to=httpx2.Response, body=self._body, stream=True, stream_cls=AsyncStream[object]
        )
        return cast("httpx2.Response", response)

    async def _answer(self, response: "httpx2.Response", chunks: AsyncIterator[bytes]) -> Outcome:
        """Read the body as its first bytes indicate: gateways send streams and messages with any content type."""
        content_type = response.headers.get("content-type", "")
        declared = content_type.lower().startswith("text/event-stream")
        self._streamed = declared
        if content_type.lower().startswith(AWS_EVENT_STREAM):
            self._streamed = True
            decoder = self._line.sdk._make_sse_decoder()
            async with aclosing(_events_of_aws(decoder.aiter_bytes(chunks))) as events:
                return await self._read(events, chunks)
        try:
            head = await _first_bytes(chunks)
            if head.startswith(STREAM_STARTS) or (declared and not head.startswith((b"{", b"<"))):
                self._streamed = True
                async with aclosing(_with_head(head, chunks)) as body:
                    return await self._read(_events(body), body)
            self._streamed = False
            whole = await _at_most(LONGEST_MESSAGE if head.startswith(b"{") else BODY_HEAD, head, chunks)
        except Exception as error:  # noqa: BLE001 (boundary, as above)
            return self._failed(classify(error, streamed=self._streamed))
        if (message := _message(whole)) is not None:
            return self._taken_whole(message)
        server = response.headers.get("server", "")
        return self._failed(not_a_stream(content_type, response.status_code, whole[:BODY_HEAD], server))

    def _taken_whole(self, message: Json) -> Outcome:
        """The reply from a whole message, with the events of a streamed one."""
        for name, data in events_of(message):
            if (shown := self._accumulator.feed(name, data)) is not None:
                self._emit(shown)
        return self._accumulator.reply(self._request_id)

    async def _read(self, events: "AsyncIterator[ServerSentEvent]", chunks: AsyncIterator[bytes]) -> Outcome:
        """Process the events of a stream. `chunks`: the bytes that they are read from."""
        while True:
            try:
                event = await anext(events, None)
            except Exception as error:  # noqa: BLE001 (boundary, as above)
                return self._failed(classify(error, streamed=True))
            if event is None:
                return self._failed(self._ended_early())
            try:
                name, data = _named(event)
                if name == "error":
                    return self._failed(classify_stream_error(data, self._request_id))
                if name not in _KNOWN_EVENTS:
                    continue
                shown = self._accumulator.feed(name, _object(name, data))
            except (BrokenStream, ValueError, RecursionError) as error:
                return self._failed(classify(error, streamed=True))
            self._patience.on_event(self._accumulator.phase)
            if shown is not None:
                self._emit(shown)
            if (duration_s := self._thought_s()) is not None:
                self._emit(ThinkingEnded(duration_s))
            if name == "message_stop":
                break
        if not self._accumulator.complete:
            return self._failed(self._ended_early())
        await _drained(chunks)
        return self._accumulator.reply(self._request_id)

    def _thought_s(self) -> float | None:
        """Duration of the thinking block that has just ended; None: none has."""
        thinks, since = self._accumulator.phase == "thinking", self._thinks_since
        if thinks and since is None:
            self._thinks_since = self._clock()
        if thinks or since is None:
            return None
        self._thinks_since = None
        return self._clock() - since

    async def _chunks(self, response: "httpx2.Response") -> AsyncGenerator[bytes, None]:
        async for chunk in response.aiter_bytes():
            self._patience.on_bytes()
            yield chunk

    def _ended_early(self) -> Fault:
        if not self._accumulator.started:
            return Fault(FaultKind.MALFORMED_RESPONSE, "the stream ended before a message began")
        return Fault(FaultKind.NETWORK, "the stream ended before the reply was complete")

    def _failed(self, fault: Fault, *, open_text: bool = False) -> Fault:
        """The fault with the blocks, usage and ids of this exchange."""
        kept, calls = self._accumulator.kept(open_text=open_text)
        return replace(
            fault,
            streamed=self._streamed,
            kept=kept,
            calls=calls,
            stop_reason=self._accumulator.stop_reason,
            usage=self._accumulator.usage,
            request_id=fault.request_id or self._request_id,
        )

    async def _trace(self, name: str, _details: dict[str, Any]) -> None:
        if name == "connection.connect_tcp.started":
            self._connected = True
        elif name == "http11.send_request_headers.started":
            self._sent = True


def _call_ids(body: Json) -> set[str]:
    """The ids of the tool calls in the history of a request."""
    blocks = (block for message in body.get("messages", ()) for block in message["content"])
    return {str(block.get("id")) for block in blocks if block.get("type") == "tool_use"}


def fault_of(ended: Aborted) -> Fault:
    """The fault for an aborted wait."""
    match ended.cause:
        case AbortCause.INTERRUPT:
            return Fault(FaultKind.CANCELLED, ended.reason)
        case AbortCause.RECONNECT:
            return Fault(FaultKind.TIMEOUT, ended.reason, error_code="reconnect_asked")
        case AbortCause.ENOUGH:
            return Fault(FaultKind.REPETITION, ended.reason)
        case AbortCause.SILENCE:
            return Fault(FaultKind.TIMEOUT, ended.reason)


async def _drained(chunks: AsyncIterator[bytes]) -> None:
    """Read to the end of the body. The reply is complete, so errors do not matter."""
    import httpx2

    try:
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                continue
    except (httpx2.HTTPError, OSError):
        return


async def _first_bytes(chunks: AsyncIterator[bytes]) -> bytes:
    """The start of the body, without byte order mark and leading whitespace, long enough to recognise its format."""
    head = b""
    async for chunk in chunks:
        head += chunk
        begin = head.removeprefix(BYTE_ORDER_MARK).lstrip()
        if begin and not any(start.startswith(begin) for start in (*STREAM_STARTS, BYTE_ORDER_MARK)):
            return begin
        if begin.startswith(STREAM_STARTS) or len(head) > BODY_HEAD:
            return begin
    return head.removeprefix(BYTE_ORDER_MARK).lstrip()


async def _events(chunks: AsyncIterator[bytes]) -> "AsyncGenerator[ServerSentEvent, None]":
    """The events of a stream. Raises BrokenStream for an event above `LONGEST_EVENT`.

    Lines are split here and decoded by the SDK, whose own splitting takes quadratic time in the length of an event.
    """
    from anthropic._streaming import SSEDecoder

    decoder, rest, size = SSEDecoder(), b"", 0
    async for chunk in chunks:
        lines = (rest + chunk).splitlines(keepends=True)
        # A trailing \r may be half a line break.
        rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        for line in lines:
            size += len(line)
            if (event := decoder.decode(line.rstrip(b"\r\n").decode())) is not None:
                size = 0
                yield event
        if size + len(rest) > LONGEST_EVENT:
            raise BrokenStream(f"an event is longer than {LONGEST_EVENT // 1024 // 1024} MB")
    for text in rest.splitlines():
        if (event := decoder.decode(text.decode())) is not None:
            yield event


async def _events_of_aws(events: "AsyncIterator[ServerSentEvent]") -> "AsyncGenerator[ServerSentEvent, None]":
    """The events of an AWS stream. Raises BrokenStream for data that is not JSON, which the SDK's decoder labels as an
    event of an older API."""
    async for event in events:
        if event.event == "completion":
            raise BrokenStream("an event is not JSON")
        yield event


async def _with_head(head: bytes, chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    yield head
    async for chunk in chunks:
        yield chunk


async def _at_most(size: int, head: bytes, chunks: AsyncIterator[bytes]) -> bytes:
    """The body, or its first `size` bytes."""
    body = bytearray(head)
    async for chunk in chunks:
        body += chunk
        if len(body) >= size:
            break
    return bytes(body)


def _message(body: bytes) -> Json | None:
    """The message in a body, or None."""
    try:
        found = json.loads(body, parse_int=_whole_number)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("type") == "message" else None


def _named(event: "ServerSentEvent") -> tuple[str, object]:
    """The name of an event, if necessary from its data, and the data, parsed for known events."""
    if event.event in _KNOWN_EVENTS:
        return event.event, json.loads(event.data, parse_int=_whole_number)
    if event.event == "error":
        return "error", _json_or_text(event.data)
    if event.event not in (None, "message") or not event.data.lstrip().startswith("{"):
        return "", event.data
    data = json.loads(event.data, parse_int=_whole_number)
    return "error" if "error" in data else str(data.get("type") or ""), data


def _object(name: str, data: object) -> Json:
    if not isinstance(data, dict):
        raise BrokenStream(f"the data of {name} is not a JSON object")
    return data


def _whole_number(digits: str) -> int | None:
    """The number, or None for one that is too long to be a count of anything; Python refuses to read or print it."""
    return int(digits) if len(digits) < 100 else None


def _json_or_text(data: str) -> object:
    try:
        return json.loads(data, parse_int=_whole_number)
    except (ValueError, RecursionError):
        return data
