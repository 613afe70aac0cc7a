"""Run a command to its end, and hear what it writes."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace

from harness.processes.command import Command, end_command
from harness.processes.values import End, Finished, Limits
from harness.uninterrupted import uninterrupted


async def to_its_end(command: Command, reading: int, sink: Callable[[bytes], None], limits: Limits) -> Finished:
    """Hand on to `sink` what comes from the descriptor `reading`, until the command has ended.

    When the task is cancelled, CancelledError is passed on only after the whole tree is gone.
    """
    pipe = _Pipe(sink)
    transport: asyncio.ReadTransport | None = None
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: pipe, os.fdopen(reading, "rb", 0))
        return await _until_end(command, pipe, limits)
    except asyncio.CancelledError:
        await uninterrupted(end_command(command, limits))
        raise
    finally:
        if transport is not None:
            transport.close()


async def _until_end(command: Command, pipe: "_Pipe", limits: Limits) -> Finished:
    await asyncio.wait({command.exited}, timeout=limits.time_s)
    if timed_out := not command.exited.done():
        await uninterrupted(end_command(command, limits))
    closed = await pipe.closed_within(limits.pipe_grace_s)
    if command.ending is None:
        left = () if closed and not command.tree.group_lives() else await command.look_for_left_over()
        command.settle(Finished(command.exited.result(), left=left), End.EXITED)
    return replace(await command.result(), timed_out=timed_out)


class _Pipe(asyncio.Protocol):
    """Hands on what the command writes.

    The pipe is ours and not asyncio's, because there a child that keeps it open can hold up `Process.wait`.
    """

    def __init__(self, sink: Callable[[bytes], None]) -> None:
        self._sink = sink
        self._closed = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._sink(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed.set()

    async def closed_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._closed.wait()
        except TimeoutError:
            return False
        return True
