"""The files that `@` completes, read in a thread and known for some seconds."""

import asyncio
import time
from collections.abc import Callable, Sequence

from harness.base.threads import in_thread

KNOWN_FOR_S = 5.0
"""Seconds after which the files are read again, at the next time somebody asks."""


class WorkspaceFiles:
    """Call it for what is known now; that never waits.

    What is unknown or too old is read in a thread meanwhile, and `on_news` is called in the event loop when it came
    out differently.
    """

    def __init__(
        self,
        read: Callable[[], Sequence[str]],
        on_news: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`read` gives the paths of all files from the workspace's folder, with forward slashes."""
        self._read = read
        self._on_news = on_news
        self._clock = clock
        self._known: Sequence[str] = ()
        self._read_at: float | None = None
        self._reading: asyncio.Task[None] | None = None

    def __call__(self) -> Sequence[str]:
        """The files and their folders as they were last seen; folders end with a slash."""
        old = self._read_at is None or self._clock() - self._read_at >= KNOWN_FOR_S
        if old and self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._refresh())
        return self._known

    async def _refresh(self) -> None:
        try:
            known = await in_thread(lambda: with_folders(self._read()))  # a tree without an end is given up at the end
        finally:
            self._read_at, self._reading = self._clock(), None
        if known != self._known:
            self._known = known
            self._on_news()


def with_folders(files: Sequence[str]) -> tuple[str, ...]:
    """The files and every folder on the way to one, sorted. A name that a prompt cannot quote is left out."""
    usable = [file for file in files if '"' not in file and "\n" not in file]
    folders = {file[: index + 1] for file in usable for index, character in enumerate(file) if character == "/"}
    return tuple(sorted(folders.union(usable)))
