"""A listening socket whose connections all end with it. The base of the practice server and the proxy."""

import asyncio
import ipaddress
import itertools
import json
import logging
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from harness.events import Json
from harness.practice.wire.connection import MAX_BODY, BadRequest, ClientConnection, Disconnected, HttpRequest
from harness.practice.wire.replies import ApiError, usual_message

_OF_PAGES = frozenset({"cross-site", "same-site"})
"""`Sec-Fetch-Site` of requests by a page of another origin (https://www.w3.org/TR/fetch-metadata/)."""


class CallerPolicy:
    """Decides about the headers of requests to one listening socket."""

    def __init__(self, host: str, port: int, also: Iterable[str] = ()) -> None:
        """
        Args:
            host: the address that the server listens at.
            port: the port that it listens at.
            also: further values of `Host`, each with its port where that is another one: "box.local", "gate:9000".
        """
        self._port = port
        self._also = frozenset(name.lower() for name in also)
        self._everywhere = not _is_loopback(host)

    def refusal(self, request: HttpRequest) -> ApiError | None:
        """Why this request is not answered; None: it may be."""
        host = (request.header("host") or "").lower()
        if not self._is_ours(host):
            return _forbidden(f"the header Host is {host!r}, which is not a name of this server; see --allow-host")
        origin = request.header("origin")
        if origin is not None and origin.lower() != f"http://{host}":
            return _forbidden(f"it comes from a web page ({origin})")
        if request.header("sec-fetch-site") in _OF_PAGES:
            return _forbidden("it comes from a web page of another origin")
        return None

    def _is_ours(self, host: str) -> bool:
        name, port = _split(host)
        if host in self._also or (name in self._also and port == self._port):
            return True
        # Nobody can bind an address to another one, only a name: an address is safe wherever the server listens.
        known = _is_loopback(name) or (self._everywhere and _is_address(name))
        return known and port == self._port


def _split(host: str) -> tuple[str, int]:
    """Name and port of a `Host`; the port of http where it names none, -1 where it is no number."""
    name, colon, port = host.rpartition(":")
    if not colon or port.endswith("]"):
        return host, 80
    return name, int(port) if port.isascii() and port.isdecimal() and len(port) <= 5 else -1


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    bare = name.removeprefix("[").removesuffix("]")
    return bare == "localhost" or (_is_address(bare) and ipaddress.ip_address(bare).is_loopback)


def _forbidden(why: str) -> ApiError:
    return ApiError(403, f"This request is refused: {why}.", "permission_error")


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_GZIP = 16 + zlib.MAX_WBITS


def body_of(request: HttpRequest) -> Json | ApiError:
    """The JSON object in a request, or an error. No body is an empty object."""
    if request.too_large:
        return ApiError(413, usual_message("request_too_large"), "request_too_large")
    content = _decoded(request.body, (request.header("content-encoding") or "identity").strip().lower())
    if isinstance(content, ApiError):
        return content
    if not content and request.method in ("GET", "HEAD", "DELETE"):
        return {}
    value = _json_object(content)
    return ApiError(400, f"The request body is not valid JSON: {value}") if isinstance(value, str) else value


def _decoded(body: bytes, encoding: str) -> bytes | ApiError:
    if encoding == "identity" or not body:
        return body
    if encoding not in ("gzip", "x-gzip"):
        message = f"Content-Encoding `{encoding}` is not supported. Send the body as it is, or with gzip."
        return ApiError(400, message, error_code="request_body_encoding_unsupported")
    unpacker = zlib.decompressobj(_GZIP)
    try:
        content = unpacker.decompress(body, MAX_BODY + 1)
    except zlib.error as error:
        message = f"The request body is not valid gzip: {error}"
        return ApiError(400, message, error_code="request_body_encoding_invalid")
    if len(content) > MAX_BODY:
        code = "request_body_too_large_after_decoding"
        return ApiError(413, usual_message("request_too_large"), "request_too_large", code)
    if not unpacker.eof:
        return ApiError(400, "The request body ends before its gzip does", error_code="request_body_encoding_invalid")
    return content


def _json_object(body: bytes) -> Json | str:
    """The JSON object in a body, or why the API would not read it: NaN and lone surrogates are not JSON."""
    try:
        value = json.loads(body, parse_constant=_refused)
        if _SURROGATE.search(body):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "no low surrogate in string"
    except (ValueError, RecursionError) as error:
        return str(error)
    return value if isinstance(value, dict) else "expected an object"


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


_log = logging.getLogger("harness.practice")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens."""

    host: str = "127.0.0.1"
    port: int = 0
    """0: any free one."""
    allowed_hosts: tuple[str, ...] = ()
    """Further values of the header `Host`, where the server is reached by another name."""


LOOPBACK = Address()
"""Any free port that only this machine reaches."""


class Listener:
    """Serves HTTP/1.1 on a socket while it is open as an async context manager.

    On exit every connection is closed and every task has ended. A defect of the server itself is
    answered with status 500, logged, and raised on exit, so that no test passes over it.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._callers: CallerPolicy
        self._connections: set[ClientConnection] = set()
        self._ids = itertools.count(1)
        self._defects: list[Exception] = []
        self._server: asyncio.Server
        self._base_url: str

    @property
    def base_url(self) -> str:
        """Where it listens, or listened, for example http://127.0.0.1:40123."""
        return self._base_url

    def refusal(self, request: HttpRequest) -> ApiError | None:
        """Why a request is not for this server or comes from a web page; None: it may be answered."""
        return self._callers.refusal(request)

    async def answer(self, connection: ClientConnection, request: HttpRequest) -> None:
        """Answer one request."""
        raise NotImplementedError

    async def answer_defect(self, connection: ClientConnection, defect: Exception) -> None:
        """Answer a request that a defect of the server kept from being answered."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, self._address.host, self._address.port, backlog=1024)
        host, port = self._server.sockets[0].getsockname()[:2]
        self._callers = CallerPolicy(host, port, self._address.allowed_hosts)
        self._base_url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        connections = tuple(self._connections)
        for connection in connections:
            connection.abandon()
        tasks = [connection.task for connection in connections if connection.task is not None]
        await asyncio.gather(*tasks, *(connection.closed.wait() for connection in connections), return_exceptions=True)
        await self._server.wait_closed()
        if self._defects and error is None:
            raise ExceptionGroup("defects of the practice server", self._defects)

    def _connect(self) -> ClientConnection:
        connection = ClientConnection(next(self._ids), self._converse, self._connections.discard)
        self._connections.add(connection)
        return connection

    async def _converse(self, connection: ClientConnection) -> None:
        try:
            while True:
                await self._exchange(connection, await connection.receive())
        except Disconnected:
            pass
        except BadRequest as error:
            _log.info("connection %d does not speak HTTP/1.1: %s", connection.id, error)
        finally:
            connection.leave()

    async def _exchange(self, connection: ClientConnection, request: HttpRequest) -> None:
        try:
            await self.answer(connection, request)
        except Disconnected:
            raise
        except Exception as defect:  # noqa: BLE001 (the border of the server: the client gets a 500, the owner the defect)
            _log.exception("defect while answering %s %s", request.method, request.path)
            self._defects.append(defect)
            await self.answer_defect(connection, defect)
