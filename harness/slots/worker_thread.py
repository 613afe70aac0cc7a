"""One thread that alone touches something, for callers on any thread.

What it keeps lives in the frame of that thread and nowhere else. So a process that is forked off meanwhile can neither
use it nor close it: in the child the thread does not exist. With an open SQLite connection both destroy the file.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from harness.slots.store import SlotsError

Kept = TypeVar("Kept")
T = TypeVar("T")


class Desk(Generic[Kept]):
    """Does one piece of work after the other with what it keeps. The thread starts with the first one."""

    def __init__(self, keep: Callable[[], AbstractContextManager[Kept]], *, name: str, patience_s: float) -> None:
        """
        Args:
            keep: makes what is kept, on the thread, and puts it away in the end.
            name: of what is kept, for errors.
            patience_s: seconds a caller waits for a piece of work.
        """
        self._keep = keep
        self._name = name
        self._patience_s = patience_s
        self._process = os.getpid()
        self._work: SimpleQueue[Callable[[Kept], None] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._starting = Lock()
        self._hangs: Event | None = None
        """Set when the piece of work is over that somebody has given up."""

    def do(self, work: Callable[[Kept], T]) -> T:
        """Have `work` done and return what it returns, or raise what it raises.

        Raises SlotsError when it takes too long, which a process can cause that was stopped while it held a lock.
        Work that was given up may still be done; what had not begun is not. Until then every call fails at once.
        """
        if os.getpid() != self._process:
            raise SlotsError(f"{self._name} was opened before this process was forked off; it has to open its own.")
        if self._hangs is not None and not self._hangs.is_set():
            raise self._too_slow()
        self._hangs = None
        answer: Future[T] = Future()
        over = Event()
        self._work.put(lambda kept: _settle(answer, over, work, kept))
        with self._starting:
            if self._thread is None:
                self._thread = Thread(target=self._serve, name=f"desk of {self._name}", daemon=True)
                self._thread.start()
        try:
            return answer.result(self._patience_s)
        except TimeoutError:
            if answer.done():
                raise  # it is the work that raised it
            if not answer.cancel():
                self._hangs = over
            raise self._too_slow() from None

    def close(self) -> None:
        """Put away what is kept, and end the thread. Another call begins anew."""
        thread, self._thread = self._thread, None
        if thread is None or os.getpid() != self._process:
            return
        self._work.put(None)
        thread.join(0.0 if self._hangs is not None and not self._hangs.is_set() else self._patience_s)

    def _serve(self) -> None:
        with self._keep() as kept:
            while (work := self._work.get()) is not None:
                work(kept)

    def _too_slow(self) -> SlotsError:
        return SlotsError(f"{self._name} is held by another process that does not let go of it.")


def _settle(answer: "Future[T]", over: Event, work: Callable[[Kept], T], kept: Kept) -> None:
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(work(kept))
    except BaseException as error:  # noqa: BLE001 (whoever waits for the answer gets it)
        answer.set_exception(error)
    finally:
        over.set()
