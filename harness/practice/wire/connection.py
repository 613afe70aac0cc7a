"""One connection: HTTP/1.1 by h11 as long as it is proper, bare bytes where a fault needs them.

The transport is in hand. A client that goes away cancels the task that serves it, at once, whatever it
is waiting for.
"""

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qsl

import h11

from harness.practice.faults.player import Framing
from harness.practice.wire.recorded import ResponseRecorder

MAX_BODY = 32 * 1024 * 1024
"""Bytes. The API takes no larger request."""
MOST_UNREAD = 256 * 1024
"""Bytes that may wait in memory while a reply is on its way; then nothing more is read."""
IDLE_S = 600.0
"""Seconds that a connection may stay open between requests."""
REQUEST_S = 120.0
"""Seconds that a request may take to arrive, its body included."""
LINGER_S = 2.0
"""Seconds that a client which sends too much is listened to after its answer."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it came in."""

    method: str
    target: str
    """Path and query."""
    headers: tuple[tuple[str, str], ...]
    """Names in lower case, in the order of the request."""
    body: bytes
    """Empty when it was larger than `MAX_BODY`."""
    too_large: bool = False

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the target's query; of several with one name the last."""
        return dict(parse_qsl(self.target.partition("?")[2]))

    def joined_headers(self) -> dict[str, str]:
        """The headers; several of one name are one, with commas between."""
        joined: dict[str, str] = {}
        for name, value in self.headers:
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return joined

    def header(self, name: str) -> str | None:
        """The first header of this name, which must be lower case."""
        return next((value for key, value in self.headers if key == name), None)


class Disconnected(ConnectionError):  # noqa: N818 (what happened, not a mistake)
    """The client is gone."""


class BadRequest(Exception):  # noqa: N818 (the client's mistake, in HTTP's own words)
    """The client sent something that is not HTTP/1.1."""


Headers = Iterable[tuple[str, str]]


class Dialect(Protocol):
    """The form of an answer on a platform that does not write it as the Messages API does."""

    def response(self, status: int, headers: Headers, body: bytes) -> tuple[int, Headers, bytes]:
        """A whole response."""
        ...

    def head(self, headers: Headers) -> Headers:
        """The headers of a response whose body follows in pieces."""
        ...

    def piece(self, data: bytes) -> bytes:
        """A piece of the body."""
        ...


class ClientConnection(asyncio.Protocol):
    """A client's connection. `serve` runs for as long as the client is there."""

    def __init__(
        self,
        id: int,
        serve: Callable[["ClientConnection"], Coroutine[None, None, None]],
        over: Callable[["ClientConnection"], None],
    ) -> None:
        """`serve` talks with the client; `over` is called once the socket is closed and `serve` has ended."""
        self.id = id
        self.task: asyncio.Task[None] | None = None
        self.closed = asyncio.Event()
        self.dialect: Dialect | None = None
        """Of the request that is being answered."""
        self.recorder: ResponseRecorder | None = None
        """Records the response that is being sent."""
        self._serve = serve
        self._over = over
        self._http = h11.Connection(h11.SERVER)
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._transport: asyncio.Transport
        self._abandoned = False
        self._unread = 0
        self._paused = False
        self._discarding = False
        """Whether the rest of an oversized request is being read and dropped."""
        self._framing = Framing.CHUNKED
        self._head_only = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if self._abandoned:
            transport.abort()
            return
        transport.set_write_buffer_limits(0)
        self._writable.set()
        self.task = asyncio.get_running_loop().create_task(self._serve(self))
        self.task.add_done_callback(lambda task: self._end_if_over())

    def data_received(self, data: bytes) -> None:
        """Called by the loop."""
        if self._discarding:
            return
        self._http.receive_data(data)
        self._unread += len(data)
        if self._unread > MOST_UNREAD and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._arrived.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        self.closed.set()
        self._writable.set()
        if self.task is not None and self.task is not asyncio.current_task():
            self.task.cancel()
        self._end_if_over()

    def pause_writing(self) -> None:
        """Called by the loop."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Called by the loop."""
        self._writable.set()

    async def receive(self) -> HttpRequest:
        """The next request, its body included; of one that is too large only the head.

        Raises Disconnected when the client has gone or is silent, BadRequest when it does not speak HTTP or takes too
        long.
        """
        if self._discarding:
            await self._linger()
        if self._http.our_state is h11.MUST_CLOSE or self._http.their_state is h11.MUST_CLOSE:
            raise Disconnected
        if self._http.our_state is h11.DONE:
            self._http.start_next_cycle()
        if not self._http.trailing_data[0]:
            await self._more(IDLE_S)
        try:
            async with asyncio.timeout(REQUEST_S):
                return await self._request()
        except TimeoutError as error:
            raise BadRequest(f"a request took longer than {REQUEST_S:g} s to arrive") from error

    async def _request(self) -> HttpRequest:
        head = await self._next_event()
        if not isinstance(head, h11.Request):
            raise Disconnected
        self._head_only = head.method == b"HEAD"
        announced = next((int(value) for name, value in head.headers if name == b"content-length"), 0)
        body, size = bytearray(), announced
        if announced <= MAX_BODY:
            body, size = await self._body()
        if size > MAX_BODY:
            self._discarding = True
            self._resume()
        return HttpRequest(
            method=head.method.decode(),
            target=head.target.decode(),
            headers=tuple((name.decode(), value.decode("latin-1")) for name, value in head.headers),
            body=bytes(body) if size <= MAX_BODY else b"",
            too_large=size > MAX_BODY,
        )

    async def _body(self) -> tuple[bytearray, int]:
        """The body and its size. One that grows over `MAX_BODY` is not read on."""
        if self._http.they_are_waiting_for_100_continue:
            self._write(self._http.send(h11.InformationalResponse(status_code=100, headers=[])))
        body = bytearray()
        while isinstance(event := await self._next_event(), h11.Data):
            if len(body) + len(event.data) > MAX_BODY:
                return bytearray(), MAX_BODY + 1
            body += event.data
        return body, len(body)

    async def respond(self, status: int, headers: Headers, body: bytes) -> None:
        """A whole response. Where HTTP allows no body, none is sent."""
        if self.dialect is not None:
            status, headers, body = self.dialect.response(status, headers, body)
        body = b"" if status in (204, 304) or self._head_only else body
        fields = [*headers, ("content-length", str(len(body)))]
        if self._discarding:
            fields.append(("connection", "close"))
        self._record(status, fields)
        self._write(self._http.send(h11.Response(status_code=status, headers=fields)))
        self._record_piece(body)
        self._write(self._http.send(h11.Data(data=body)))
        self._write(self._http.send(h11.EndOfMessage()))
        await self._drain()

    @property
    def response_begun(self) -> bool:
        """A response is on its way, so that no other can be sent."""
        return self._framing is not Framing.CHUNKED or self._http.our_state is not h11.SEND_RESPONSE

    async def begin(self, status: int, headers: Headers, framing: Framing, length: int = 10_000_000) -> None:
        """The head of a response whose body follows by `send`. `length` is announced where the framing has one."""
        self._framing = framing
        headers = headers if self.dialect is None else self.dialect.head(headers)
        match framing:
            case Framing.CHUNKED:
                fields = [*headers, ("transfer-encoding", "chunked")]
                self._record(status, fields)
                self._write(self._http.send(h11.Response(status_code=status, headers=fields)))
            case Framing.LENGTH:
                fields = [*headers, ("content-length", str(length))]
                self._record(status, fields)
                self._write(_head(status, fields))
            case Framing.NONE:
                fields = [*headers, ("connection", "close")]
                self._record(status, fields)
                self._write(_head(status, fields))
        await self._drain()

    async def send(self, data: bytes, *, each_byte: bool = False) -> None:
        """A piece of the body, or each byte as one, handed to the kernel before this returns. Other tasks get their
        turn."""
        data = data if self.dialect is None else self.dialect.piece(data)
        for piece in (bytes((byte,)) for byte in data) if each_byte else (data,):
            self._write(self._http.send(h11.Data(data=piece)) if self._framing is Framing.CHUNKED else piece)
            self._record_piece(piece)
        await asyncio.sleep(0)
        await self._drain()

    async def finish(self) -> None:
        """The body's proper end."""
        if self._framing is Framing.CHUNKED:
            self._write(self._http.send(h11.EndOfMessage()))
            await self._drain()
        else:
            await self.close()

    async def cut(self) -> None:
        """Begin a chunk, and close the connection within it."""
        piece = b"event: content_block_delta\ndata: {"
        self._write(b"40\r\n" + piece)
        self._record_piece(piece)
        await self.close()

    async def close(self) -> None:
        """Close the connection (FIN) once all is written."""
        await self._drain()
        self._transport.close()
        raise Disconnected

    async def reset(self) -> None:
        """Reset the connection (RST)."""
        await self._drain()
        linger = struct.pack("ii", 1, 0)
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._transport.abort()
        raise Disconnected

    def leave(self) -> None:
        """Close, unless it is closed; pending data is still sent."""
        self._transport.close()

    def abandon(self) -> None:
        """Close without waiting for anything; also a connection that is accepted and not yet made."""
        self._abandoned = True
        if self.task is not None:
            self._transport.abort()

    def _end_if_over(self) -> None:
        if self.closed.is_set() and self.task is not None and self.task.done():
            self._over(self)

    async def _next_event(self) -> object:
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                raise BadRequest(str(error)) from error
            if event is h11.NEED_DATA:
                await self._more(None)
            elif event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                raise Disconnected
            else:
                return event

    async def _more(self, patience_s: float | None) -> None:
        """Wait for the next bytes. Raises Disconnected when none come for so many seconds."""
        self._unread = 0
        self._resume()
        self._arrived.clear()
        try:
            async with asyncio.timeout(patience_s):
                await self._arrived.wait()
        except TimeoutError:
            raise Disconnected from None

    def _resume(self) -> None:
        if self._paused:
            self._paused = False
            self._transport.resume_reading()

    async def _linger(self) -> None:
        """Let a client that still sends read the answer: closed at once, the connection would be reset and it lost."""
        if self._transport.can_write_eof():
            self._transport.write_eof()
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_S):
                await self.closed.wait()
        raise Disconnected

    def _record(self, status: int, headers: Headers) -> None:
        if self.recorder is not None:
            self.recorder.begin(status, headers)

    def _record_piece(self, data: bytes) -> None:
        if self.recorder is not None:
            self.recorder.add(data)

    def _write(self, data: bytes | None) -> None:
        if self._transport.is_closing():
            raise Disconnected
        if data:
            self._transport.write(data)

    async def _drain(self) -> None:
        await self._writable.wait()
        if self.closed.is_set():
            raise Disconnected


def _head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status} OK", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
