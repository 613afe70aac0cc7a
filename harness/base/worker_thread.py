"""A thread that alone uses an object, for callers on any thread.

The object lives only in the frame of that thread, so that a forked process can neither use nor close it: the thread
does not exist in the child. An open SQLite connection that is used or closed in a forked process damages its file.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from harness.base.errors import HarnessError

Kept = TypeVar("Kept")
T = TypeVar("T")


class WorkerThread(Generic[Kept]):
    """Runs calls one after another with its object. The thread starts with the first call."""

    def __init__(
        self,
        keep: Callable[[], AbstractContextManager[Kept]],
        *,
        name: str,
        patience_s: float,
        error: type[HarnessError],
    ) -> None:
        """Args:
        keep: creates the object on the thread, as a context manager.
        name: of the object, for errors.
        patience_s: time limit of a call, in seconds.
        error: raised by `do` when the thread cannot be used.
        """
        self._keep = keep
        self._name = name
        self._patience_s = patience_s
        self._error = error
        self._process = os.getpid()
        self._work: SimpleQueue[Callable[[Kept], None] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._starting = Lock()
        self._hangs: Event | None = None
        """Set when an abandoned call has ended."""

    def do(self, work: Callable[[Kept], T]) -> T:
        """Run `work` and return its result, or raise its exception.

        Raises the error of the thread on timeout, which a process can cause that was stopped while holding a lock. An
        abandoned call may still complete; until then every call fails at once.
        """
        if os.getpid() != self._process:
            raise self._error(f"{self._name} was opened before this process was forked off; it has to open its own.")
        if self._hangs is not None and not self._hangs.is_set():
            raise self._too_slow()
        self._hangs = None
        answer: Future[T] = Future()
        over = Event()
        self._work.put(lambda kept: _settle(answer, over, work, kept))
        with self._starting:
            if self._thread is None:
                self._thread = Thread(target=self._serve, name=f"worker of {self._name}", daemon=True)
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
        """Close the object and end the thread. The next call starts again."""
        thread, self._thread = self._thread, None
        if thread is None or os.getpid() != self._process:
            return
        self._work.put(None)
        thread.join(0.0 if self._hangs is not None and not self._hangs.is_set() else self._patience_s)

    def _serve(self) -> None:
        with self._keep() as kept:
            while (work := self._work.get()) is not None:
                work(kept)

    def _too_slow(self) -> HarnessError:
        return self._error(f"{self._name} is held by another process that does not let go of it.")


def _settle(answer: "Future[T]", over: Event, work: Callable[[Kept], T], kept: Kept) -> None:
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(work(kept))
    except BaseException as error:  # noqa: BLE001 (whoever waits for the answer gets it)
        answer.set_exception(error)
    finally:
        over.set()
