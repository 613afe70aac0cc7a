"""A proxy in front of a real Messages API that puts faults into its traffic.

    async with FaultProxy("https://api.anthropic.com", script=Script(chance=Chance(0.2))) as proxy:
        client = AsyncAnthropic(base_url=proxy.base_url, max_retries=0)

Everything else passes byte for byte, streams as they arrive. A status fault is answered without
asking the upstream server; a stream fault strikes at the chosen event of its reply. An entry of the
script that has content is answered by the proxy itself. Credentials pass through and are never kept.
"""

import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from harness.base.errors import HarnessError
from harness.practice.faults import model_faults
from harness.practice.faults.model_faults import StatusFault, StreamFault
from harness.practice.faults.player import Framing
from harness.practice.script import Script
from harness.practice.script.entries import PlayReply
from harness.practice.script.playback import Playback
from harness.practice.wire.connection import ClientConnection, HttpRequest
from harness.practice.wire.listener import LOOPBACK, Address, Listener, body_of
from harness.practice.wire.prepared_reply import ByteCounter, prepare
from harness.practice.wire.recorded import RecordedExchange, RecordedRequest
from harness.practice.wire.replies import ApiError, Frame, FrameReader, usual_message
from harness.practice.wire.response import ResponseWriter, perform_before_headers, perform_body, perform_stream

if TYPE_CHECKING:
    import httpx2

_HOP_BY_HOP = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)
_SECRET = frozenset({"authorization", "x-api-key", "cookie", "proxy-authorization"})
_OF_THE_CLIENT = frozenset({"host", "content-length", "accept-encoding"})
"""Headers of a request that the proxy sets itself: it asks for plain text, or it could not find the events."""


class UpstreamError(HarnessError):
    """The address of the upstream server cannot be used."""

    exit_code = 2


class FaultProxy(Listener):
    """A Messages API with faults, in front of one without. Use it as an async context manager."""

    def __init__(
        self,
        upstream: str,
        *,
        script: Script | None = None,
        address: Address = LOOPBACK,
        remember: int = 1000,
        on_exchange: Callable[[RecordedExchange], None] | None = None,
    ) -> None:
        """`upstream` is a base URL, http or https. Only the list and the chance of a script count here, not its rules.

        Raises UpstreamError when `upstream` is not such an address.
        """
        super().__init__(address)
        self._upstream = _checked(upstream)
        self._script = script or Script()
        self._playback = Playback(self._script)
        self._requests: deque[RecordedRequest] = deque(maxlen=remember)
        self._on_exchange = on_exchange
        self._client: httpx2.AsyncClient

    @property
    def requests(self) -> list[RecordedRequest]:
        """The requests so far, oldest first, without credentials."""
        return list(self._requests)

    async def __aenter__(self) -> Self:
        import httpx2

        loopback = urlsplit(self._upstream).hostname in ("127.0.0.1", "::1", "localhost")
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=10),
            limits=httpx2.Limits(keepalive_expiry=90),
            trust_env=not loopback,
        )
        return await super().__aenter__()

    async def __aexit__(
        self, type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(type, error, trace)
        finally:
            await self._client.aclose()

    async def answer(self, connection: ClientConnection, request: HttpRequest) -> None:
        """Answer one request."""
        body = body_of(request)
        headers = {name: "•••" if name in _SECRET else value for name, value in request.headers}
        recorded = RecordedRequest(
            path=request.path,
            method=request.method,
            headers=headers,
            body={} if isinstance(body, ApiError) else body,
            connection_id=connection.id,
            at=time.monotonic(),
        )
        self._requests.append(recorded)
        answer = ResponseWriter(connection, f"req_{uuid.uuid4().hex[:24]}")
        try:
            await self._route(answer, connection, request, recorded)
        finally:
            if self._on_exchange is not None:
                spent = time.monotonic() - recorded.at
                self._on_exchange(RecordedExchange(recorded, answer.what, answer.completed, spent))

    async def answer_defect(self, connection: ClientConnection, defect: Exception) -> None:
        """Status 500 that names the defect."""
        if connection.response_begun:
            await connection.reset()
        await ResponseWriter(connection, "req_defect").refuse(ApiError(500, f"proxy: {defect!r}", "api_error"))

    async def _route(
        self, answer: ResponseWriter, connection: ClientConnection, request: HttpRequest, recorded: RecordedRequest
    ) -> None:
        if (refused := self.refusal(request)) is not None:
            return await answer.refuse(refused)
        if request.too_large:
            return await answer.refuse(ApiError(413, usual_message("request_too_large"), "request_too_large"))
        if (request.method, request.path) != ("POST", "/v1/messages") or not recorded.body.get("messages"):
            return await self._forward(answer, connection, request, None)
        match self._playback.next(recorded.body):
            case ApiError() as error:
                return await answer.refuse(error)
            case StatusFault() as failure:
                return await answer.fail(failure)
            case PlayReply(None, fault):
                return await self._forward(answer, connection, request, fault)
            case PlayReply(reply, fault) if reply is not None:
                prepared = prepare(reply, recorded.body, ByteCounter())
                return await answer.play(prepared, fault, streamed=recorded.body.get("stream") is True)

    async def _forward(
        self, answer: ResponseWriter, connection: ClientConnection, request: HttpRequest, fault: StreamFault | None
    ) -> None:
        import httpx2

        await perform_before_headers(connection, fault)
        if isinstance(fault, model_faults.JsonBody | model_faults.HtmlBody):
            return await answer.wrong_body(fault)
        try:
            async with self._client.stream(
                request.method, self._upstream + request.target, headers=_passed_on(request), content=request.body
            ) as response:
                answer.what = f"{response.status_code}" + (f" with {fault.kind}" if fault else "")
                await self._relay(connection, response, fault)
                answer.completed = True
        except httpx2.TransportError as error:
            if connection.response_begun:
                answer.what += f", upstream broke off: {error!r}"
                await connection.cut()
            else:
                await answer.refuse(
                    ApiError(502, f"proxy: no answer from upstream: {type(error).__name__}", "api_error")
                )

    async def _relay(
        self, connection: ClientConnection, response: "httpx2.Response", fault: StreamFault | None
    ) -> None:
        headers = _answered(response)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            body = b"".join([piece async for piece in response.aiter_raw()])
            if response.status_code == 200:
                return await perform_body(connection, headers, body, fault)
            return await connection.respond(response.status_code, headers, body)
        if fault is not None and response.status_code == 200:
            request_id = response.headers.get("request-id", "")
            return await perform_stream(connection, headers, _events(response), fault, request_id)
        await connection.begin(response.status_code, headers, Framing.CHUNKED)
        async for piece in response.aiter_raw():
            await connection.send(piece)
        return await connection.finish()


async def _events(response: "httpx2.Response") -> AsyncIterator[Frame]:
    reader = FrameReader()
    async for piece in response.aiter_raw():
        for event in reader.feed(piece):
            yield event
    if reader.rest:
        yield Frame(None, "", reader.rest)


def _passed_on(request: HttpRequest) -> list[tuple[str, str]]:
    kept = _without(request.headers, _HOP_BY_HOP | _OF_THE_CLIENT)
    return [*kept, ("accept-encoding", "identity")]


def _answered(response: "httpx2.Response") -> list[tuple[str, str]]:
    return _without(response.headers.multi_items(), _HOP_BY_HOP | {"content-length"})


def _without(headers: Iterable[tuple[str, str]], names: frozenset[str]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() not in names]


def _checked(upstream: str) -> str:
    parts = urlsplit(upstream)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UpstreamError(f"upstream {upstream!r} is not an address; give one such as https://api.anthropic.com.")
    if parts.username or parts.password:
        raise UpstreamError("the upstream address holds a password; give the key in the client's settings instead.")
    return upstream.rstrip("/")
