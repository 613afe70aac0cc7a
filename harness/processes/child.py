"""A command that runs while nobody waits for it, with its output in a file."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness.base.shielded import uninterrupted
from harness.processes.command import Command, end_command
from harness.processes.outcome import End, Finished, Limits


class Child:
    """A command that `Processes.start` began."""

    def __init__(self, command: Command, output: Path, limits: Limits, let_go: Callable[[Command], None]) -> None:
        self._command = command
        self._limits = limits
        self._let_go = let_go
        self._is_handed_over = False
        self._looking: asyncio.Task[None] | None = None
        self.output = output
        """Where stdout and stderr go, in the order of writing."""
        command.exited.add_done_callback(self._exited)

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

    async def wait(self) -> Finished:
        """Wait for its end, as many as like to. Its exit counts, and not who holds its output open."""
        return await self._command.result()

    async def end(self, limits: Limits | None = None) -> Finished:
        """End it and all that it started: TERM, 3 s, KILL. A second call waits for what the first one began.

        After it exited by itself, this ends what it left in the background. Cancelled, it ends the child first and is
        cancelled then. Raises RuntimeError after `hand_over`.
        """
        if self._is_handed_over:
            raise RuntimeError(f"the process {self.pid} was handed over")
        await uninterrupted(end_command(self._command, limits or self._limits))
        return replace(await self.wait(), left=self._command.left)

    def hand_over(self) -> None:
        """Let it live on without us: neither our end nor our crash concerns it any more. `wait` still tells of its
        exit while we live. Does nothing once it has ended or is being ended."""
        if not (self.ended or self._command.ending or self._is_handed_over):
            self._is_handed_over = True
            self._let_go(self._command)

    def _exited(self, _: asyncio.Future[int]) -> None:
        if self._command.ending is None:
            self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        left = await self._command.look_for_left_over()
        if self._command.ending is None:
            self._command.settle(Finished(self._command.exited.result(), left=left), End.EXITED)
