"""A listening socket whose connections all end with it. The practice server and the proxy stand on it."""

import asyncio
import itertools
import logging
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from harness.practice.callers import Callers
from harness.practice.error_bodies import ApiError
from harness.practice.wire import BadRequest, Connection, Disconnected, HttpRequest

_log = logging.getLogger("harness.practice")


class Listener:
    """Serves HTTP/1.1 on a socket while it is open as an async context manager.

    On exit every connection is closed and every task has ended. A defect of the server itself is
    answered with status 500, logged, and raised on exit, so that no test passes over it.
    """

    def __init__(self, host: str, port: int, allowed_hosts: Sequence[str] = ()) -> None:
        """`allowed_hosts`: what `Host` may be beside the server's own addresses."""
        self._host = host
        self._port = port
        self._allowed_hosts = tuple(allowed_hosts)
        self._callers: Callers
        self._connections: set[Connection] = set()
        self._ids = itertools.count(1)
        self._defects: list[Exception] = []
        self._server: asyncio.Server
        self._base_url: str

    @property
    def base_url(self) -> str:
        """Where it listens, or listened, for example http://127.0.0.1:40123."""
        return self._base_url

    @property
    def open_connections(self) -> int:
        """How many clients are connected."""
        return len(self._connections)

    def refusal(self, request: HttpRequest) -> ApiError | None:
        """Why a request is not for this server or comes from a web page; None: it may be answered."""
        return self._callers.refusal(request)

    async def answer(self, connection: Connection, request: HttpRequest) -> None:
        """Answer one request."""
        raise NotImplementedError

    async def answer_defect(self, connection: Connection, defect: Exception) -> None:
        """Answer a request that a defect of the server kept from being answered."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, self._host, self._port, backlog=1024)
        host, port = self._server.sockets[0].getsockname()[:2]
        self._callers = Callers(host, port, self._allowed_hosts)
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

    def _connect(self) -> Connection:
        connection = Connection(next(self._ids), self._converse, self._connections.discard)
        self._connections.add(connection)
        return connection

    async def _converse(self, connection: Connection) -> None:
        try:
            while True:
                await self._exchange(connection, await connection.receive())
        except Disconnected:
            pass
        except BadRequest as error:
            _log.info("connection %d does not speak HTTP/1.1: %s", connection.id, error)
        finally:
            connection.leave()

    async def _exchange(self, connection: Connection, request: HttpRequest) -> None:
        try:
            await self.answer(connection, request)
        except Disconnected:
            raise
        except Exception as defect:  # noqa: BLE001 (the border of the server: the client gets a 500, the owner the defect)
            _log.exception("defect while answering %s %s", request.method, request.path)
            self._defects.append(defect)
            await self.answer_defect(connection, defect)
