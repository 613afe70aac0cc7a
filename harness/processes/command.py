"""A command that was started, from its start to its one end."""

import asyncio
import time
from collections.abc import Callable, Sequence

from harness.processes.leader import Leader
from harness.processes.outcome import End, Finished, LeftOver, Limits
from harness.processes.tree import POLL_S, ProcessTree, end, look_at


class Command:
    """Settles exactly once, whether it exits, is ended, or both at the same time."""

    def __init__(
        self,
        leader: Leader,
        tree: ProcessTree,
        mark: str,
        ended: Callable[["Command", End | None, float], None],
        in_a_hurry: Callable[[], bool],
    ) -> None:
        """
        Args:
            leader: its first process.
            tree: all its processes.
            mark: what they bear in their environment.
            ended: called at the one end with what it took and how many seconds ending took; and once more, with None,
                when what it had left in the background was ended.
            in_a_hurry: whether to kill at once instead of waiting for the grace to pass.
        """
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
        self.left: tuple[LeftOver, ...] = ()
        """Who of it lives, after its end."""
        self.in_a_hurry = in_a_hurry
        self._ended = ended
        self.exited.add_done_callback(lambda _: tree.leader_exited() if self.ending is None else None)

    async def look_for_left_over(self) -> tuple[LeftOver, ...]:
        """Who of the command lives now, after its leader exited."""
        if self.tree.group_lives():
            await asyncio.sleep(POLL_S)  # who has just closed its output is usually about to exit
        look_at((self.tree,))
        return self.tree.left_over()

    def settle(self, finished: Finished, how: End, seconds: float = 0.0) -> None:
        """It has ended; what is left of it may be ended later, and changes nothing but `left`."""
        self.left = finished.left
        first = not self.finished.done()
        if first:
            self.finished.set_result(finished)
        self._ended(self, how if first else None, seconds)

    async def result(self) -> Finished:
        """Wait for the end."""
        return await asyncio.shield(self.finished)


def end_command(command: Command, limits: Limits) -> asyncio.Task[None]:
    """Begin to end a command; if that has begun already, there is nothing to do but to wait for it."""
    return command.ending or end_commands((command,), limits, command.in_a_hurry)


def end_commands(
    commands: Sequence[Command], limits: Limits, in_a_hurry: Callable[[], bool], *others: ProcessTree
) -> asyncio.Task[None]:
    """Begin to end commands, and `others`, all at the same time. The commands must have no `ending` yet."""
    task = asyncio.create_task(_end(commands, limits, in_a_hurry, others))
    for command in commands:
        command.ending = task
    return task


async def _end(
    commands: Sequence[Command], limits: Limits, in_a_hurry: Callable[[], bool], others: Sequence[ProcessTree]
) -> None:
    began = time.monotonic()
    ends = await end([*(command.tree for command in commands), *others], limits, in_a_hurry)
    seconds = time.monotonic() - began
    for command, how in zip(commands, ends, strict=False):
        left = command.tree.left_over()
        code = command.exited.result() if left and command.exited.done() else None if left else await command.exited
        command.settle(Finished(code, left=left, forced=how in (End.KILLED, End.SURVIVED)), how, seconds)
