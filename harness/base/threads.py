"""Blocking work in threads that can be abandoned, and work that a cancellation does not interrupt."""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

T = TypeVar("T")


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
