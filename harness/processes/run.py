"""Run a command to its end, and hear what it writes."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from harness.base.shielded import uninterrupted
from harness.processes.command import Command, end_command
from harness.processes.outcome import End, Finished, Limits


async def to_its_end(
    command: Command, heard: Sequence[tuple[int, Callable[[bytes], None]]], limits: Limits
) -> Finished:
    """Hand on what comes from each descriptor of `heard` to its sink, until the command has ended.

    When the task is cancelled, CancelledError is passed on only after the whole tree is gone.
    """
    pipes = [_Pipe(sink) for _, sink in heard]
    transports: list[asyncio.ReadTransport] = []
    loop = asyncio.get_running_loop()
    try:
        for (reading, _), pipe in zip(heard, pipes, strict=True):
            transport, _ = await loop.connect_read_pipe(partial(_itself, pipe), os.fdopen(reading, "rb", 0))
            transports.append(transport)
        return await _until_end(command, pipes, limits)
    except asyncio.CancelledError:
        await uninterrupted(end_command(command, limits))
        raise
    finally:
        for transport in transports:
            transport.close()


async def _until_end(command: Command, pipes: Sequence["_Pipe"], limits: Limits) -> Finished:
    await asyncio.wait({command.exited}, timeout=limits.time_s)
    if timed_out := not command.exited.done():
        await uninterrupted(end_command(command, limits))
    closed = await _all_closed_within(limits.pipe_grace_s, pipes)
    if command.ending is None:
        left = () if closed and not command.tree.group_lives() else await command.look_for_left_over()
        command.settle(Finished(command.exited.result(), left=left), End.EXITED)
    return replace(await command.result(), timed_out=timed_out)


async def _all_closed_within(seconds: float, pipes: Sequence["_Pipe"]) -> bool:
    try:
        async with asyncio.timeout(seconds):
            for pipe in pipes:
                await pipe.closed.wait()
    except TimeoutError:
        return False
    return True


def _itself(pipe: "_Pipe") -> "_Pipe":
    return pipe


class _Pipe(asyncio.Protocol):
    """Hands on what the command writes.

    The pipe is ours and not asyncio's, because there a child that keeps it open can hold up `Process.wait`.
    """

    def __init__(self, sink: Callable[[bytes], None]) -> None:
        self._sink = sink
        self.closed = asyncio.Event()
        """Nobody holds the other end any more."""

    def data_received(self, data: bytes) -> None:
        self._sink(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()
