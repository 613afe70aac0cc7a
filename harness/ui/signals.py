"""Signal handling: the first signal ends the turn, a second one cancels it."""

import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_S = 8.0
"""Seconds a turn may take to end after SIGTERM or SIGHUP."""
BLOCKED_S = 2.0
"""A second signal that finds the first one unhandled after so many seconds ends the code that blocks the loop."""


class SignalExit(BaseException):
    """Raised to end the program after a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


class SignalState:
    """The signal that arrived; `number` is 0 before. One that ends the program counts more than an earlier Ctrl-C."""

    def __init__(self, task: "asyncio.Task[object]") -> None:
        self._task = task
        self._interrupt = self._at_once = self.cancel
        self.number = 0

    @property
    def exit_code(self) -> int:
        """128 + number: 130 for SIGINT, 143 for SIGTERM."""
        return 128 + self.number

    def interrupts(self, interrupt: Callable[[], None], at_once: Callable[[], None] | None = None) -> None:
        """Call `interrupt` for the first signal, now if it has arrived already, and `at_once` for a second one.

        `at_once` None: the task is cancelled.
        """
        self._interrupt, self._at_once = interrupt, at_once or self.cancel
        if self.number:
            interrupt()

    def cancel(self) -> None:
        """Cancel the task."""
        self._task.cancel()

    def receive(self, number: int) -> None:
        """Handle a signal."""
        first = not self.number
        if first or self.number == signal.SIGINT:
            self.number = number
        (self._interrupt if first else self._at_once)()
        if number != signal.SIGINT:
            asyncio.get_running_loop().call_later(GRACE_S, self._at_once)


@contextmanager
def handle_signals() -> Iterator[SignalState]:
    """Handle signals for the current task within the block; late ones are raised again for the previous handler.

    Code that blocks the event loop, such as a plan script with an endless loop, gets a KeyboardInterrupt instead.
    """
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("signals are handled within a task")
    signalled = SignalState(task)
    loop = asyncio.get_running_loop()
    pending: list[int] = []
    waits_since = 0.0

    def arrive(number: int, frame: FrameType | None) -> None:
        nonlocal waits_since
        if not pending:
            waits_since = time.monotonic()
        elif time.monotonic() - waits_since > BLOCKED_S:
            raise KeyboardInterrupt
        pending.append(number)
        loop.call_soon_threadsafe(deliver)

    def deliver() -> None:
        while pending:
            signalled.receive(pending.pop(0))

    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        loop.add_signal_handler(number, deliver)  # wakes the loop
        signal.signal(number, arrive)  # the loop would lose signals after its last iteration
    try:
        yield signalled
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
        late, pending[:] = pending[:], []
        for one in late:
            if callable(before[signal.Signals(one)]):
                signal.raise_signal(one)
