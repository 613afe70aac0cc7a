"""Run a command as a process tree of its own, and end the whole of it for certain.

A command becomes the leader of a new session: no terminal, one group. Its children may leave that group
(`setsid`) and may lose their parent (double fork), so three marks find them again: the group and session
id, descent from the leader, and a variable in their environment that every child inherits. Ending means
TERM to all, a grace, KILL to all, and it is judged by every process having exited, not by a signal having been sent.
"""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

import psutil

from harness.tools.waiting import uninterrupted

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
    return Finished(process.returncode, left=tuple(map(_left_over, tree.members())))


async def _ended(process: asyncio.subprocess.Process, tree: "ProcessTree", limits: Limits) -> tuple[LeftOver, ...]:
    left = await tree.end(limits)
    if not left:
        await process.wait()  # gone already; this collects its exit code
    return left


async def end_left_over(owner: str, limits: Limits | None = None) -> tuple[LeftOver, ...]:
    """End every process that a command of `owner` left in the background; returns those that could not be ended."""
    return await uninterrupted(ProcessTree(f"{owner}|").end(limits or Limits()))


class ProcessTree:
    """All processes of one command, wherever they have moved to."""

    def __init__(self, mark: str, leader: int | None = None) -> None:
        self.mark = mark
        """Start of the value of the variable `MARK` in their environment."""
        self.leader = leader
        """Process id of the leader of their session."""
        self._seen: set[psutil.Process] = set()

    def group_lives(self) -> bool:
        """Whether the leader's group still has a member."""
        try:
            os.killpg(self.leader or 0, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # alive, but another user's
        return True

    def members(self) -> tuple[psutil.Process, ...]:
        """The living members now, those found earlier included."""
        descendants = self._descendants()
        for process in psutil.process_iter():
            if process.pid != os.getpid() and (process in descendants or self._has_mark(process)):
                self._seen.add(process)
        self._seen = {process for process in self._seen if _lives(process)}
        return tuple(self._seen)

    async def end(self, limits: Limits) -> tuple[LeftOver, ...]:
        """TERM, grace, KILL; done when every member has exited. Returns what even KILL did not end.

        Interrupted in the grace (the program itself is ending), it kills at once.
        """
        try:
            if await self._signal_until_gone(signal.SIGTERM, limits.term_grace_s):
                return ()
        except asyncio.CancelledError:
            await self._signal_until_gone(signal.SIGKILL, limits.kill_grace_s)
            raise
        if await self._signal_until_gone(signal.SIGKILL, limits.kill_grace_s):
            return ()
        return tuple(map(_left_over, self.members()))

    async def _signal_until_gone(self, number: signal.Signals, grace_s: float) -> bool:
        """Signal the members, and those they start meanwhile, until none is left or the time is up."""
        deadline = time.monotonic() + grace_s
        signalled: set[psutil.Process] = set()
        while members := self.members():
            for process in set(members) - signalled:
                _send(process, number)
                signalled.add(process)
            while any(map(_lives, members)):
                if time.monotonic() >= deadline:
                    return False
                await asyncio.sleep(POLL_S)
        return True

    def _descendants(self) -> set[psutil.Process]:
        if self.leader is None:
            return set()
        try:
            leader = psutil.Process(self.leader)
            return {leader, *leader.children(recursive=True)}
        except psutil.Error:
            return set()

    def _has_mark(self, process: psutil.Process) -> bool:
        try:
            if self.leader is not None and os.getsid(process.pid) == self.leader:
                return True
            return process.environ().get(MARK, "").startswith(self.mark)
        except (psutil.Error, OSError):
            return False  # gone, or another user's


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


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def _send(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return
    except psutil.AccessDenied:
        return  # changed its user; reported as left over


def _left_over(process: psutil.Process) -> LeftOver:
    try:
        return LeftOver(process.pid, process.name())
    except psutil.Error:
        return LeftOver(process.pid, "?")
