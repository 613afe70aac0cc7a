"""A server that plays bytes: for what happens below HTTP, where the practice server is too well-behaved."""

import asyncio
import json
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from harness.events import Json

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_1\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def sse(name: str, data: Json) -> bytes:
    """One server-sent event as a chunk."""
    return chunk(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())


PING = sse("ping", {"type": "ping"})
MESSAGE_START = sse("message_start", {"message": {"model": "m", "usage": {"input_tokens": 3}}})
TEXT_START = sse("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}})
TEXT = sse("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "hello"}})
TEXT_STOP = sse("content_block_stop", {"index": 0})
THINKING_START = sse("content_block_start", {"index": 0, "content_block": {"type": "thinking", "thinking": ""}})
ENDING = sse("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}})
MESSAGE_STOP = sse("message_stop", {})
BEGUN = HEAD + MESSAGE_START + TEXT_START + TEXT
STOPPED = BEGUN + TEXT_STOP + ENDING + MESSAGE_STOP
WHOLE = STOPPED + END


@dataclass
class Request:
    """A request that arrived."""

    port: int
    """The client's port; identifies the connection."""
    headers: dict[str, str]
    body: Json
    path: str = "/v1/messages"
    method: str = "POST"


@dataclass
class ByteServer:
    """Answers each POST with what `respond` writes. Open as an async context manager."""

    respond: Callable[[asyncio.StreamWriter, int], Awaitable[None]]
    """Gets the writer and the number of the request, from 1; the connection stays open afterwards."""
    ssl_context: ssl.SSLContext | None = None
    requests: list[Request] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """A request has arrived."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """A client has closed its connection."""
    gone_at: float = 0.0

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self.ssl_context)
        return self

    async def __aexit__(
        self, type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http{'s' if self.ssl_context else ''}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering: asyncio.Task[None] | None = None
        try:
            while True:
                self.requests.append(await _request(reader, writer))
                self.arrived.set()
                answering = asyncio.create_task(self._answer(writer, len(self.requests)))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone_at = time.monotonic()
            self.gone.set()
        finally:
            if answering is not None:
                answering.cancel()
                await asyncio.gather(answering, return_exceptions=True)
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, number: int) -> None:
        await self.respond(writer, number)
        await writer.drain()


async def _request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request:
    method, path, headers, body = await http_request(reader)
    return Request(writer.get_extra_info("peername")[1], headers, json.loads(body or b"{}"), path, method)


async def http_request(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes]:
    """Method, path, headers and body of the next request. Raises IncompleteReadError at the end of the connection."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")
    method, path, _version = first.split(" ", 2)
    fields = dict(line.split(": ", 1) for line in lines if line)
    headers = {name.lower(): value for name, value in fields.items()}
    return method, path, headers, await reader.readexactly(int(headers.get("content-length", 0)))


def reset(writer: asyncio.StreamWriter) -> None:
    """End the connection with RST."""
    transport = writer.transport
    assert isinstance(transport, asyncio.WriteTransport)
    transport.abort()


def playing(data: bytes) -> Callable[[asyncio.StreamWriter, int], Awaitable[None]]:
    """A `respond` that writes the same bytes each time."""

    async def respond(writer: asyncio.StreamWriter, _number: int) -> None:
        writer.write(data)

    return respond
