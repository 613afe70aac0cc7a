"""The processes of a command, wherever they have moved to, and how they are ended.

Three signs find them: the session of the leader, descent from a process that is known already, and a variable in
their environment that every child inherits. Ending means TERM to all, a grace, KILL to all, and it is judged by every
process having exited, not by a signal having been sent.

What escapes: a process that clears its environment, starts a session of its own and loses its parent, all between two
looks. Only a control group of the kernel would hold it, and those need rights that a program does not have.
"""

import asyncio
import os
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil

from harness.processes.outcome import MARK, ProcessEnd, ProcessLimits, SurvivingProcess

POLL_S = 0.02
"""Processes that are not our children have no event for their exit; they are looked at this often."""


@dataclass(frozen=True, slots=True)
class ProcessSnapshot:
    """A process of the machine at one look."""

    process: psutil.Process
    parent: int
    session: int
    marks: tuple[str, ...]
    """The commands that it belongs to, by its environment; empty where that cannot be read."""


class ProcessTree:
    """All processes of one command, or of everything that bears the beginning of a mark."""

    def __init__(
        self,
        mark: str,
        session: int | None = None,
        members: Iterable[psutil.Process] = (),
        *,
        spared: Collection[str] = (),
    ) -> None:
        """
        Args:
            mark: the mark of the command, or, with a dot at its end, what the marks of many begin with.
            session: the number of its session, which is that of its leader.
            members: those that are known already, usually the leader.
            spared: marks that begin like it and do not belong to it.
        """
        self._mark = mark
        self._spared = spared
        self.session = session
        self.is_empty = False
        """It is known that no member lives."""
        self._members = set(members)

    def group_lives(self) -> bool:
        """Whether the leader's group still has a member. To be asked before its number can have been used again."""
        if self.session is None or self.is_empty:
            return False
        try:
            os.killpg(self.session, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # alive, but another user's
        return True

    def leader_exited(self) -> None:
        """Take in the rest of the session while its number cannot have been reused yet."""
        if self.group_lives():
            self.take_in(tuple(table()), session_is_ours=True)

    def take_in(
        self, everybody: Sequence[ProcessSnapshot], *, session_is_ours: bool | None = None
    ) -> set[psutil.Process]:
        """Find the members in a look at the machine; those found earlier count while they live. Returns all of them."""
        ours = self._session_is_ours() if session_is_ours is None else session_is_ours
        self._members |= {seen.process for seen in everybody if self._owns(seen, ours)}
        children = defaultdict(list)
        for seen in everybody:
            children[seen.parent].append(seen.process)
        unvisited = list(self._members)
        while unvisited:
            parent = unvisited.pop()
            born = {child for child in children[parent.pid] if _may_be_parent(parent, child)} - self._members
            self._members |= born
            unvisited += born
        self._members = {process for process in self._members if lives(process)}
        return self._members

    @property
    def members(self) -> tuple[psutil.Process, ...]:
        """Those that were alive at the last look."""
        return tuple(self._members)

    def left_over(self) -> tuple[SurvivingProcess, ...]:
        """The members that were alive at the last look, by id and name."""
        return tuple(map(_left_over, self._members))

    def signal(self, number: signal.Signals, processes: Iterable[psutil.Process]) -> None:
        """Signal members: the group of the leader in one call, so that no member can fork in between."""
        rest = list(processes)
        if self.session is not None and self._session_is_ours():
            group = [process for process in rest if _group(process) == self.session]
            if group and _signal_group(self.session, number):
                rest = [process for process in rest if process not in group]
        for process in rest:
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):  # gone; or of another user: a left-over
                process.send_signal(number)

    def _owns(self, seen: ProcessSnapshot, session_is_ours: bool) -> bool:
        if session_is_ours and seen.session == self.session:
            return True
        return any(self._bears(mark) for mark in seen.marks)

    def _bears(self, mark: str) -> bool:
        if self._mark.endswith("."):
            return mark.startswith(self._mark) and mark not in self._spared
        return mark == self._mark

    def _session_is_ours(self) -> bool:
        """A number is not given to another session while anybody of the old one lives."""
        return any(_session(process.pid) == self.session and process.is_running() for process in self._members)


async def end(
    trees: Sequence[ProcessTree], limits: ProcessLimits, in_a_hurry: Callable[[], bool] = lambda: False
) -> tuple[ProcessEnd, ...]:
    """TERM to all of them at the same time, grace, KILL; done when every member has exited. Returns what it took.

    `in_a_hurry` is polled during the grace and ends it. Cancelled in the grace (the event loop is being closed), it
    kills at once as well, and returns as usual: no other code could finish the work.
    """
    try:
        stubborn = await _signal_until_gone(trees, signal.SIGTERM, limits.term_grace_s, in_a_hurry)
    except asyncio.CancelledError:
        stubborn = tuple(trees)
    survivors = await _signal_until_gone(stubborn, signal.SIGKILL, limits.kill_grace_s) if stubborn else ()
    return tuple(
        ProcessEnd.SURVIVED if tree in survivors else ProcessEnd.KILLED if tree in stubborn else ProcessEnd.TERMINATED
        for tree in trees
    )


def look_at(trees: Sequence[ProcessTree]) -> dict[ProcessTree, set[psutil.Process]]:
    """Look at the machine once, and find the living members of every tree."""
    everybody = tuple(table())
    return {tree: set(tree.take_in(everybody)) for tree in trees}


def table() -> Iterator[ProcessSnapshot]:
    """Every process of the machine but this one."""
    for process in psutil.process_iter():
        if process.pid != os.getpid():
            with suppress(psutil.Error):  # gone since
                yield ProcessSnapshot(process, process.ppid(), _session(process.pid), _marks(process))


def lives(process: psutil.Process) -> bool:
    """Whether it is still running and not a zombie."""
    try:
        return process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


async def _signal_until_gone(
    trees: Sequence[ProcessTree],
    number: signal.Signals,
    grace_s: float,
    in_a_hurry: Callable[[], bool] = lambda: False,
) -> tuple[ProcessTree, ...]:
    """Signal the members, and those they start meanwhile, until none is left or the time is up. Returns the trees of
    which something lives."""
    deadline = time.monotonic() + grace_s

    def is_over() -> bool:
        return time.monotonic() >= deadline or in_a_hurry()

    signalled: set[psutil.Process] = set()
    while any((members := look_at(trees)).values()):
        if signalled and is_over():
            return tuple(tree for tree, processes in members.items() if processes)
        for tree, processes in members.items():
            tree.signal(number, processes - signalled)
            signalled |= processes
        await _until_gone(set().union(*members.values()), is_over)
    return ()


async def _until_gone(processes: Collection[psutil.Process], is_over: Callable[[], bool]) -> None:
    while any(map(lives, processes)):
        if is_over():
            return
        await asyncio.sleep(POLL_S)


def _signal_group(group: int, number: signal.Signals) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False  # gone; or of several users, and some systems signal nobody then
    return True


def _marks(process: psutil.Process) -> tuple[str, ...]:
    try:
        return tuple(process.environ().get(MARK, "").split())
    except (psutil.Error, OSError):
        return ()  # gone, or another user's


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1  # gone, or another user's


def _group(process: psutil.Process) -> int:
    try:
        return os.getpgid(process.pid)
    except OSError:
        return -1


def _may_be_parent(parent: psutil.Process, child: psutil.Process) -> bool:
    """False if the pid of an exited parent was reused by a process younger than the child."""
    try:
        return parent.create_time() <= child.create_time()
    except psutil.Error:
        return False


def _left_over(process: psutil.Process) -> SurvivingProcess:
    try:
        return SurvivingProcess(process.pid, process.name())
    except psutil.Error:
        return SurvivingProcess(process.pid, "?")
