"""The answer to one request: written to its connection, and summed up in a few words."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping

from harness.events import Json
from harness.practice.faults import model_faults
from harness.practice.faults.model_faults import StatusFault, StreamFault
from harness.practice.faults.player import (
    Act,
    FaultPlayer,
    Framing,
    ReplyEnd,
    Send,
    Silence,
    acts_before_headers,
    framing,
)
from harness.practice.wire import replies
from harness.practice.wire.connection import ClientConnection
from harness.practice.wire.prepared_reply import Prepared
from harness.practice.wire.replies import (
    ApiError,
    Frame,
    ScriptedReply,
    compact,
    error_body,
    frames,
    status_of,
    usual_message,
    usual_type,
)

Headers = Iterable[tuple[str, str]]


async def perform(connection: ClientConnection, acts: Iterator[Act]) -> None:
    """Do what a player says. Raises Disconnected after an act that closes the connection."""
    for act in acts:
        match act:
            case Send(data, each_byte):
                await connection.send(data, each_byte=each_byte)
            case Silence(seconds):
                await wait(connection, seconds)
            case ReplyEnd.FINISH:
                await connection.finish()
            case ReplyEnd.CUT:
                await connection.cut()
            case ReplyEnd.CLOSE:
                await connection.close()
            case ReplyEnd.RESET:
                await connection.reset()


async def perform_before_headers(connection: ClientConnection, fault: StreamFault | None) -> None:
    """The part of a fault that comes before any byte of the response."""
    await perform(connection, acts_before_headers(fault))


async def perform_stream(
    connection: ClientConnection,
    headers: Headers,
    events: AsyncIterator[Frame],
    fault: StreamFault | None,
    request_id: str,
) -> None:
    """A streamed reply, with its fault."""
    if fault is None:
        await connection.begin(200, headers, Framing.CHUNKED)
        async for event in events:
            await connection.send(event.encode())
        await connection.finish()
        return
    await connection.begin(200, headers, framing(fault))
    player = FaultPlayer(fault, request_id)
    async for event in events:
        await perform(connection, player.feed(event))
        if player.ended:
            return
    await perform(connection, player.finish())


async def perform_body(connection: ClientConnection, headers: Headers, body: bytes, fault: StreamFault | None) -> None:
    """A reply that is not streamed. Faults of events have no meaning here; those of the connection strike halfway."""
    half = body[: len(body) // 2]
    match fault:
        case model_faults.Reset() | model_faults.CutChunk() | model_faults.ShortLength() | model_faults.Stall():
            await connection.begin(200, headers, Framing.LENGTH, len(body))
            await connection.send(half)
            await _break_off(connection, fault)
            await connection.send(body[len(half) :])
            await connection.close()
        case model_faults.CleanEnd() | model_faults.BadJson():
            await connection.respond(200, headers, half)
        case model_faults.CloseDelimited():
            await connection.begin(200, headers, Framing.NONE)
            await connection.send(half)
            await connection.close()
        case model_faults.BadUtf8():
            await connection.respond(200, headers, half + b"\xff\xfe" + body[len(half) :])
        case _:
            await connection.respond(200, headers, body)


async def wait(connection: ClientConnection, seconds: float | None) -> None:
    """Send nothing for so many seconds; None: until the client goes away."""
    if seconds is None:
        await connection.closed.wait()
    else:
        await asyncio.sleep(seconds)


async def _break_off(connection: ClientConnection, fault: StreamFault) -> None:
    match fault:
        case model_faults.Reset():
            await connection.reset()
        case model_faults.Stall(seconds=seconds):
            await wait(connection, seconds)
        case _:
            await connection.close()


class ResponseWriter:
    """Writes the response to one request, and describes it in a few words."""

    def __init__(self, connection: ClientConnection, request_id: str) -> None:
        self._connection = connection
        self._request_id = request_id
        self.what = "no answer"
        self.completed = False
        self.said: ScriptedReply | None = None
        self.scripted: tuple[int, int] | None = None

    async def reply(self, body: Json) -> None:
        """Status 200 with a JSON body."""
        self.what = "200"
        await self._respond(200, body)

    async def refuse(self, error: ApiError) -> None:
        """A JSON error."""
        self.what = f"{error.status} {error.type}: {error.message}"
        await self._respond(error.status, error.body(self._request_id))

    async def fail(self, fault: StatusFault) -> None:
        """A scripted error."""
        type_ = fault.type or usual_type(fault.status)
        self.what = f"{fault.status} {type_}"
        if fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        content = fault.body
        if content is None:
            message = fault.message or usual_message(type_)
            content = compact(error_body(type_, message, self._request_id, fault.error_code))
        await self._write(fault.status, _content_type(fault), content.encode(), fault.headers)

    async def play(
        self, prepared: Prepared, fault: StreamFault | None, *, streamed: bool, begun: Callable[[], None] | None = None
    ) -> None:
        """A reply, with its fault. `begun` is called when its first byte is about to be sent."""
        self.what = "200" if fault is None else f"200 with {fault.kind}"
        reply, envelope = prepared.reply, prepared.envelope
        self.said = reply
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if fault is not None:
            await perform_before_headers(self._connection, fault)
        if begun is not None:
            begun()
        if streamed:
            await self.stream(_paced(frames(reply, envelope), reply.event_delay_s), fault)
        else:
            await self._play_whole(compact(replies.message(reply, envelope)).encode(), fault)
        self.completed = True

    async def stream(self, events: AsyncIterator[Frame], fault: StreamFault | None) -> None:
        """Events as they come, with a fault."""
        match fault:
            case model_faults.JsonBody() | model_faults.HtmlBody():
                await self.wrong_body(fault)
            case _:
                headers = self._headers("text/event-stream; charset=utf-8")
                await perform_stream(self._connection, headers, events, fault, self._request_id)

    async def _play_whole(self, body: bytes, fault: StreamFault | None) -> None:
        match fault:
            case model_faults.JsonBody() | model_faults.HtmlBody():
                await self.wrong_body(fault)
            case model_faults.ErrorEvent(type=type_):
                error = ApiError(status_of(type_), fault.message or usual_message(type_), type_, fault.error_code)
                await self.refuse(error)
            case _:
                await perform_body(self._connection, self._headers("application/json"), body, fault)

    async def wrong_body(self, fault: model_faults.JsonBody | model_faults.HtmlBody) -> None:
        """Status 200, and something that is neither a stream nor a message."""
        match fault:
            case model_faults.JsonBody(type_, message):
                await self._respond(200, error_body(type_, message, self._request_id))
            case model_faults.HtmlBody(body):
                await self._write(200, "text/html; charset=utf-8", body.encode())

    async def _respond(self, status: int, body: Json) -> None:
        await self._write(status, "application/json", compact(body).encode())

    async def _write(self, status: int, content_type: str, body: bytes, more: Mapping[str, str] | None = None) -> None:
        own = dict(self._headers(content_type))
        given = {name.lower(): value for name, value in (more or {}).items()}
        await self._connection.respond(status, (own | given).items(), body)
        self.completed = True

    def _headers(self, content_type: str) -> list[tuple[str, str]]:
        return [("content-type", content_type), ("request-id", self._request_id)]


async def _paced(events: Iterable[Frame], delay_s: float) -> AsyncIterator[Frame]:
    for count, event in enumerate(events):
        if delay_s and count:
            await asyncio.sleep(delay_s)
        yield event


def _content_type(fault: StatusFault) -> str:
    if fault.content_type is not None:
        return fault.content_type
    if fault.body is None:
        return "application/json"
    return "text/html; charset=utf-8" if fault.body.lstrip().startswith("<") else "text/plain; charset=utf-8"
