"""A command that was started, from its start to its one end."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.processes.leader import Leader
from harness.processes.tree import POLL_S, ProcessTree, end, look_at
from harness.processes.values import End, Finished, LeftOver, Limits


class Command:
    """Settles exactly once, whether it exits, is ended, or both at the same time (resilience D5)."""

    def __init__(
        self, leader: Leader, tree: ProcessTree, mark: str, settled: Callable[["Command", End, float], None]
    ) -> None:
        """`settled` is called at the one end with what it took and how many seconds ending took."""
        self.pid = leader.pid
        self.began = time.time()
        """Unix time."""
        self.tree = tree
        self.mark = mark
        self.exited = leader.exit()
        """Gets the exit code of the leader; others of the command may live on."""
        self.finished: asyncio.Future[Finished] = asyncio.get_running_loop().create_future()
        self.ending: asyncio.Task[None] | None = None
        """Ends it; None until somebody asks for that."""
        self._settled = settled
        self.exited.add_done_callback(lambda _: tree.leader_exited() if self.ending is None else None)

    async def look_for_left_over(self) -> tuple[LeftOver, ...]:
        """Who of the command lives now, after its leader exited."""
        if self.tree.group_lives():
            await asyncio.sleep(POLL_S)  # who has just closed its output is usually about to exit
        look_at((self.tree,))
        return self.tree.left_over()

    def settle(self, finished: Finished, how: End, seconds: float = 0.0) -> None:
        """It has ended; what comes later changes nothing."""
        if not self.finished.done():
            self.finished.set_result(finished)
            self._settled(self, how, seconds)

    async def result(self) -> Finished:
        """Wait for the end."""
        return await asyncio.shield(self.finished)


def end_commands(commands: Sequence[Command], limits: Limits, *others: ProcessTree) -> asyncio.Task[None]:
    """Begin to end commands, and `others`, all at the same time. The commands must have no `ending` yet."""
    task = asyncio.create_task(_end(commands, limits, others))
    for command in commands:
        command.ending = task
    return task


async def _end(commands: Sequence[Command], limits: Limits, others: Sequence[ProcessTree]) -> None:
    began = time.monotonic()
    ends = await end([*(command.tree for command in commands), *others], limits)
    seconds = time.monotonic() - began
    for command, how in zip(commands, ends, strict=False):
        left = command.tree.left_over()
        code = command.exited.result() if left and command.exited.done() else None if left else await command.exited
        finished = Finished(code, left=left)
        if command.finished.done():
            finished = replace(command.finished.result(), left=left)
        command.settle(finished, how, seconds)
