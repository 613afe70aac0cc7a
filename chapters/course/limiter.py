"""Interrupts code of the learner that blocks the event loop, so that neither a screen nor a run hangs."""

import asyncio
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Self

LIMIT_S = 2.0
"""Seconds that the learner's code may keep the event loop busy."""
CALLBACK_LIMIT_S = 30.0
"""The same while it waits for a function of the chapter, such as one that runs a command."""
BEAT_S = 0.25


class Blocked(BaseException):
    """Raised within code that blocks; no Exception, so that `except Exception` does not stop it."""

    def __init__(self, line: int, seconds: float) -> None:
        super().__init__(f"no end after {seconds:g} s")
        self.line = line


class Limiter:
    """A context manager within a running event loop; limits only code with a frame of one file on the stack.

    A signal timer looks at the main thread; a callback of the loop says that it is not blocked. In other threads, and
    on systems without such timers, there is no limit.
    """

    def __init__(self, file: str, adapter: str, limit_s: float = LIMIT_S) -> None:
        """
        Args:
            file: file name of the limited code, as tracebacks have it.
            adapter: file name of the code of the chapter that it may call.
            limit_s: seconds without a return to the event loop.
        """
        self._file = file
        self._adapter = adapter
        self._limit_s = limit_s
        self._alive_at = time.monotonic()
        self._beating: asyncio.TimerHandle | None = None
        self._restore: Callable[[], object] = lambda: None

    def __enter__(self) -> Self:
        self._beat()
        try:
            before = signal.signal(signal.SIGALRM, self._look)
        except (AttributeError, ValueError):  # no such signal, or not the main thread
            return self
        self._restore = lambda: (signal.setitimer(signal.ITIMER_REAL, 0), signal.signal(signal.SIGALRM, before))
        signal.setitimer(signal.ITIMER_REAL, BEAT_S, BEAT_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()
        if self._beating is not None:
            self._beating.cancel()

    def _beat(self) -> None:
        self._alive_at = time.monotonic()
        self._beating = asyncio.get_running_loop().call_later(BEAT_S, self._beat)

    def _look(self, signum: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        blocked_s = now - self._alive_at
        if blocked_s < self._limit_s:
            return
        while frame is not None and frame.f_code.co_filename != self._file:
            if frame.f_code.co_filename == self._adapter and blocked_s < CALLBACK_LIMIT_S:
                return  # called by the learner's code, or not in it at all
            frame = frame.f_back
        if frame is not None:
            self._alive_at = now  # for what it does when it is interrupted
            raise Blocked(frame.f_lineno, self._limit_s)
