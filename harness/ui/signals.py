"""Signals while the loop runs: the first one ends the turn, a second one ends it at once."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

HEEDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_S = 8.0
"""Seconds a turn may take to end after SIGTERM or SIGHUP; its tools have three to obey (lessons: TERM, 3 s, KILL)."""


class Ended(BaseException):
    """A signal asks the program to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


class Signalled:
    """What arrived. `number` is 0 as long as nothing did."""

    def __init__(self, task: "asyncio.Task[object]") -> None:
        self._task = task
        self._interrupt: Callable[[], None] = self.cancel
        self.number = 0

    @property
    def exit_code(self) -> int:
        """What a process ends with that was stopped by this signal: 130 for SIGINT, 143 for SIGTERM."""
        return 128 + self.number

    def interrupts(self, interrupt: Callable[[], None]) -> None:
        """From now on the first signal calls `interrupt`; one that came before is passed on."""
        self._interrupt = interrupt
        if self.number:
            interrupt()

    def cancel(self) -> None:
        """End the task without waiting for its turn."""
        self._task.cancel()

    def receive(self, number: int) -> None:
        """A signal has come."""
        if self.number:
            self.cancel()
            return
        self.number = number
        self._interrupt()
        if number != signal.SIGINT:
            asyncio.get_running_loop().call_later(GRACE_S, self.cancel)


@contextmanager
def heeding() -> Iterator[Signalled]:
    """Heed signals for the current task as long as the block lasts. One that comes too late for that is sent again
    to whoever heeded signals before."""
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("signals are heeded from within a task")
    signalled = Signalled(task)
    loop = asyncio.get_running_loop()
    unheeded: list[int] = []

    def arrive(number: int, frame: FrameType | None) -> None:
        unheeded.append(number)
        loop.call_soon_threadsafe(heed)

    def heed() -> None:
        while unheeded:
            signalled.receive(unheeded.pop(0))

    before = {number: signal.getsignal(number) for number in HEEDED}
    for number in HEEDED:
        loop.add_signal_handler(number, heed)  # wakes the loop
        signal.signal(number, arrive)  # the loop alone forgets what comes after it has run for the last time
    try:
        yield signalled
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
        late, unheeded[:] = unheeded[:], []
        for one in late:
            if callable(before[signal.Signals(one)]):
                signal.raise_signal(one)
