"""The real command, forked instead of started: interpreter, SDK and our modules are loaded once.

A cold start takes seconds of CPU time, most of it to import the SDK. Tests that do not examine the start use a fork of
one preloaded process per test run (`tests.ui.nursery`). The fork runs `python -m harness` with its own arguments,
environment, folder, and pipes or terminal; it receives signals and exits like a started process. Other processes see
the command line and environment of the parent; its children see its own.

Each entry point also has a test that starts the command cold.
"""

import asyncio
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import IO, Self

from tests.ui.nursery import MODULE, Order

COMMAND = (*MODULE, "harness")
ROOT = Path(__file__).parents[2]


class Fork:
    """A command that runs in a fork."""

    def __init__(self, pid: int, ending: int) -> None:
        """`ending` is where its exit code will come from."""
        self.pid = pid
        self.returncode: int | None = None
        """Known once it was waited for or asked about; minus the signal that killed it."""
        self._ending = ending

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        return (
            self.wait() if self.returncode is None and select.select([self._ending], [], [], 0)[0] else self.returncode
        )

    def wait(self) -> int:
        """Wait for the end; returns the exit code."""
        if self.returncode is None:
            self.returncode = int(_line(self._ending))
            os.close(self._ending)
        return self.returncode

    async def ends(self) -> int:
        """Like `wait`, without blocking the event loop; for one task at a time."""
        if self.returncode is None:
            ended = asyncio.Event()
            asyncio.get_running_loop().add_reader(self._ending, ended.set)
            try:
                await ended.wait()
            finally:
                asyncio.get_running_loop().remove_reader(self._ending)
        return self.wait()

    def send(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ends at this moment
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it without a word."""
        self.send(signal.SIGKILL)


def begin(
    folder: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    given: Sequence[int],
    *,
    command: Sequence[str] = COMMAND,
    cold: bool = False,
) -> Fork:
    """Begin the command with these descriptors as its input, output and error, or with one that is its terminal.

    They stay the caller's as well. `command` is `python -m` and a module of ours; it may be anything that is `cold`,
    which is started with nothing loaded.
    """
    order = Order((*command, *arguments), str(folder), dict(environment), cold, len(given) == 1)
    if not cold and tuple(command[: len(MODULE)]) != MODULE:
        raise ValueError(f"{command} cannot be forked")
    reading, writing = os.pipe()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=os.dup(_nursery())) as line:
        socket.send_fds(line, [json.dumps(asdict(order)).encode()], (*given, writing))
    os.close(writing)
    return Fork(int(_line(reading)), reading)


class Piped:
    """A command between three pipes; what `asyncio.subprocess.Process` is to one that was started."""

    def __init__(self, fork: Fork, stdin: asyncio.StreamWriter, out: "Listened", err: "Listened") -> None:
        self._fork = fork
        self.stdin = stdin
        self.stdout, self._out = out
        self.stderr, _ = err

    @classmethod
    async def begin(
        cls,
        folder: Path,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        *,
        command: Sequence[str] = COMMAND,
        cold: bool = False,
    ) -> Self:
        """Begin it; `command` and `cold` as for `begin`."""
        reading, writing = zip(*(os.pipe() for _ in range(3)), strict=True)  # input, output, error
        theirs = (reading[0], *writing[1:])
        fork = await asyncio.to_thread(begin, folder, arguments, environment, theirs, command=command, cold=cold)
        for one in theirs:
            os.close(one)
        return cls(fork, await _writer(writing[0]), await _reader(reading[1]), await _reader(reading[2]))

    @property
    def pid(self) -> int:
        """The process."""
        return self._fork.pid

    @property
    def returncode(self) -> int | None:
        """The exit code; None while it runs."""
        return self._fork.poll()

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        self._fork.send(number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it without a word."""
        self._fork.kill()

    async def wait(self) -> int:
        """Wait for the end; returns the exit code."""
        return await self._fork.ends()

    async def until_full(self) -> None:
        """Return once the pipe of its output is full, because it was not read."""
        pipe = self._out.get_extra_info("pipe")
        full = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ) // 2  # short lines leave the rest of a page free
        while self._out.is_reading() or _waiting_in(pipe) < full:  # noqa: ASYNC110 (nothing tells that it is full)
            await asyncio.sleep(0.01)

    def stop_reading(self) -> None:
        """Close the pipe of its output, as a reader does that leaves."""
        self._out.close()

    async def communicate(self, data: bytes = b"") -> tuple[bytes, bytes]:
        """Write this to its input, close that, and wait for the end; the rest of its output and of its errors."""
        _, out, err = await asyncio.gather(self._tell(data), self.stdout.read(), self.stderr.read())
        await self.wait()
        return out, err

    async def _tell(self, data: bytes) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # it did not want it all
            self.stdin.write(data)
            await self.stdin.drain()
        self.stdin.close()


Listened = tuple[asyncio.StreamReader, asyncio.ReadTransport]


async def _reader(one: int) -> Listened:
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(one, "rb", 0))
    return reader, transport


async def _writer(one: int) -> asyncio.StreamWriter:
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(one, "wb", 0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


def _waiting_in(pipe: IO[bytes]) -> int:
    """Bytes to read."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def _line(one: int) -> bytes:
    """One line, byte by byte: what follows it is for the next who reads."""
    read = b""
    while not read.endswith(b"\n") and (piece := os.read(one, 1)):
        read += piece
    return read


@cache
def _nursery() -> int:
    """The socket to the process that forks; it ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        subprocess.Popen(
            [*MODULE, "tests.ui.nursery", str(theirs.fileno())],
            cwd=ROOT,
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    return ours.detach()
