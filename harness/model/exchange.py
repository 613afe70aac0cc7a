"""One request on the wire: sent, read to its end, and turned into one reply or one fault."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from harness.events import Event, Fault, FaultKind, Json, Outcome
from harness.model.accumulator import Accumulator, BrokenStream
from harness.model.classify import classify, classify_stream_error, not_a_stream
from harness.model.patience import Cause, Ended, Patience
from harness.model.sdk import Line, wire_tracer

if TYPE_CHECKING:
    import httpx2
    from anthropic._streaming import ServerSentEvent

DRAIN_S = 0.5
"""How long a finished stream may take to end, so that its connection can be used again (api R14)."""
BODY_HEAD = 64 * 1024
"""Bytes read of a success that is no stream, to say what it is."""

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


class Exchange:
    """One POST and its answer. `run` may be cancelled at any await; what arrived until then stays readable."""

    def __init__(self, line: Line, body: Json, emit: Callable[[Event], None], patience: Patience) -> None:
        self._line = line
        self._body = body
        self._emit = emit
        self._patience = patience
        self._accumulator = Accumulator()
        self._streamed = False
        self._request_id: str | None = None
        self._connected = False
        self._sent = False

    async def run(self) -> Outcome:
        """Send the request and read the answer to its end. Raises nothing that the server or the network did."""
        token = wire_tracer.set(self._trace)
        try:
            response = await self._opened()
        except Exception as error:  # noqa: BLE001 (the border: all that the SDK raises becomes one fault here)
            return self._failed(classify(error, streamed=False, reused_socket=self._sent and not self._connected))
        finally:
            wire_tracer.reset(token)
        try:
            self._request_id = response.headers.get("request-id")
            content_type = response.headers.get("content-type", "")
            if not content_type.lower().startswith("text/event-stream"):
                return await self._refused(response, content_type)
            self._streamed = True
            self._patience.on_headers()
            return await self._read(response)
        finally:
            await response.aclose()

    def given_up(self, ended: Ended) -> Outcome:
        """What the exchange amounts to after its `run` was cancelled."""
        if self._accumulator.complete:
            return self._accumulator.reply(self._request_id)
        return self._failed(fault_of(ended), open_text=ended.cause in (Cause.INTERRUPT, Cause.ENOUGH))

    async def _opened(self) -> "httpx2.Response":
        import httpx2
        from anthropic import AsyncStream

        # post() instead of messages.create(): the same request, without its deprecation warnings on stderr.
        # With cast_to=Response the SDK hands over the open response and makes no stream of it.
        response: object = await self._line.sdk.post(
            "/v1/messages", cast_to=httpx2.Response, body=self._body, stream=True, stream_cls=AsyncStream[object]
        )
        return cast("httpx2.Response", response)

    async def _refused(self, response: "httpx2.Response", content_type: str) -> Fault:
        head = b""
        try:
            async for chunk in response.aiter_bytes():
                head += chunk
                if len(head) >= BODY_HEAD:
                    break
        except Exception as error:  # noqa: BLE001 (the border, as above)
            return self._failed(classify(error, streamed=False))
        server = response.headers.get("server", "")
        return self._failed(not_a_stream(content_type, response.status_code, head[:BODY_HEAD], server))

    async def _read(self, response: "httpx2.Response") -> Outcome:
        from anthropic._streaming import SSEDecoder

        async with aclosing(self._chunks(response)) as chunks:
            events = SSEDecoder().aiter_bytes(chunks)
            while True:
                try:
                    event = await anext(events, None)
                except Exception as error:  # noqa: BLE001 (the border, as above)
                    return self._failed(classify(error, streamed=True))
                if event is None:
                    return self._failed(self._ended_early())
                if event.event == "error":
                    return self._failed(classify_stream_error(_json_or_text(event.data), self._request_id))
                if event.event not in _KNOWN_EVENTS:
                    continue
                try:
                    shown = self._accumulator.feed(event.event, _object(event))
                except (BrokenStream, ValueError, RecursionError) as error:
                    return self._failed(classify(error, streamed=True))
                self._patience.on_event(self._accumulator.phase)
                if shown is not None:
                    self._emit(shown)
                if event.event == "message_stop":
                    break
            if not self._accumulator.complete:
                return self._failed(self._ended_early())
            await _drained(chunks)
        return self._accumulator.reply(self._request_id)

    async def _chunks(self, response: "httpx2.Response") -> AsyncGenerator[bytes, None]:
        async for chunk in response.aiter_bytes():
            self._patience.on_bytes()
            yield chunk

    def _ended_early(self) -> Fault:
        if not self._accumulator.started:
            return Fault(FaultKind.MALFORMED_RESPONSE, "the stream ended before a message began")
        return Fault(FaultKind.NETWORK, "the stream ended before the reply was complete")

    def _failed(self, fault: Fault, *, open_text: bool = False) -> Fault:
        """The fault with everything that is known about the exchange."""
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


def fault_of(ended: Ended) -> Fault:
    """The fault that a wait which was ended stands for."""
    match ended.cause:
        case Cause.INTERRUPT:
            return Fault(FaultKind.CANCELLED, ended.reason)
        case Cause.RECONNECT:
            return Fault(FaultKind.TIMEOUT, ended.reason, error_code="reconnect_asked")
        case Cause.ENOUGH:
            return Fault(FaultKind.REPETITION, ended.reason)
        case Cause.SILENCE:
            return Fault(FaultKind.TIMEOUT, ended.reason)


async def _drained(chunks: AsyncIterator[bytes]) -> None:
    """Read to the end of the body. The reply is complete, so whatever goes wrong now does not matter (api R14)."""
    import httpx2

    try:
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                continue
    except (httpx2.HTTPError, OSError):
        return


def _object(event: "ServerSentEvent") -> Json:
    data = json.loads(event.data)
    if not isinstance(data, dict):
        raise BrokenStream(f"the data of {event.event} is not a JSON object")
    return data


def _json_or_text(data: str) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data
