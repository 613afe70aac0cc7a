"""The SDK and its connections.

Importing `anthropic` takes most of a second, so it happens in a thread while the program starts. Response bodies are
decompressed here, in pieces of bounded size and up to a limit: a few megabytes of gzip can become gigabytes, and the
HTTP library decompresses each chunk of the wire as a whole.
"""

import asyncio
import importlib
import logging
import os
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from harness.base.collector import imports_kept
from harness.model.endpoint import Endpoint, KeyHeader, Platform
from harness.model.lazy_sdk import import_lazily

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic, AsyncAnthropicBedrock, AsyncAnthropicFoundry, AsyncAnthropicVertex, Omit

    Sdk = AsyncAnthropic | AsyncAnthropicBedrock | AsyncAnthropicVertex | AsyncAnthropicFoundry


PIECE = 64 * 1024
"""Bytes unpacked at a time."""
MOST_OF_ERROR = 256 * 1024
"""Limit in bytes for the body of an error."""
MOST_OF_BODY = 64 * 1024 * 1024
"""Limit in bytes for the body of a success: twice the events of the longest reply."""
ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS


class BodyTooLong(Exception):  # noqa: N818 (what happened, not a mistake of ours)
    """The body of a success exceeds the limit."""


class UnreadableBody(Exception):  # noqa: N818 (as above)
    """The body has an encoding that was not requested, or is damaged."""


async def bound(response: "httpx2.Response") -> None:
    """Response hook of an HTTP client: the response returns its body decompressed and bounded.

    The body of an error ends after `MOST_OF_ERROR`; that of a success raises BodyTooLong after `MOST_OF_BODY`. Any
    encoding not in `ENCODINGS`, or several, raise UnreadableBody.
    """
    from httpx2 import AsyncByteStream

    assert isinstance(response.stream, AsyncByteStream)
    wire: AsyncByteStream = response.stream
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    whole = response.is_success

    class Bounded(AsyncByteStream):
        async def __aiter__(self) -> AsyncGenerator[bytes, None]:
            size, most = 0, MOST_OF_BODY if whole else MOST_OF_ERROR
            async for piece in _unpacked(encoding, aiter(wire)):
                size += len(piece)
                if size > most and whole:
                    raise BodyTooLong(f"the body is longer than {most // 1024 // 1024} MB")
                yield piece
                if size > most:
                    return

        async def aclose(self) -> None:
            await wire.aclose()

    response.stream = Bounded()


async def _unpacked(encoding: str, wire: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    if encoding in ("", "identity"):
        async for data in wire:
            yield data
        return
    if encoding not in ENCODINGS:
        raise UnreadableBody(f"the body is encoded as {encoding!r}, which was not requested")
    unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)
    begun = False
    async for data in wire:
        if not begun and encoding == "deflate" and not _has_zlib_head(data):
            unpacker = zlib.decompressobj(-zlib.MAX_WBITS)  # some servers send raw deflate
        begun = True
        try:
            for piece in _pieces(unpacker, data):
                yield piece
                await asyncio.sleep(0)  # a chunk can hold thousands of pieces
        except zlib.error as error:
            raise UnreadableBody(f"the body is not {encoding}: {error}") from error
        if unpacker.eof:
            return


def _pieces(unpacker: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    while data or not unpacker.eof:
        piece = unpacker.decompress(data, PIECE)
        data = unpacker.unconsumed_tail
        if piece:
            yield piece
        if not data and len(piece) < PIECE:
            return


def _has_zlib_head(data: bytes) -> bool:
    return len(data) > 1 and data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0


CONNECT_S = 10.0
WRITE_S = 60.0
POOL_S = 10.0
KEEPALIVE_S = 90.0
"""Idle connections are kept this long, which is longer than most tools run."""

_LOGGERS = ("anthropic", "httpx2", "httpcore2")
_NO_KEY_NEEDED = "no-key-needed"
_PLAIN = {"accept-encoding": "identity"}


REDIRECTS = 5
"""Redirects followed for one request, all on the server itself."""


class CertificatesUnusable(Exception):  # noqa: N818 (what happened, not a mistake of ours)
    """The certificates named in the environment cannot be read."""


class RedirectedAway(Exception):  # noqa: N818 (as above)
    """The server redirects to another scheme, host or port; nothing was sent there."""


Tracer = Callable[[str, dict[str, Any]], Awaitable[None]]
"""Receives what happens on the wire: a name such as "connection.connect_tcp.started", and details."""

wire_tracer: ContextVar[Tracer | None] = ContextVar("wire_tracer", default=None)
"""Tracer for the requests of the current task, used by every HTTP client created here."""


@dataclass(slots=True)
class SdkClient:
    """A client of the SDK with its connection pool."""

    sdk: "Sdk"
    users: int = 0
    """Running requests."""
    retired: bool = False
    """Accepts no new requests; the last running one closes it."""

    async def close_if_unused(self) -> None:
        """Close the connections once it is retired and has no running requests."""
        if self.retired and not self.users:
            await self.sdk.close()


class SdkClientFactory:
    """Creates clients for one endpoint. Call `prepare` first, which takes about a second; `build` is quick."""

    def __init__(self, endpoint: Endpoint, log: logging.Logger | None, *, lazy: bool = True) -> None:
        """`lazy`: import only those parts of the SDK that a request uses (`lazy_sdk`)."""
        self._endpoint = endpoint
        self._log = log
        self._lazy = lazy
        self._ssl_context: ssl.SSLContext | None = None

    @property
    def is_quick(self) -> bool:
        """Everything is imported and no certificates have to be read, so a thread is not worth starting."""
        plain = self._endpoint.platform is Platform.ANTHROPIC and not self._endpoint.encrypted
        return plain and _warmed.cache_info().currsize > 0

    def prepare(self) -> None:
        """Import everything that a request needs. Must first run in a thread without an event loop."""
        load(self._log, lazy=self._lazy)
        _warmed()
        _load_platform(self._endpoint.platform)

    def build(self) -> SdkClient:
        """A client without connections yet."""
        client = self._client()
        # ANTHROPIC_CUSTOM_HEADERS is meant for a gateway elsewhere; the SDK has no switch for it.
        kept = {} if self._endpoint.is_loopback else dict(client._custom_headers)
        client._custom_headers = kept | self._headers()  # type: ignore[assignment]  # an Omit takes a header out
        client.platform_headers()
        return SdkClient(client)

    def _client(self) -> "Sdk":
        import anthropic

        endpoint = self._endpoint
        # Passed explicitly even where none is needed, so that the SDK takes none from the environment.
        key = endpoint.credential.reveal() if endpoint.credential is not None else _NO_KEY_NEEDED
        shared: dict[str, Any] = {
            "base_url": endpoint.base_url,
            "max_retries": 0,
            "timeout": _timeouts(),
            "http_client": self._http_client(),
            "open_telemetry": False,
        }
        match endpoint.platform:
            case Platform.ANTHROPIC:
                return anthropic.AsyncAnthropic(api_key=key, **shared)
            case Platform.BEDROCK:
                token = None if endpoint.api_key is None else key
                return anthropic.AsyncAnthropicBedrock(aws_region=endpoint.region, api_key=token, **shared)
            case Platform.VERTEX:
                return anthropic.AsyncAnthropicVertex(region=endpoint.region, project_id=endpoint.project, **shared)
            case Platform.FOUNDRY:
                return anthropic.AsyncAnthropicFoundry(api_key=key, **shared)

    def _headers(self) -> "dict[str, str | Omit]":
        """The headers of the settings, and the key where its header differs from the SDK's."""
        from anthropic import Omit

        endpoint = self._endpoint
        headers: dict[str, str | Omit] = {header.name: header.value.reveal() for header in endpoint.headers}
        if endpoint.version is not None:
            headers["anthropic-version"] = endpoint.version
        by_name = endpoint.platform is Platform.ANTHROPIC and endpoint.key_header is KeyHeader.X_API_KEY
        if by_name and endpoint.api_key is not None:
            headers |= {"Authorization": Omit(), "X-Api-Key": endpoint.api_key.reveal()}
        return headers

    def _http_client(self) -> "httpx2.AsyncClient":
        import httpx2
        from anthropic import DefaultAsyncHttpxClient

        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=KEEPALIVE_S)
        if self._ssl_context is None:
            self._ssl_context = _certificates() if self._endpoint.encrypted else _checking_nothing()
        shared: dict[str, Any] = {
            "verify": self._ssl_context,
            "limits": limits,
            "timeout": _timeouts(),
            "event_hooks": {"request": [self._stay, _attach_tracer], "response": [bound]},
            "headers": _PLAIN,
            "follow_redirects": True,
            "max_redirects": REDIRECTS,
        }
        if self._endpoint.is_loopback:
            return httpx2.AsyncClient(trust_env=False, **shared)
        return DefaultAsyncHttpxClient(**shared)

    async def _stay(self, request: "httpx2.Request") -> None:
        """Request hook, also called for each redirect: key, headers and conversation go to no other origin."""
        import httpx2

        home, there = (_origin(url) for url in (httpx2.URL(self._endpoint.base_url), request.url))
        if there != home:
            raise RedirectedAway(
                f"{home} redirects to {there}, and nothing was sent there; if you trust {there}, "
                f"set {self._endpoint.address_setting} to it"
            )


def load(log: logging.Logger | None = None, *, lazy: bool = True) -> None:
    """Import the SDK, and forward its log records to `log`, or drop them. `lazy`: only what a request uses.

    Nothing of the SDK reaches stderr, even with ANTHROPIC_LOG set. Loggers are global: the last `log` gets everything.
    """
    with imports_kept(), _root_logger_left_alone():
        if lazy:
            import_lazily()
        import anthropic  # noqa: F401
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [_Forward(log) if log is not None else logging.NullHandler()]
        logger.propagate = False


@cache
def _warmed() -> None:
    """Import, once, modules that the first request would otherwise import on the event loop."""
    import anyio

    anyio.run(anyio.sleep, 0)


def _load_platform(platform: Platform) -> None:
    """Import modules that the client of a platform would otherwise import during its first request."""
    with imports_kept():
        match platform:
            case Platform.BEDROCK:
                from anthropic.lib.bedrock._stream_decoder import get_response_stream_shape

                importlib.import_module("boto3")
                importlib.import_module("botocore.auth")
                get_response_stream_shape()
            case Platform.VERTEX:
                importlib.import_module("google.auth.transport.requests")
            case _:
                return


class _Forward(logging.Handler):
    """Forwards the records of one logger to another."""

    def __init__(self, target: logging.Logger) -> None:
        super().__init__()
        self._target = target

    def emit(self, record: logging.LogRecord) -> None:
        if self._target.isEnabledFor(record.levelno):
            self._target.handle(record)


@contextmanager
def _root_logger_left_alone() -> Iterator[None]:
    """Prevents `logging.basicConfig`, which the SDK calls if ANTHROPIC_LOG is set, by adding a handler."""
    root, handler = logging.getLogger(), logging.NullHandler()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


def _timeouts() -> "httpx2.Timeout":
    import httpx2

    # No read timeout: the watchdog distinguishes silence from thinking.
    return httpx2.Timeout(connect=CONNECT_S, read=None, write=WRITE_S, pool=POOL_S)


def _certificates() -> ssl.SSLContext:
    """The trusted certificates. Raises CertificatesUnusable, which names the variable and the file."""
    import httpx2

    try:
        return httpx2.create_ssl_context()
    except OSError as error:  # also that of a file without certificates
        if file := os.environ.get("SSL_CERT_FILE"):
            reason = error.strerror if type(error) is not ssl.SSLError else "it contains no certificates"
            raise CertificatesUnusable(
                f"the certificates of SSL_CERT_FILE={file} cannot be read ({reason}); correct the variable or unset it"
            ) from error
        raise


def _origin(url: "httpx2.URL") -> str:
    """Scheme, host and, unless it is the usual one, port."""
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"


def _checking_nothing() -> ssl.SSLContext:
    """For plain http: saves 20 ms by loading no certificates."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def _attach_tracer(request: "httpx2.Request") -> None:
    if (tracer := wire_tracer.get()) is not None:
        request.extensions = {**request.extensions, "trace": tracer}
