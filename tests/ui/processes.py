"""Looking at processes from outside."""

import asyncio
from collections.abc import Callable

import psutil

LIMIT_S = 60.0


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def apps_of(program: tuple[str, ...], parent: int | None = None) -> list[int]:
    """The processes whose command line begins like this below `parent`, else below this process."""
    found = []
    for process in psutil.Process(parent).children(recursive=True):
        try:
            if list(program) == process.cmdline()[: len(program)]:
                found.append(process.pid)
        except psutil.Error:  # it has just ended
            continue
    return found


async def until(reached: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    """Wait for something that other processes do."""
    async with asyncio.timeout(limit_s):
        while not reached():  # noqa: ASYNC110 (no event to await)
            await asyncio.sleep(0.02)


async def gone(*pids: int, limit_s: float = LIMIT_S) -> None:
    """Wait until these processes have ended."""
    await until(lambda: not any(map(alive, pids)), limit_s)
