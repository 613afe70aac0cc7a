"""The first process of a command, and its exit."""

import asyncio
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

import psutil


class Leader:
    """A process that leads a session of its own: no terminal, one group.

    Nothing but its exit is waited for, whoever holds its output open; a thread does it, which also collects the exit
    code when nobody asks. asyncio's own processes are not used because they are killed together with their loop, and
    one that was handed over must not be.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        output: int,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        errors: int | None = None,
    ) -> None:
        """Start it; `output` is the descriptor for stdout, and for stderr where `errors` is no other one.

        Raises OSError, or ValueError for a null byte.
        """
        self._popen = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=stdin,
            stdout=output,
            stderr=output if errors is None else errors,
            start_new_session=True,
        )
        self.pid = self._popen.pid
        self.process = psutil.Process(self.pid)
        """Known by its number and the moment it began; nobody has waited for it yet, so the number is still its own."""

    def when_it_exits(self, tell: Callable[[int], None]) -> None:
        """Begin to wait; `tell` gets the exit code, in a thread. Until then its number cannot be used again."""
        threading.Thread(target=self._wait, args=(tell,), name=f"exit of {self.pid}", daemon=True).start()

    def exit(self) -> "asyncio.Future[int]":
        """Begin to wait; the future gets the exit code."""
        loop = asyncio.get_running_loop()
        exited: asyncio.Future[int] = loop.create_future()

        def settle(code: int) -> None:
            if not exited.done():
                exited.set_result(code)

        def tell(code: int) -> None:
            try:
                loop.call_soon_threadsafe(settle, code)
            except RuntimeError:
                return  # the loop is closed: nobody waits any more

        self.when_it_exits(tell)
        return exited

    def _wait(self, tell: Callable[[int], None]) -> None:
        tell(self._popen.wait())
