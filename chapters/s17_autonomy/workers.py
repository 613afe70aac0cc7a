"""Processes of workspace/worker.py, as the demo starts, feeds and kills them."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from runpy import run_path
from typing import Any

SHORT, LONG = "0.3", "60"
"""Leases in seconds: for workers that are to lose theirs, and for the others."""
ENTER = b"\n"


class Worker:
    """One process of the small worker."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def line(self) -> str:
        """The next line that it writes; empty: it has ended."""
        assert self._process.stdout is not None
        return (await self._process.stdout.readline()).decode().rstrip("\n")

    def enter(self, times: int = 1) -> None:
        """Let it end this task, and the next ones without a wait."""
        assert self._process.stdin is not None
        self._process.stdin.write(ENTER * times)

    async def end(self) -> tuple[int, list[str], str]:
        """Wait until it has ended; returns its exit code, the lines that were left, and the last line of its errors."""
        out, errors = await self._process.communicate()
        return self._process.returncode or 0, out.decode().splitlines(), errors.decode().rstrip().rpartition("\n")[2]

    async def kill(self) -> int:
        """Kill it; returns the signal that ended it, 0 if none did."""
        with suppress(ProcessLookupError):  # it has ended by itself
            self._process.kill()
        return max(0, -(await self._process.wait()))


class Yard:
    """A folder with a queue, and the workers that run there; they end with it."""

    def __init__(self, folder: Path, running: AsyncExitStack) -> None:
        self._folder = folder
        self._running = running

    @property
    def queue(self) -> Any:
        """The queue, as the small worker opens it."""
        return run_path(str(self._folder / "worker.py"))["Queue"](self._folder / "queue.sqlite")

    async def worker(self, name: str, lease: str = LONG) -> Worker:
        """Start a worker."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "worker.py", name, lease),
            cwd=self._folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        worker = Worker(process)
        self._running.push_async_callback(worker.kill)
        return worker


@asynccontextmanager
async def yard(folder: Path) -> AsyncIterator[Yard]:
    """The workers of a folder; at the end those that still run are killed."""
    async with AsyncExitStack() as running:
        yield Yard(folder, running)
