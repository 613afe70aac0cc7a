"""A server inside the program that drives this session: its messages travel in requests to that program."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from harness.base.errors import HarnessError
from harness.events import Json

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream


class HostTransport:
    """Hands messages to the program and its answers back, several at a time. For one connection."""

    def __init__(self, send: Callable[[Json], Awaitable[Json]]) -> None:
        """`send`: hands over a message and returns the answer. Raises HarnessError where there is none."""
        self._send = send
        self._tasks: set[asyncio.Task[None]] = set()
        self._streams: tuple[Any, ...] = ()
        self.closed = asyncio.Event()
        """The program has gone, or no longer answers for this server."""

    async def __aenter__(self) -> "tuple[Any, Any]":
        to_us, messages = anyio.create_memory_object_stream[Any](0)
        to_server, sent = anyio.create_memory_object_stream[Any](0)
        self._streams = (to_us, messages, to_server, sent)
        self._do(self._hand_on(sent, to_us))
        return messages, to_server

    async def __aexit__(self, *_: object) -> None:
        self.closed.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for stream in self._streams:
            await stream.aclose()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _hand_on(self, sent: "MemoryObjectReceiveStream[Any]", to_us: "MemoryObjectSendStream[Any]") -> None:
        async for message in sent:
            content = message.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
            self._do(self._exchange(content, to_us))

    async def _exchange(self, content: Json, to_us: "MemoryObjectSendStream[Any]") -> None:
        try:
            answer = await self._send(content)
            if "id" in content:  # a notification has no answer
                message = SessionMessage(jsonrpc_message_adapter.validate_python(answer, by_name=False))
                await to_us.send(message)
        except (HarnessError, ValueError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.closed.set()
            await to_us.aclose()
