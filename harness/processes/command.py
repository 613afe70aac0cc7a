"""One running command: its session leader, its end, running it to the end, and the handle of a background command."""

import asyncio
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import psutil

from harness.base.concurrency import race, shielded
from harness.processes.outcome import ProcessEnd, ProcessLimits, ProcessResult, SurvivingProcess
from harness.processes.tree import POLL_S, ProcessTree, end, look_at

if TYPE_CHECKING:
    from harness.processes.memory_groups import MemoryGroup
    from harness.sandbox.entered import Entered

LEAST_S = 0.1
"""Between two looks at a time limit that stands still."""


class SessionLeader:
    """A process that leads a session of its own: no terminal, one group.

    Waiting ends with its exit, even if its output stays open; a thread waits, so the exit code is always collected.
    asyncio's own processes are not used because they are killed together with their loop, and one that was handed over
    must not be.
    """

    def __init__(
        self,
        entered: "Entered",
        *,
        cwd: Path,
        output: int,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        errors: int | None = None,
    ) -> None:
        """Start `entered`; `output` is the descriptor for stdout, and for stderr where `errors` is no other one.

        Raises OSError, or ValueError for a null byte.
        """
        self._popen = subprocess.Popen(
            entered.command,
            cwd=str(cwd),
            env=entered.environment,
            pass_fds=entered.pass_fds,
            stdin=stdin,
            stdout=output,
            stderr=output if errors is None else errors,
            start_new_session=True,
        )
        self.entered = entered
        self.is_empty = False
        """Nothing of the command lives, by the word of its sandbox; known when its exit is."""
        self.pid = self._popen.pid
        self.process = psutil.Process(self.pid)
        """Known by its number and the moment it began; it is not reaped yet, so the number is still its own."""

    def when_it_exits(self, notify: Callable[[int], None]) -> None:
        """Begin to wait; `notify` receives the exit code, in a thread. Until then its number cannot be used again."""
        threading.Thread(target=self._wait, args=(notify,), name=f"exit of {self.pid}", daemon=True).start()

    def abandon(self) -> None:
        """Kill it before anything waits for it."""
        self._popen.kill()
        self._popen.wait()

    def exit(self) -> "asyncio.Future[int]":
        """Begin to wait; the future gets the exit code."""
        loop = asyncio.get_running_loop()
        exited: asyncio.Future[int] = loop.create_future()

        def settle(code: int) -> None:
            if not exited.done():
                exited.set_result(code)

        def notify(code: int) -> None:
            try:
                loop.call_soon_threadsafe(settle, code)
            except RuntimeError:
                return  # the loop is closed: nobody waits any more

        self.when_it_exits(notify)
        return exited

    def _wait(self, notify: Callable[[int], None]) -> None:
        code = self._popen.wait()
        # To look for who is about to exit in the whole machine costs more than to wait for that.
        self.is_empty = self.entered.is_empty(POLL_S)
        notify(code)


class ProcessCommand:
    """Settles exactly once, whether it exits, is ended, or both at the same time."""

    def __init__(
        self,
        leader: SessionLeader,
        tree: ProcessTree,
        mark: str,
        ended: Callable[["ProcessCommand", ProcessEnd | None, float], None],
        in_a_hurry: Callable[[], bool],
        memory: "MemoryGroup | None" = None,
    ) -> None:
        """
        Args:
            leader: its first process.
            tree: all its processes.
            mark: what they bear in their environment.
            ended: called at the one end with what it took and how many seconds ending took; and once more, with None,
                when what it had left in the background was ended.
            in_a_hurry: whether to kill at once instead of waiting for the grace to pass.
            memory: limits its memory; None: it has no limit.
        """
        self.pid = leader.pid
        self.began = time.time()
        """Unix time."""
        self.tree = tree
        self.mark = mark
        self.exited = leader.exit()
        """Gets the exit code of the leader; others of the command may live on."""
        self.finished: asyncio.Future[ProcessResult] = asyncio.get_running_loop().create_future()
        self.ending: asyncio.Task[None] | None = None
        """Ends it; None until it is requested."""
        self.left: tuple[SurvivingProcess, ...] = ()
        """Who of it lives, after its end."""
        self.in_a_hurry = in_a_hurry
        self._memory = memory
        self._ended = ended
        self._leader = leader
        self.exited.add_done_callback(self._leader_exited)

    def _leader_exited(self, _: asyncio.Future[int]) -> None:
        self.tree.is_empty = self._leader.is_empty
        if self.ending is None:
            self.tree.leader_exited()

    async def look_for_left_over(self) -> tuple[SurvivingProcess, ...]:
        """Who of the command lives now, after its leader exited."""
        if self.tree.is_empty:
            return ()
        if self.tree.group_lives():
            await asyncio.sleep(POLL_S)  # who has just closed its output is usually about to exit
        look_at((self.tree,))
        first = self._leader.entered.first_process
        return tuple(one for one in self.tree.left_over() if one.pid != first)

    def settle(self, finished: ProcessResult, how: ProcessEnd, seconds: float = 0.0) -> None:
        """It has ended; remaining processes may be ended later, which changes only `left`."""
        self.left = finished.left
        if self._memory is not None:
            kills, limit = self._memory.kills(), self._memory.limit_bytes
            finished = replace(finished, memory_kills=kills, memory_limit=limit)
            self._memory.remove()
        first = not self.finished.done()
        if first:
            entered = self._leader.entered
            not_begun = entered.trouble(finished.exit_code or 0)
            self.finished.set_result(replace(finished, not_begun=not_begun, denials=entered.denials))
            entered.close()
        self._ended(self, how if first else None, seconds)

    @property
    def held_s(self) -> float:
        """Seconds that it has waited so far for the answer to a question about it."""
        return self._leader.entered.held_s

    async def result(self) -> ProcessResult:
        """Wait for the end."""
        return await asyncio.shield(self.finished)


def end_command(command: ProcessCommand, limits: ProcessLimits) -> asyncio.Task[None]:
    """Begin to end a command; if that has begun already, there is nothing to do but to wait for it."""
    return command.ending or end_commands((command,), limits, command.in_a_hurry)


def end_commands(
    commands: Sequence[ProcessCommand], limits: ProcessLimits, in_a_hurry: Callable[[], bool], *others: ProcessTree
) -> asyncio.Task[None]:
    """Begin to end commands, and `others`, all at the same time. The commands must have no `ending` yet."""
    task = asyncio.create_task(_end(commands, limits, in_a_hurry, others))
    for command in commands:
        command.ending = task
    return task


async def _end(
    commands: Sequence[ProcessCommand],
    limits: ProcessLimits,
    in_a_hurry: Callable[[], bool],
    others: Sequence[ProcessTree],
) -> None:
    began = time.monotonic()
    ends = await end([*(command.tree for command in commands), *others], limits, in_a_hurry)
    seconds = time.monotonic() - began
    for command, how in zip(commands, ends, strict=False):
        left = command.tree.left_over()
        code = command.exited.result() if left and command.exited.done() else None if left else await command.exited
        command.settle(
            ProcessResult(code, left=left, forced=how in (ProcessEnd.KILLED, ProcessEnd.SURVIVED)), how, seconds
        )


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
        """The other end is closed everywhere."""

    def data_received(self, data: bytes) -> None:
        self._sink(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()


class RunningProcess:
    """A command until it exits or is ended."""

    def __init__(self, command: ProcessCommand, limits: ProcessLimits) -> None:
        self._command = command
        self._limits = limits
        self._is_handed_over = False

    @property
    def pid(self) -> int:
        """Process id of the leader, which is also that of its group and session."""
        return self._command.pid

    @property
    def began(self) -> float:
        """When it was started, in Unix time."""
        return self._command.began

    @property
    def ended(self) -> bool:
        """Whether `wait` returns at once."""
        return self._command.finished.done()

    @property
    def held_s(self) -> float:
        """Seconds that it has waited so far for the answer to a question about it."""
        return self._command.held_s

    async def time_up(self, time_s: float) -> None:
        """Return after so many seconds, without those that it has waited for an answer."""
        loop = asyncio.get_running_loop()
        began, left = loop.time(), time_s
        while left > 0:
            await asyncio.sleep(left)
            left = time_s + self.held_s - (loop.time() - began)
            left = max(left, LEAST_S) if left > 0 else 0

    async def wait(self) -> ProcessResult:
        """Wait for its end, as many as like to."""
        return await self._command.result()

    async def end(self, limits: ProcessLimits | None = None) -> ProcessResult:
        """End it and all that it started: TERM, 3 s, KILL. A second call waits for what the first one began.

        After a normal exit this ends its background processes. Cancelled, it ends the child first and is cancelled
        then. Raises RuntimeError after `hand_over`.
        """
        if self._is_handed_over:
            raise RuntimeError(f"the process {self.pid} was handed over")
        await shielded(end_command(self._command, limits or self._limits))
        return replace(await self.wait(), left=self._command.left)


class PipedProcess(RunningProcess):
    """A command that `Processes.pipe` began: this program reads its output until its end."""

    def __init__(
        self, command: ProcessCommand, heard: Sequence[tuple[int, Callable[[bytes], None]]], limits: ProcessLimits
    ) -> None:
        """`heard`: the descriptors to read, which are closed at the end, each with the sink of its data."""
        super().__init__(command, limits)
        self._pipes = [_Pipe(sink) for _, sink in heard]
        self._reading = [os.fdopen(reading, "rb", 0) for reading, _ in heard]
        self._transports: list[asyncio.ReadTransport] = []
        self._following = asyncio.create_task(self._follow(), name=f"output of {command.pid}")

    async def wait(self) -> ProcessResult:
        """Wait for its end, and for its output until then."""
        return await asyncio.shield(self._following)

    async def output_closed(self) -> None:
        """Return when nobody holds its standard output open any more; it may live on."""
        await self._pipes[0].closed.wait()

    @property
    def exited(self) -> bool:
        """Its leader has exited; what it left may still hold the output open for a moment."""
        return self._command.exited.done()

    @property
    def exit_code(self) -> int | None:
        """That of its leader; None: it has not exited."""
        return self._command.exited.result() if self.exited else None

    async def within(self, time_s: float) -> ProcessResult:
        """Wait for its end, and end it after so many seconds.

        When the task is cancelled, CancelledError is passed on only after the whole tree is gone.
        """
        try:
            await race(asyncio.wait({self._command.exited}), self.time_up(time_s))
            if timed_out := not self._command.exited.done():
                await shielded(end_command(self._command, self._limits))
            return replace(await self.wait(), timed_out=timed_out)
        except asyncio.CancelledError:
            await shielded(end_command(self._command, self._limits))
            self._stop_reading()
            raise

    async def _follow(self) -> ProcessResult:
        command, loop = self._command, asyncio.get_running_loop()
        try:
            for pipe, reading in zip(self._pipes, self._reading, strict=True):
                transport, _ = await loop.connect_read_pipe(partial(_itself, pipe), reading)
                self._transports.append(transport)
            either: set[asyncio.Future[Any]] = {command.exited, command.finished}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            closed = await _all_closed_within(self._limits.pipe_grace_s, self._pipes)
            if command.ending is None:
                left = () if closed and not command.tree.group_lives() else await command.look_for_left_over()
                if command.ending is None:
                    command.settle(ProcessResult(command.exited.result(), left=left), ProcessEnd.EXITED)
            return await command.result()
        finally:
            self._stop_reading()

    def _stop_reading(self) -> None:
        for transport in self._transports:
            transport.close()
        for reading in self._reading:
            reading.close()


class ChildProcess(RunningProcess):
    """A command that `Processes.start` began; its exit counts, and not who holds its output open."""

    def __init__(
        self, command: ProcessCommand, output: Path, limits: ProcessLimits, let_go: Callable[[ProcessCommand], None]
    ) -> None:
        super().__init__(command, limits)
        self._let_go = let_go
        self._looking: asyncio.Task[None] | None = None
        self.output = output
        """Where stdout and stderr go, in the order of writing."""
        command.exited.add_done_callback(self._exited)

    def hand_over(self) -> None:
        """Let it live on without us: it survives our end and our crash. `wait` still reports its exit while we run.
        Does nothing once it has ended or is being ended."""
        if not (self.ended or self._command.ending or self._is_handed_over):
            self._is_handed_over = True
            self._let_go(self._command)

    def _exited(self, _: asyncio.Future[int]) -> None:
        if self._command.ending is None:
            self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        left = await self._command.look_for_left_over()
        if self._command.ending is None:
            self._command.settle(ProcessResult(self._command.exited.result(), left=left), ProcessEnd.EXITED)
