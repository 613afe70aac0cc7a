"""Tasks and threads: the first of several awaitables, work that a cancellation does not interrupt, and blocking work.

`in_thread` runs blocking work in a thread that can be abandoned. A `WorkerThread` alone uses an object, for callers on
any thread. The object lives only in the frame of that thread, so that a forked process can neither use nor close it:
the thread does not exist in the child. An open SQLite connection that is used or closed in a forked process damages
its file.
"""

import asyncio
import contextvars
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Generic, TypeVar, cast

from harness.base.errors import HarnessError

T = TypeVar("T")


async def race(*contenders: Awaitable[Any]) -> tuple["asyncio.Future[Any] | None", ...]:
    """Wait for the first contender and cancel the others, also when the race itself is cancelled.

    Returns a future in the place of each contender that is done, and None for the others.
    """
    futures = [asyncio.ensure_future(contender) for contender in contenders]
    try:
        done, _ = await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        return tuple(future if future in done else None for future in futures)
    finally:
        for future in futures:
            future.cancel()


async def unless(stop: asyncio.Event, work: Awaitable[T]) -> T | None:
    """The result of `work`, or None when `stop` is set first; `work` is cancelled then."""
    done, _ = await race(work, stop.wait())
    return None if done is None else done.result()


async def shielded(work: Awaitable[T], on_cancel: Callable[[], None] | None = None) -> T:
    """Await `work` to its end, and only then pass on a cancellation that came meanwhile.

    A thread cannot be stopped from outside and a half-ended process group must not be left: both are
    waited for, so that nothing of a call runs on after it was reported as cancelled. `on_cancel` is called when the
    cancellation comes.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
            if on_cancel is not None:
                on_cancel()
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # looked at, so that asyncio does not report it as lost
    raise cancelled


given_up: contextvars.ContextVar[Callable[["asyncio.Future[None]"], None] | None] = contextvars.ContextVar(
    "given_up", default=None
)
"""Receives a future for each thread that keeps running after its caller was cancelled; it is done when the thread
is."""


async def in_thread(work: Callable[[], T], *, on_cancel: Callable[[], None] | None = None, grace_s: float = 0.0) -> T:
    """The result of `work`, which runs in a daemon thread with the context variables of the caller.

    Args:
        on_cancel: called on cancellation, to stop long work.
        grace_s: seconds that a cancellation waits for the thread; after that the thread is abandoned.

    Raises RuntimeError where `work` tries to end the program, as `sys.exit` does.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()
    ended: asyncio.Future[None] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: T | None, error: BaseException | None) -> None:
        ended.set_result(None)
        if result.cancelled():
            return
        if error is None:
            result.set_result(cast("T", value))  # there is one where there is no error
        else:
            result.set_exception(error)

    def run() -> None:
        value, error = None, None
        try:
            value = context.run(work)
        except Exception as raised:  # noqa: BLE001 (passed on to the caller)
            error = _passable(raised)
        except BaseException as raised:  # noqa: BLE001 (a thread of a tool must not end the program)
            error = RuntimeError(f"{type(raised).__name__}: {raised}")
            error.__cause__ = raised
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:  # the loop is closed: the program has given this up and ends
            return

    threading.Thread(target=run, name=f"work of {threading.current_thread().name}", daemon=True).start()
    try:
        return await result
    except asyncio.CancelledError:
        if on_cancel is not None:
            on_cancel()
        try:
            if grace_s and not ended.done():
                await asyncio.wait({ended}, timeout=grace_s)
        finally:
            if not ended.done() and (report := given_up.get()) is not None:
                report(ended)
        raise


def _passable(error: Exception) -> Exception:
    """The error as a future can hold it: not StopIteration, which has a meaning of its own there."""
    if isinstance(error, StopIteration):
        passable = RuntimeError(f"StopIteration: {error}")
        passable.__cause__ = error
        return passable
    return error


Kept = TypeVar("Kept")


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
