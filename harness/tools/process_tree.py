"""The processes of one command, wherever they have moved to.

Three marks find them: the group and session id, descent from the leader, and a variable in their environment that every
child inherits. Ending means TERM to all, a grace, KILL to all, and it is judged by every process having exited, not by
a signal having been sent.
"""

import asyncio
import os
import signal
import time

import psutil

from harness.tools.process import MARK, POLL_S, LeftOver, Limits


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

    def left_over(self) -> tuple[LeftOver, ...]:
        """The living members now, by id and name."""
        return tuple(map(_left_over, self.members()))

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
        return self.left_over()

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
