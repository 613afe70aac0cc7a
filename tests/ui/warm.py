"""The real command in a process that is forked and not started: interpreter, SDK and our modules are loaded once.

A start takes seconds of a processor, most of it for importing the SDK. Where a test asks what the command does, and not
how it starts, it gets a fork of one process per test run that has done all that. What runs is `python -m harness`
with its own arguments, environment, folder and pipes; only signals and terminals want a process of its own.
"""

import asyncio
import json
import os
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LONGEST = 1_000_000
"""Bytes of one order."""


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

    def kill(self) -> None:
        """End it without a word."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def begin(folder: Path, arguments: Sequence[str], environment: Mapping[str, str], given: Sequence[int]) -> Fork:
    """Begin the command with these descriptors as its input, output and error; they stay the caller's as well.

    What looks at it from outside sees the environment of the process that forked it, but that of its children is its
    own.
    """
    order = json.dumps({"folder": str(folder), "arguments": list(arguments), "environment": dict(environment)}).encode()
    reading, writing = os.pipe()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=os.dup(_nursery())) as line:
        socket.send_fds(line, [order], (*given, writing))
    os.close(writing)
    return Fork(int(_line(reading)), reading)


async def forked(
    folder: Path, arguments: Sequence[str], environment: Mapping[str, str], stdin: str, limit_s: float
) -> tuple[int, bytes, bytes]:
    """Run the command to its end; exit code, standard output and standard error. Raises TimeoutError."""
    reading, writing = zip(*(os.pipe() for _ in range(3)), strict=True)  # input, output, error
    theirs = (reading[0], *writing[1:])
    program = await asyncio.to_thread(begin, folder, arguments, environment, theirs)
    for one in theirs:
        os.close(one)
    tell, out, err = writing[0], *reading[1:]
    try:
        async with asyncio.timeout(limit_s):
            said = asyncio.gather(*(asyncio.to_thread(_all, one) for one in (out, err)))
            await asyncio.to_thread(_write, tell, stdin.encode())
            shown, told = await said
            code = await asyncio.to_thread(program.wait)
    except TimeoutError:
        os.kill(program.pid, signal.SIGKILL)
        raise
    return code, shown, told


def _line(one: int) -> bytes:
    """One line, byte by byte: what follows it is for the next who reads."""
    read = b""
    while not read.endswith(b"\n") and (piece := os.read(one, 1)):
        read += piece
    return read


def _all(one: int) -> bytes:
    with open(one, "rb") as file:
        return file.read()


def _write(one: int, data: bytes) -> None:
    try:
        with open(one, "wb") as file:
            file.write(data)
    except BrokenPipeError:  # the command did not want it all
        return


@cache
def _nursery() -> int:
    """The socket to the process that forks; it ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno())],
            cwd=ROOT,
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    return ours.detach()


def _serve(line: socket.socket) -> None:
    """Fork for every order. Returns in the process that is to be the command, and when there are no more orders."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        order, given, _, _ = socket.recv_fds(line, LONGEST, 4)
        if not order:
            raise SystemExit
        if os.fork() == 0:
            line.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _become(json.loads(order), given)
            return
        for one in given:
            os.close(one)


def _become(order: dict[str, object], given: Sequence[int]) -> None:
    """Be the command in a process below this one, which waits for it and says how it ended."""
    *pipes, ending = given
    if child := os.fork():
        for one in (*pipes, 0, 1, 2):
            os.close(one)
        os.write(ending, b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        os.write(ending, b"%d\n" % os.waitstatus_to_exitcode(status))
        os._exit(0)
    os.close(ending)
    for number, one in enumerate(pipes):
        os.dup2(one, number)
        os.close(one)
    os.chdir(str(order["folder"]))
    os.environ.clear()
    os.environ.update(dict(order["environment"]))  # type: ignore[call-overload]
    sys.argv = ["harness", *order["arguments"]]  # type: ignore[misc]
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115 (they stay open)
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    random.seed()


def _load() -> None:
    """All that a conversation without a screen imports."""
    import anthropic
    import httpx2
    from anthropic import AsyncAnthropic

    import harness.session
    import harness.ui.headless
    import harness.ui.repl
    from harness.model.sdk import LineBuilder

    assert all((anthropic, httpx2, AsyncAnthropic, harness, LineBuilder))


if __name__ == "__main__":
    _load()
    with socket.socket(fileno=int(sys.argv[1])) as orders:
        _serve(orders)
    runpy.run_module("harness", run_name="__main__", alter_sys=True)
