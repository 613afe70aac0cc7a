"""The preloaded fork server of `tests.ui.warm`: `python -m tests.ui.nursery SOCKET`.

Takes orders from the other end of the socket and exits when that end closes.
"""

import gc
import json
import os
import random
import runpy
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

NEEDED = (
    *("anyio._backends._asyncio", "filelock", "httpcore2", "httpx2", "psutil", "truststore"),
    *("harness.practice.script.script", "harness.practice.rule_model", "harness.practice.server"),
    *("harness.ui.app.controller", "harness.ui.app.run", "harness.ui.plain.headless", "harness.ui.plain.repl"),
    *("chapters.course.learn", "harness.ui.start"),
)
"""Everything that the app, headless runs, the course and `harness watch` import."""
LONGEST = 1_000_000
"""Bytes of one order."""
MODULE = (sys.executable, "-m")
"""Prefix of a command that can be forked; its module, or that module's dependencies, are loaded."""


@dataclass(frozen=True, slots=True)
class Order:
    """The program of one fork. Sent with its descriptors; the last one receives the exit status."""

    command: Sequence[str]
    folder: str
    environment: Mapping[str, str]
    cold: bool
    """Start the command in the fork, as a shell does, with nothing loaded."""
    terminal: bool
    """The only descriptor is a terminal; the fork starts a session with it as controlling terminal."""


def main(line: socket.socket) -> None:
    """Load, then fork for every order. In a fork, run the command."""
    gc.disable()  # loaded objects stay
    _load()
    gc.freeze()
    gc.enable()
    order = _forked(line)
    _, _, module, *arguments = order.command
    sys.argv = ["harness", *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _load() -> None:
    for name in NEEDED:
        import_module(name)
    from anthropic import AsyncAnthropic  # what the SDK loads when it is asked for

    del AsyncAnthropic
    assert "readline" not in sys.modules  # it looks at the terminal when it is imported


def _forked(line: socket.socket) -> Order:
    """Fork for every order; return in the child. Exit when the socket closes."""
    signal.signal(signal.SIGCHLD, _collect)
    while True:
        message, given, _, _ = socket.recv_fds(line, LONGEST, 4)
        if not message:
            raise SystemExit
        if os.fork() == 0:
            line.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            order = Order(**json.loads(message))
            _become(order, given)
            return order
        for one in given:
            os.close(one)


def _collect(*_: object) -> None:
    """Take leave of the processes that waited for a command."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _become(order: Order, given: Sequence[int]) -> None:
    """Run the command in a child process, wait for it, and report its exit status."""
    *own, ending = given
    if child := os.fork():
        for one in (*own, 0, 1, 2):
            os.close(one)
        os.write(ending, b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        os.write(ending, b"%d\n" % os.waitstatus_to_exitcode(status))
        os._exit(0)
    os.close(ending)
    if order.terminal:
        os.login_tty(own[0])
    else:
        for number, one in enumerate(own):
            os.dup2(one, number)
            os.close(one)
    os.chdir(order.folder)
    if order.cold:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and so would what it starts
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(order.command[0], list(order.command), order.environment)
    os.environ.clear()
    os.environ.update(order.environment)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # type: ignore[misc] # noqa: SIM115 (they stay open)
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # type: ignore[misc] # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # type: ignore[misc] # noqa: SIM115
    random.seed()


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as orders:
        main(orders)
