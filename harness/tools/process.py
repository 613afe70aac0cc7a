"""Run a command as a process tree of its own, and end the whole of it for certain.

A command becomes the leader of a new session: no terminal, one group. Its children may leave that group
(`setsid`) and may lose their parent (double fork); `harness.tools.process_tree` finds them again and ends them. It is
imported with the first command, because what it needs to look at processes is large.
"""

import asyncio
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING
from uuid import uuid4

from harness.tools.waiting import uninterrupted

if TYPE_CHECKING:
    from harness.tools.process_tree import ProcessTree

MARK = "HARNESS_PROCESS"
"""Environment variable that says which command a process belongs to."""
POLL_S = 0.02
"""Processes that are not our children have no event for their exit; they are looked at this often."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a command and its end may take, in seconds."""

    time_s: float = 120.0
    term_grace_s: float = 3.0
    """Between TERM and KILL."""
    kill_grace_s: float = 1.0
    """Until a killed process must be gone."""
    pipe_grace_s: float = 0.3
    """How long to read on after the command exited, while a background child keeps its output open."""


@dataclass(frozen=True, slots=True)
class LeftOver:
    """A process of the command that lives on."""

    pid: int
    name: str


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended."""

    exit_code: int | None
    """Negative: the number of the signal that killed it. None: it could not be ended."""
    timed_out: bool = False
    """We ended it, because its time was up."""
    left: tuple[LeftOver, ...] = ()
    """Background processes after a normal exit; after a time limit, what even KILL did not end."""


async def run(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    sink: Callable[[bytes], None],
    limits: Limits,
    owner: str,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
) -> Finished:
    """Run `command` to its end; `sink` gets stdout and stderr in one stream, in the order of writing.

    `owner` marks the processes for `end_left_over`. When the task is cancelled, CancelledError is passed on only
    after the whole tree is gone. Raises OSError when the command cannot be started.
    """
    from harness.tools.process_tree import ProcessTree

    tree = ProcessTree(f"{owner}|{uuid4().hex}")
    reading, writing = os.pipe()
    try:
        creation = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *command,
                stdin=stdin,
                stdout=writing,
                stderr=writing,
                cwd=cwd,
                env={**environment, MARK: tree.mark},
                start_new_session=True,
            )
        )
        creation.add_done_callback(lambda _: os.close(writing))
        process = await uninterrupted(creation)
    except asyncio.CancelledError:
        os.close(reading)
        if not creation.cancelled() and creation.exception() is None:
            # Its session finds members whose environment cannot be read yet, because they have only just begun.
            tree.leader = creation.result().pid
        await uninterrupted(tree.end(limits))
        raise
    except BaseException:
        os.close(reading)
        raise
    tree.leader = process.pid
    pipe = _Pipe(sink)
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: pipe, os.fdopen(reading, "rb", 0))
    except asyncio.CancelledError:
        await uninterrupted(tree.end(limits))
        raise
    try:
        return await _until_end(process, tree, pipe, limits)
    except asyncio.CancelledError:
        await uninterrupted(_ended(process, tree, limits))
        raise
    finally:
        transport.close()


async def _until_end(
    process: asyncio.subprocess.Process, tree: "ProcessTree", pipe: "_Pipe", limits: Limits
) -> Finished:
    try:
        async with asyncio.timeout(limits.time_s):
            await process.wait()
    except TimeoutError:
        left = await uninterrupted(_ended(process, tree, limits))
        await pipe.closed_within(limits.pipe_grace_s)
        return Finished(process.returncode, timed_out=True, left=left)
    closed = await pipe.closed_within(limits.pipe_grace_s)
    if closed and tree.group_lives():
        await asyncio.sleep(POLL_S)  # who has just closed the pipe is usually about to exit
    if closed and not tree.group_lives():
        return Finished(process.returncode)
    return Finished(process.returncode, left=tree.left_over())


async def _ended(process: asyncio.subprocess.Process, tree: "ProcessTree", limits: Limits) -> tuple[LeftOver, ...]:
    left = await tree.end(limits)
    if not left:
        await process.wait()  # gone already; this collects its exit code
    return left


async def end_left_over(owner: str, limits: Limits | None = None) -> tuple[LeftOver, ...]:
    """End every process that a command of `owner` left in the background; returns those that could not be ended."""
    from harness.tools.process_tree import ProcessTree

    return await uninterrupted(ProcessTree(f"{owner}|").end(limits or Limits()))


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
